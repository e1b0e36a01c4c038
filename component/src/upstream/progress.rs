//! How far a source was read, and what tells whether it is still the same: the state of a link, a JSON
//! object in the store. A member that is not there has its default.

use alloc::string::{String, ToString};

use super::digest::Digest;
use super::queued::Queued;
use crate::contract::{FileFound, Link, StorageFailure};
use crate::json::{self, Members, Value, Writer};
use crate::refusal::corrupt;

/// What a check reads at most, in bytes, unless a line is longer.
pub const WINDOW: u32 = 1 << 20;
/// The longest line that is classified, in bytes with its line feed.
pub const LONGEST_LINE: u32 = 64 << 20;
/// So many bytes before the position are read once more, to tell whether they are what was read.
const OVERLAP: u32 = 1 << 10;

/// The state of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What the gateway called it, and when it was adopted.
    pub labels: Labels,
    /// Why the source could not be read the last time.
    pub trouble: Option<String>,
    /// How often the source was seen to be replaced, cut or rewritten.
    pub rotations: u64,
    /// The newest time of a row that was passed, in ms.
    pub newest: Option<u64>,
    /// Prompts that were counted when they were queued.
    pub queued: Queued,
    /// How far a file was read.
    pub file: Position,
    /// Whether any items of a thread were ever seen: the first are history.
    pub begun: bool,
    /// The newest item of a thread that was passed.
    pub last: Option<Digest>,
}

/// What is known of an adoption, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// When it was, in ms.
    pub adopted_at: u64,
    /// The machine.
    pub host: Option<String>,
    /// The thread's id in the catalog.
    pub thread: Option<String>,
}

/// How far a file was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The start of the first line that was not read, in bytes.
    pub at: u64,
    /// What the next check reads at most from there, in bytes; 0 stands for [`WINDOW`].
    window: u32,
    /// Whether `at` lies inside a line that is too long to be classified.
    pub passing: bool,
    /// What tells the file from another in its place.
    pub identity: String,
    /// Its size when it was read, in bytes.
    size: u64,
    /// The stamp of a file that was read to its end.
    pub stamp: Option<String>,
    /// How many bytes before `at` are compared, and their digest.
    overlap: u32,
    before: Option<Digest>,
    /// In a file that was rewritten or took another's place: rows that are not newer than this, in
    /// ms, were reported before.
    until: u64,
    /// In such a file: whether the row before was old. One without a usable time follows it.
    old: Option<bool>,
    /// In such a file: whether it holds what was passed before, up to the newest of it. What is
    /// appended once it was read to its end is new, whatever its time.
    caught_up: bool,
    /// Whether no person types into this session.
    pub headless: bool,
}

impl Position {
    /// What the next check reads at most beyond the overlap, in bytes.
    #[must_use]
    pub fn window(&self) -> u32 {
        if self.window == 0 { WINDOW } else { self.window }
    }

    /// From where the next check reads, in bytes.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.at.saturating_sub(u64::from(self.overlap))
    }

    /// How much the next check reads at most, in bytes.
    #[must_use]
    pub fn at_most(&self) -> u32 {
        self.overlap + self.window()
    }

    /// What was found beyond the overlap; `None` if the file is no longer the one that was read.
    #[must_use]
    pub fn rest<'f>(&self, found: &'f FileFound) -> Option<&'f [u8]> {
        let same = found.identity == self.identity || self.at == 0;
        let (before, rest) = found.bytes.split_at_checked(self.overlap as usize)?;
        let intact = self.before.is_none_or(|digest| digest == Digest::of_bytes(before));
        (same && intact).then_some(rest)
    }

    /// Starts over in a file that is another by now. `newest` is the newest time that was passed;
    /// where there was none, nothing that is older than the adoption is new.
    pub fn rotate(&mut self, found: &FileFound, newest: Option<u64>, adopted_at: u64) {
        let passed = self.at > 0;
        *self = Self {
            identity: found.identity.clone(),
            size: found.size,
            until: newest.unwrap_or(adopted_at),
            old: Some(passed),
            caught_up: newest.is_none(),
            ..Self::default()
        };
    }

    /// Whether a row was reported before, by its time if that is usable.
    pub fn is_old(&mut self, at: Option<u64>) -> bool {
        let Some(old) = &mut self.old else { return false };
        if let Some(at) = at {
            *old = at <= self.until;
            self.caught_up |= at >= self.until;
        }
        *old
    }

    /// Moves to this byte, all before it being read.
    pub fn advance(&mut self, at: u64, found: &FileFound) {
        let read = usize::try_from(at - found.start).unwrap_or(usize::MAX);
        let read = found.bytes.get(..read).unwrap_or(&found.bytes);
        let overlap = read.len().min(OVERLAP as usize);
        let before = read.get(read.len() - overlap..).unwrap_or_default();
        self.at = at;
        self.overlap = u32::try_from(overlap).unwrap_or(0);
        self.before = (overlap > 0).then(|| Digest::of_bytes(before));
    }

    /// Lets the next check read more, or as much as usual.
    pub fn set_window(&mut self, bytes: u32) {
        self.window = if bytes == WINDOW { 0 } else { bytes };
    }

    /// Remembers the file as it was when it was read.
    pub fn remember(&mut self, found: &FileFound) {
        self.identity.clone_from(&found.identity);
        self.size = found.size;
        let whole = found.start + found.bytes.len() as u64 >= found.size;
        self.stamp = if whole { found.stamp.clone() } else { None };
        if whole && self.caught_up {
            (self.until, self.old, self.caught_up) = (0, None, false);
        }
    }
}

