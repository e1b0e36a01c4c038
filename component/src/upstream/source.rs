//! The kinds of source: what each is called, how it is read, and what its rows are. A new source is
//! one module with a [`Kind`], and a line in [`KINDS`]; if its rows look like no other's, also what
//! `row` takes from them.

use alloc::string::String;
use alloc::vec::Vec;

use super::row::Facts;
use super::shape::Shape;
use super::{claude, codex};
use crate::contract::Reader;

/// A kind of source.
pub struct Kind {
    /// Its word in the contract and on the wire, such as `claude-jsonl`.
    pub word: &'static str,
    /// Who reads it.
    pub reader: Reader,
    /// Where a file may be that was adopted from this place, which comes first. Places that
    /// lead to one another are one source.
    pub places: fn(&str) -> Vec<String>,
    /// The shapes of its rows: the first that matches counts, and the last matches every row.
    pub shapes: &'static [Shape],
    /// Whether this row, the first of a file, says that no person types into the session at all.
    pub headless: fn(&Facts) -> bool,
}

/// Every kind of source.
pub const KINDS: [&Kind; 3] = [&claude::FILE, &claude::NODE, &codex::FILE];

impl Kind {
    /// The kind of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<&'static Self> {
        KINDS.into_iter().find(|kind| kind.word == word)
    }
}
