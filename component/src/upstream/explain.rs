//! What each row of a transcript is taken for, line by line. For operators who look into a notice that
//! was false or missing.
//!
//! This knows the file alone. That a text was the gateway's own, or that a row was passed before
//! the session was adopted, is known only where the link is: such rows show here as what they would
//! be without.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::lines::{Line, Lines};
use super::queued::Queued;
use super::row::Facts;
use super::shape::{NOT_A_ROW, Shape};
use super::source::{KINDS, Kind};
use super::{row, shape};
use crate::contract::{Error, ExplainedRow, Explanation, InvalidReason};
use crate::json::{self, Value};
use crate::refusal::refuse;

const REPEAT: Shape = Shape::other("repeat", "a queued prompt that a row before it shows", &[]);
const HEADLESS: Shape = Shape::other("headless", "the first row says that nobody types here", &[]);

/// What is known at the start of a part.
#[derive(Default)]
struct State {
    queued: Queued,
    /// What the file's first row said; none before it.
    headless: Option<bool>,
}

/// Explains the next part of a transcript of this kind of source. `state` is what the part before it
/// returned, or empty at the file's start; `last`: what stands behind the last line feed is a line
/// too.
///
/// # Errors
/// A kind or a state that does not exist.
pub fn explain(kind: &str, state: &str, part: &[u8], last: bool) -> Result<Explanation, Error> {
    let kind = Kind::of(kind).ok_or_else(unknown_kind)?;
    let mut known = State::read(state).ok_or_else(|| {
        refuse(InvalidReason::UnknownValue, "state", "give what the part before this one returned")
    })?;
    let mut lines = Lines::new(part, state.is_empty());
    let mut rows = Vec::new();
    let mut consumed = 0;
    while let Some(line) = lines.next().or_else(|| if last { lines.rest() } else { None }) {
        consumed = line.end;
        if !line.is_blank() {
            rows.push(known.row(kind, &line));
        }
    }
    // Where nothing was read, the file's start is still to come.
    let state = if consumed == 0 { state.to_string() } else { known.write() };
    Ok(Explanation { rows, consumed: consumed as u64, state })
}

fn unknown_kind() -> Error {
    let mut what = String::from("no such kind of source; there are");
    for kind in KINDS {
        what.push(' ');
        what.push_str(kind.word);
    }
    refuse(InvalidReason::UnknownValue, "kind", &what).into()
}

impl State {
    /// What a line is taken for.
    fn row(&mut self, kind: &Kind, line: &Line) -> ExplainedRow {
        let facts = row::read(line.text);
        let shape = match &facts {
            Some(facts) => self.shape(kind, facts),
            None => &NOT_A_ROW,
        };
        ExplainedRow {
            start: line.start as u64,
            bytes: u32::try_from(line.end - line.start).unwrap_or(u32::MAX),
            human: shape.human,
            shape: shape.name.to_string(),
            reason: shape.reason.to_string(),
            at: facts.and_then(|facts| facts.at),
        }
    }

    #[inline(never)]
    fn shape(&mut self, kind: &Kind, facts: &Facts) -> &'static Shape {
        let shape = shape::of(kind.shapes, facts);
        if *self.headless.get_or_insert_with(|| (kind.headless)(facts)) {
            &HEADLESS
        } else if shape.human && self.queued.absorb(facts) {
            &REPEAT
        } else {
            shape
        }
    }

    fn write(&self) -> String {
        json::object(|out| {
            self.queued.write(out.name("queued"));
            if let Some(headless) = self.headless {
                out.name("headless").flag(headless);
            }
        })
    }

    fn read(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::default());
        }
        let Ok(Value::Object(members)) = json::read(text) else { return None };
        let headless = match members.get("headless") {
            None => None,
            Some(Value::Bool(headless)) => Some(*headless),
            Some(_) => return None,
        };
        Some(Self { queued: Queued::read(members.get("queued")?)?, headless })
    }
}

#[cfg(test)]
mod tests;
