//! A line of a transcript, reduced to the facts that tell what it is. It is read in one pass, in
//! constant memory but for one bit a bracket, whatever its size: a line may have 64 MiB.
//!
//! A member that is not of the type that it should have counts as nothing, and of two with one name
//! the last counts. A flag is set only by `true`.

mod members;
mod said;
mod scan;
#[cfg(test)]
mod tests;

use members::{Meaning, Member, Place, ROW};
use said::{Opening, Said};
use scan::{Scanner, Word};

use super::digest::Digest;
use super::instant;

pub use members::{Field, Flag};

/// What is known of a row. Nothing of its text is held but its first bytes, while it is judged.
pub struct Facts {
    /// When it was written, in milliseconds since 1970, if it says so with a full date and time.
    pub at: Option<u64>,
    /// Of its `uuid`, if it has one.
    pub uuid: Option<Digest>,
    /// Its text blocks, joined by line feeds.
    pub text: Digest,
    /// What a person typed: the same without the reminders (`<system-reminder>…</system-reminder>`)
    /// before it, and a command as `/name arguments`.
    pub bare: Digest,
    /// What it may repeat, or be repeated by.
    pub role: Part,
    words: [Given; Field::COUNT],
    flags: u32,
    /// How the text without reminders begins, trimmed.
    opening: Opening,
}

/// The part that a row has in a prompt's way through the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It says that a prompt was put into the queue.
    Enqueue,
    /// It says that a prompt came out of the queue, into a turn that ran.
    Command,
    /// Any other row.
    Turn,
}

/// A member that should be a word.
#[derive(Clone, Copy)]
struct Given {
    what: What,
    word: Word,
}

/// What was given in place of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// Nothing, or `null`.
    Nothing,
    Word,
    Other,
}

/// Reads a line; none if it is not one JSON object.
#[must_use]
pub fn read(line: &[u8]) -> Option<Facts> {
    let mut scanner = Scanner::new(line);
    let mut row = Row {
        words: [Given { what: What::Nothing, word: Word::EMPTY }; Field::COUNT],
        flags: 0,
        at: None,
        uuid: None,
        said: [None; Place::COUNT],
    };
    if !scanner.opens(b'{') {
        return None;
    }
    row.object(&mut scanner, ROW)?;
    scanner.next().is_none().then(|| row.facts())
}

impl Facts {
    /// Whether a member is this word.
    #[must_use]
    pub fn is(&self, field: Field, word: &str) -> bool {
        self.word(field).is_some_and(|given| given.is(word))
    }

    /// Whether a member is a word that begins so.
    #[must_use]
    pub fn begins(&self, field: Field, start: &str) -> bool {
        self.word(field).is_some_and(|given| given.bytes().starts_with(start.as_bytes()))
    }

    /// Whether a member is a word at all.
    #[must_use]
    pub fn is_word(&self, field: Field) -> bool {
        self.word(field).is_some()
    }

    /// Whether a member is there and not `null`.
    #[must_use]
    pub fn is_there(&self, field: Field) -> bool {
        self.words.get(field as usize).is_some_and(|given| given.what != What::Nothing)
    }

    fn word(&self, field: Field) -> Option<&Word> {
        let given = self.words.get(field as usize)?;
        (given.what == What::Word).then_some(&given.word)
    }

    /// Whether this holds.
    #[must_use]
    pub fn has(&self, flag: Flag) -> bool {
        self.flags & flag.bit() != 0
    }

    /// Whether what a person typed begins so.
    #[must_use]
    pub fn opens_with(&self, start: &str) -> bool {
        self.opening.bytes().starts_with(start.as_bytes())
    }

    /// Whether it is this command, as `/name`, or as Claude Code marks one that was run.
    #[must_use]
    pub fn is_command(&self, name: &str) -> bool {
        let opening = self.opening.bytes();
        let given = after(opening, b"<command-name>")
            .or_else(|| after(opening, b"<command-message>"))
            .unwrap_or(opening);
        let given = given.trim_ascii_start();
        let given = given.strip_prefix(b"/").unwrap_or(given);
        let end = given.iter().position(|byte| *byte == b'<' || byte.is_ascii_whitespace());
        given.get(..end.unwrap_or(given.len())) == Some(name.as_bytes())
    }
}

/// What stands behind a mark.
#[inline(never)]
fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let mut rest = text;
    while !rest.starts_with(mark) {
        rest = rest.get(1..)?;
    }
    rest.get(mark.len()..)
}