impl Progress {
    /// The state of a link.
    ///
    /// # Errors
    /// The store is corrupt: this is none.
    pub fn of(link: &Link) -> Result<Self, StorageFailure> {
        let Ok(Value::Object(members)) = json::read(&link.state) else {
            return Err(corrupt("the state of an adopted session is no JSON object"));
        };
        let kept = Kept(&members);
        Ok(Self {
            labels: Labels {
                adopted_at: kept.number("adoptedAt").unwrap_or(0),
                host: kept.text("host"),
                thread: kept.text("thread"),
            },
            trouble: kept.text("trouble"),
            rotations: kept.number("rotations").unwrap_or(0),
            newest: kept.number("newest"),
            queued: members.get("queued").and_then(Queued::read).unwrap_or_default(),
            file: Position {
                at: kept.number("at").unwrap_or(0),
                window: kept.small("window", LONGEST_LINE),
                passing: kept.flag("passing").is_some(),
                identity: kept.text("identity").unwrap_or_default(),
                size: kept.number("size").unwrap_or(0),
                stamp: kept.text("stamp"),
                overlap: kept.small("overlap", OVERLAP),
                before: kept.digest("before"),
                until: kept.number("until").unwrap_or(0),
                old: kept.flag("old"),
                caught_up: kept.flag("caughtUp").is_some(),
                headless: kept.flag("headless").is_some(),
            },
            begun: kept.flag("begun").is_some(),
            last: kept.digest("last"),
        })
    }

    /// The state as the store keeps it.
    #[must_use]
    pub fn text(&self) -> String {
        json::object(|out| self.write(out))
    }

    fn write(&self, out: &mut Writer) {
        let Position { at, window, passing, identity, size, stamp, .. } = &self.file;
        let numbers = [
            ("adoptedAt", Some(self.labels.adopted_at)),
            ("at", Some(*at)),
            ("size", Some(*size)),
            ("rotations", Some(self.rotations)),
            ("newest", self.newest),
            ("window", Some(u64::from(*window))),
            ("overlap", Some(u64::from(self.file.overlap))),
            ("until", Some(self.file.until)),
        ];
        for (name, number) in numbers {
            if let Some(number) = number.filter(|number| *number > 0) {
                out.name(name).number(number);
            }
        }
        let (before, last) = (hex(self.file.before), hex(self.last));
        let texts = [
            ("host", &self.labels.host),
            ("thread", &self.labels.thread),
            ("trouble", &self.trouble),
            ("stamp", stamp),
            ("before", &before),
            ("last", &last),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                out.name(name).text(text);
            }
        }
        out.name("identity").text(identity);
        let flags = [
            ("passing", *passing),
            ("headless", self.file.headless),
            ("caughtUp", self.file.caught_up),
            ("begun", self.begun),
        ];
        for (name, flag) in flags {
            if flag {
                out.name(name).flag(true);
            }
        }
        if let Some(old) = self.file.old {
            out.name("old").flag(old);
        }
        self.queued.write(out.name("queued"));
    }
}

fn hex(digest: Option<Digest>) -> Option<String> {
    Some(digest?.hex())
}

/// The members of a state that was kept.
struct Kept<'m>(&'m Members<'m>);

impl Kept<'_> {
    #[inline(never)]
    fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    fn small(&self, name: &str, most: u32) -> u32 {
        u32::try_from(self.number(name).unwrap_or(0)).unwrap_or(most).min(most)
    }

    #[inline(never)]
    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name)?.as_text().map(ToString::to_string)
    }

    fn digest(&self, name: &str) -> Option<Digest> {
        Digest::parse(&self.text(name)?)
    }

    #[inline(never)]
    fn flag(&self, name: &str) -> Option<bool> {
        match self.0.get(name)? {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
