//! How far a source was read, and what tells whether it is still the same: the link's marker, a JSON
//! object in the store.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};

use super::digest::Digest;
use super::queued::Queued;
use crate::contract::{FileFound, Source, StorageFailure};
use crate::json::{self, Members, Value, Writer};
use crate::refusal::corrupt;

/// What a check reads at most, in bytes, unless a line is longer.
pub const WINDOW: u32 = 1 << 20;
/// The longest line that is classified, in bytes with its line feed.
pub const LONGEST_LINE: u32 = 64 << 20;
/// So many bytes before the position are read once more, to tell whether they are what was read.
const OVERLAP: usize = 1 << 10;
/// A stamp tells that a file did not change only if it was not written to just before: clocks of
/// file systems are coarse. In ms.
const COARSE_MS: u64 = 2_000;

/// How far a source was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marker {
    /// A file.
    File(FileMarker),
    /// The items of a thread.
    Items(ItemsMarker),
}

/// How far a file was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileMarker {
    /// The start of the first line that was not read, in bytes.
    pub at: u64,
    /// What the next check reads at most from there, in bytes; 0 stands for [`WINDOW`].
    window: u32,
    /// Whether `at` lies inside a line that is too long to be classified.
    pub passing: bool,
    /// What tells the file from another in its place.
    pub identity: String,
    /// Its size when it was read, in bytes.
    pub size: u64,
    /// The stamp of a file that was read to its end.
    pub stamp: Option<String>,
    /// How many bytes before `at` are compared, and their digest.
    overlap: u32,
    before: Option<Digest>,
    /// The newest time of a row that was passed, in ms.
    pub newest: Option<u64>,
    /// What is old in a file that was rewritten or took another's place.
    pub age: Option<Age>,
    /// Whether no person types into this session.
    pub headless: bool,
    /// Prompts that were counted when they were queued.
    pub queued: Queued,
}

/// Which rows of a file were reported before it was rewritten or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Age {
    /// Rows that are not newer were, in ms; absent: no time is known.
    until: Option<u64>,
    /// Whether the row before was old: one without a usable time follows it.
    last: bool,
}

/// How far the items of a thread were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemsMarker {
    /// Whether any items were ever seen: the first are history.
    pub begun: bool,
    /// The newest item that was passed.
    pub last: Option<Digest>,
    /// The newest time of an item that was passed, in ms.
    pub newest: Option<u64>,
    /// Prompts that were counted when they were queued.
    pub queued: Queued,
}

impl FileMarker {
    /// What the next check reads at most beyond the overlap, in bytes.
    #[must_use]
    pub fn window(&self) -> u32 {
        if self.window == 0 { WINDOW } else { self.window }
    }

    /// From where the next check reads, and how much, in bytes.
    #[must_use]
    pub fn span(&self) -> (u64, u32) {
        (self.at - u64::from(self.overlap), self.overlap + self.window())
    }

    /// What was found beyond the overlap; `None` if the file is no longer the one that was read.
    #[must_use]
    pub fn rest<'f>(&self, found: &'f FileFound) -> Option<&'f [u8]> {
        let same = found.identity == self.identity || self.at == 0;
        let (before, rest) = found.bytes.split_at_checked(self.overlap as usize)?;
        let intact = self.before.is_none_or(|digest| digest == Digest::of_bytes(before));
        (same && intact).then_some(rest)
    }

    /// Starts over in a file that is another by now.
    pub fn rotate(&mut self) {
        let passed = self.at > 0;
        self.age = Some(Age { until: self.newest, last: passed });
        (self.at, self.window, self.overlap) = (0, 0, 0);
        (self.before, self.stamp) = (None, None);
        (self.passing, self.headless) = (false, false);
    }

    /// Whether a row was reported before, by its time if that is usable.
    pub fn is_old(&mut self, at: Option<u64>) -> bool {
        let Some(age) = &mut self.age else { return false };
        if let Some(at) = at {
            age.last = age.until.is_some_and(|until| at <= until);
        }
        age.last
    }

    /// Remembers the time of a row that was passed.
    pub fn pass(&mut self, at: Option<u64>) {
        self.newest = self.newest.max(at);
    }

    /// Moves to this byte, all before it being read.
    pub fn advance(&mut self, at: u64, found: &FileFound) {
        let read = usize::try_from(at - found.start).unwrap_or(usize::MAX);
        let read = found.bytes.get(..read).unwrap_or(&found.bytes);
        let overlap = read.len().min(OVERLAP);
        let before = read.get(read.len() - overlap..).unwrap_or_default();
        self.at = at;
        self.overlap = u32::try_from(overlap).unwrap_or(0);
        self.before = (overlap > 0).then(|| Digest::of_bytes(before));
    }

    /// Lets the next check read more, or as much as usual.
    pub fn set_window(&mut self, bytes: u32) {
        self.window = if bytes == WINDOW { 0 } else { bytes };
    }

    /// Remembers the file as it was when it was read. `now` is the local clock in ms.
    pub fn remember(&mut self, found: &FileFound, now: u64) {
        self.identity.clone_from(&found.identity);
        self.size = found.size;
        let whole = found.start + found.bytes.len() as u64 >= found.size;
        let calm = found.modified_at.saturating_add(COARSE_MS) <= now;
        self.stamp = (whole && calm).then(|| found.stamp.clone());
    }
}