/// A row that is being read.
struct Row<'a> {
    words: [Given; Field::COUNT],
    flags: u32,
    at: Option<u64>,
    uuid: Option<Digest>,
    /// Where it says something: which of these counts is known only once the whole row is.
    said: [Option<Scanner<'a>>; Place::COUNT],
}

impl<'a> Row<'a> {
    /// The members of an object, its brace being passed.
    fn object(&mut self, scanner: &mut Scanner<'a>, known: &'static [Member]) -> Option<()> {
        let (mut is_first, mut name) = (true, Word::EMPTY);
        while scanner.member(&mut is_first, &mut name)? {
            let known = known.iter().find(|member| name.is(member.0));
            if let Some(Member(_, meaning)) = known {
                self.forget(meaning);
                if let Meaning::Object(known) = meaning
                    && scanner.opens(b'{')
                {
                    self.object(scanner, known)?;
                    continue;
                }
                self.look(*scanner, meaning)?;
            }
            scanner.skip()?;
        }
        Some(())
    }

    /// Takes from a value that comes next what it means.
    fn look(&mut self, mut ahead: Scanner<'a>, meaning: &'static Meaning) -> Option<()> {
        let next = ahead.next()?;
        match *meaning {
            Meaning::Word(field) | Meaning::Named(field) => {
                let given = self.words.get_mut(field as usize)?;
                given.what = if next == b'n' { What::Nothing } else { What::Other };
                if next == b'"' {
                    given.what = What::Word;
                    ahead.string(&mut given.word)?;
                } else if next == b'{' && matches!(meaning, Meaning::Named(_)) {
                    ahead.opens(next);
                    let mut is_first = true;
                    while ahead.member(&mut is_first, &mut given.word)? {
                        given.what = What::Word;
                        ahead.skip()?;
                    }
                }
            }
            Meaning::Said(place) => *self.said.get_mut(place as usize)? = Some(ahead),
            Meaning::Time | Meaning::Uuid if next == b'"' => {
                let mut word = Word::EMPTY;
                ahead.string(&mut word)?;
                if matches!(meaning, Meaning::Time) {
                    self.at = word.whole().and_then(instant::parse);
                } else {
                    self.uuid = word.whole().map(Digest::of_bytes);
                }
            }
            Meaning::Time | Meaning::Uuid | Meaning::Object(_) => {}
            Meaning::Flag(flag) => self.set(flag, next == b't'),
            Meaning::There(flag) => self.set(flag, next != b'n'),
            Meaning::Filled(flag) => {
                let filled = ahead.opens(b'[') && ahead.next()? != b']';
                self.set(flag, filled);
            }
        }
        Some(())
    }

    /// A member may come twice, and only the last counts.
    fn forget(&mut self, meaning: &'static Meaning) {
        match *meaning {
            Meaning::Object(known) => {
                for Member(_, meaning) in known {
                    self.forget(meaning);
                }
            }
            Meaning::Word(field) | Meaning::Named(field) => {
                if let Some(given) = self.words.get_mut(field as usize) {
                    *given = Given { what: What::Nothing, word: Word::EMPTY };
                }
            }
            Meaning::Said(place) => {
                if let Some(said) = self.said.get_mut(place as usize) {
                    *said = None;
                }
            }
            Meaning::Time => self.at = None,
            Meaning::Uuid => self.uuid = None,
            Meaning::Flag(flag) | Meaning::There(flag) | Meaning::Filled(flag) => {
                self.set(flag, false);
            }
        }
    }

    fn set(&mut self, flag: Flag, holds: bool) {
        if holds {
            self.flags |= flag.bit();
        } else {
            self.flags &= !flag.bit();
        }
    }

    fn facts(self) -> Facts {
        let type_ = &self.words[Field::Type as usize].word;
        let (role, place) = if type_.is("queue-operation") {
            (Part::Enqueue, Place::Queue)
        } else if type_.is("attachment") {
            (Part::Command, Place::Attachment)
        } else if type_.is("event_msg") {
            (Part::Turn, Place::Payload)
        } else {
            (Part::Turn, Place::Message)
        };
        let said = Said::read(self.said[place as usize]);
        Facts {
            at: self.at,
            uuid: self.uuid,
            text: said.text,
            bare: said.bare,
            role,
            words: self.words,
            flags: self.flags | said.flags,
            opening: said.opening,
        }
    }
}
