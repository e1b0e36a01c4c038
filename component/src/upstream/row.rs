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
    /// The same without the reminders (`<system-reminder>…</system-reminder>`) before it: what a
    /// person typed.
    pub bare: Digest,
    /// What it may repeat, or be repeated by.
    pub role: Part,
    words: [Option<Value>; Field::COUNT],
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

/// A member that should be a word, and is not `null`.
#[derive(Clone, Copy)]
enum Value {
    Word(Word),
    Other,
}

/// Reads a line; none if it is not one JSON object.
#[must_use]
pub fn read(line: &[u8]) -> Option<Facts> {
    let mut scanner = Scanner::new(line);
    let mut row = Row::default();
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
        matches!(self.words.get(field as usize), Some(Some(_)))
    }

    fn word(&self, field: Field) -> Option<&Word> {
        match self.words.get(field as usize)? {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
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
fn after<'a>(text: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let at = text.windows(mark.len()).position(|here| here == mark)?;
    text.get(at + mark.len()..)
}

/// A row that is being read.
#[derive(Default)]
struct Row {
    words: [Option<Value>; Field::COUNT],
    flags: u32,
    at: Option<u64>,
    uuid: Option<Digest>,
    said: [Option<Said>; Place::COUNT],
}

impl Row {
    /// The members of an object, its brace being passed.
    fn object(&mut self, scanner: &mut Scanner, known: &'static [Member]) -> Option<()> {
        let (mut is_first, mut name) = (true, Word::EMPTY);
        while scanner.member(&mut is_first, &mut name)? {
            match known.iter().find(|member| name.is(member.0)) {
                Some(Member(_, meaning)) => self.member(scanner, meaning)?,
                None => scanner.skip()?,
            }
        }
        Some(())
    }

    fn member(&mut self, scanner: &mut Scanner, meaning: &'static Meaning) -> Option<()> {
        self.forget(meaning);
        match *meaning {
            Meaning::Object(known) if scanner.opens(b'{') => return self.object(scanner, known),
            Meaning::Named(field) if scanner.next()? == b'{' => return self.named(scanner, field),
            Meaning::Word(field) | Meaning::Named(field) => return self.word(scanner, field),
            Meaning::Said(place) => {
                let said = Said::read(scanner)?;
                if let Some(slot) = self.said.get_mut(place as usize) {
                    *slot = Some(said);
                }
                return Some(());
            }
            Meaning::Time | Meaning::Uuid if scanner.next()? == b'"' => {
                let mut word = Word::EMPTY;
                scanner.string(&mut word)?;
                match meaning {
                    Meaning::Time => self.at = word.whole().and_then(instant::parse),
                    _ => self.uuid = word.whole().map(Digest::of_bytes),
                }
                return Some(());
            }
            Meaning::Flag(flag) => self.set(flag, scanner.next()? == b't'),
            Meaning::There(flag) => self.set(flag, scanner.next()? != b'n'),
            Meaning::Filled(flag) if scanner.opens(b'[') => {
                let mut is_first = true;
                while scanner.another(b']', &mut is_first)? {
                    scanner.skip()?;
                }
                self.set(flag, !is_first);
                return Some(());
            }
            Meaning::Object(_) | Meaning::Time | Meaning::Uuid | Meaning::Filled(_) => {}
        }
        scanner.skip()
    }

    /// A member may come twice, and only the last counts.
    fn forget(&mut self, meaning: &'static Meaning) {
        match *meaning {
            Meaning::Object(known) => {
                for Member(_, meaning) in known {
                    self.forget(meaning);
                }
            }
            Meaning::Word(field) | Meaning::Named(field) => self.put(field, None),
            Meaning::Said(place) => {
                if let Some(slot) = self.said.get_mut(place as usize) {
                    *slot = None;
                }
            }
            Meaning::Time => self.at = None,
            Meaning::Uuid => self.uuid = None,
            Meaning::Flag(flag) | Meaning::There(flag) | Meaning::Filled(flag) => {
                self.set(flag, false);
            }
        }
    }

    fn word(&mut self, scanner: &mut Scanner, field: Field) -> Option<()> {
        let value = match scanner.next()? {
            b'"' => {
                let mut word = Word::EMPTY;
                scanner.string(&mut word)?;
                self.put(field, Some(Value::Word(word)));
                return Some(());
            }
            b'n' => None,
            _ => Some(Value::Other),
        };
        self.put(field, value);
        scanner.skip()
    }

    /// An object whose last member's name is the word.
    fn named(&mut self, scanner: &mut Scanner, field: Field) -> Option<()> {
        self.put(field, Some(Value::Other));
        scanner.opens(b'{');
        let (mut is_first, mut name) = (true, Word::EMPTY);
        while scanner.member(&mut is_first, &mut name)? {
            self.put(field, Some(Value::Word(name)));
            scanner.skip()?;
        }
        Some(())
    }

    fn put(&mut self, field: Field, value: Option<Value>) {
        if let Some(slot) = self.words.get_mut(field as usize) {
            *slot = value;
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
        let is = |word| matches!(&self.words[Field::Type as usize], Some(Value::Word(given)) if given.is(word));
        let (role, place) = if is("queue-operation") {
            (Part::Enqueue, Place::Queue)
        } else if is("attachment") {
            (Part::Command, Place::Attachment)
        } else if is("event_msg") {
            (Part::Turn, Place::Payload)
        } else {
            (Part::Turn, Place::Message)
        };
        let said = self.said.get(place as usize).copied().flatten().unwrap_or_else(Said::nothing);
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