impl Marker {
    /// The marker of a link.
    ///
    /// # Errors
    /// The store is corrupt: this is no marker for this source.
    pub fn read(text: &str, source: &Source) -> Result<Self, StorageFailure> {
        let value = json::read(text).ok();
        let marker = match &value {
            Some(Value::Object(members)) if source.thread.is_none() => file(members),
            Some(Value::Object(members)) => items(members),
            _ => None,
        };
        marker.ok_or_else(|| corrupt("the position of an adopted session cannot be read"))
    }

    /// The marker as the store keeps it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = Writer::default();
        out.open_object();
        match self {
            Self::File(marker) => write_file(marker, &mut out),
            Self::Items(marker) => write_items(marker, &mut out),
        }
        out.close_object();
        out.into_text()
    }
}

fn write_file(marker: &FileMarker, out: &mut Writer) {
    out.name("at").number(marker.at);
    number_if(out, "window", u64::from(marker.window));
    flag_if(out, "passing", marker.passing);
    out.name("identity").text(&marker.identity);
    out.name("size").number(marker.size);
    if let Some(stamp) = &marker.stamp {
        out.name("stamp").text(stamp);
    }
    number_if(out, "overlap", u64::from(marker.overlap));
    digest_if(out, "before", marker.before);
    time_if(out, "newest", marker.newest);
    if let Some(age) = &marker.age {
        time_if(out, "until", age.until);
        out.name("old").flag(age.last);
    }
    flag_if(out, "headless", marker.headless);
    marker.queued.write(out.name("queued"));
}

fn write_items(marker: &ItemsMarker, out: &mut Writer) {
    out.name("begun").flag(marker.begun);
    digest_if(out, "last", marker.last);
    time_if(out, "newest", marker.newest);
    marker.queued.write(out.name("queued"));
}

fn file(members: &Members<'_>) -> Option<Marker> {
    let until = members.get("until").and_then(Value::as_u64);
    let overlap = small(members, "overlap")?;
    let marker = FileMarker {
        at: members.get("at")?.as_u64()?,
        window: small(members, "window")?,
        passing: flag(members, "passing"),
        identity: members.get("identity")?.as_text()?.to_owned(),
        size: members.get("size")?.as_u64()?,
        stamp: members.get("stamp").and_then(Value::as_text).map(ToString::to_string),
        overlap,
        before: digest(members, "before"),
        newest: members.get("newest").and_then(Value::as_u64),
        age: members.get("old").map(|last| Age { until, last: *last == Value::Bool(true) }),
        headless: flag(members, "headless"),
        queued: Queued::read(members.get("queued")?)?,
    };
    let sound = u64::from(overlap) <= marker.at && marker.window <= LONGEST_LINE;
    sound.then_some(Marker::File(marker))
}

fn items(members: &Members<'_>) -> Option<Marker> {
    Some(Marker::Items(ItemsMarker {
        begun: flag(members, "begun"),
        last: digest(members, "last"),
        newest: members.get("newest").and_then(Value::as_u64),
        queued: Queued::read(members.get("queued")?)?,
    }))
}

fn small(members: &Members<'_>, name: &str) -> Option<u32> {
    members.get(name).map_or(Some(0), |value| u32::try_from(value.as_u64()?).ok())
}

fn flag(members: &Members<'_>, name: &str) -> bool {
    members.get(name) == Some(&Value::Bool(true))
}

fn digest(members: &Members<'_>, name: &str) -> Option<Digest> {
    Digest::parse(members.get(name)?.as_text()?)
}

fn number_if(out: &mut Writer, name: &str, value: u64) {
    if value > 0 {
        out.name(name).number(value);
    }
}

fn time_if(out: &mut Writer, name: &str, value: Option<u64>) {
    if let Some(value) = value {
        out.name(name).number(value);
    }
}

fn flag_if(out: &mut Writer, name: &str, value: bool) {
    if value {
        out.name(name).flag(true);
    }
}

fn digest_if(out: &mut Writer, name: &str, value: Option<Digest>) {
    if let Some(digest) = value {
        out.name(name).text(&digest.hex());
    }
}
