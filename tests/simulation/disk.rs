//! The files of adopted sessions, planted: all processes read the same ones.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use harness::{NOON, SECOND};
use headsup::{FileFound, FileRead, Found, SourceFiles};
use serde_json::json;

/// How many files there are.
pub const FILES: usize = 3;

/// What happens to a file. One that had vanished is there again, empty, before anything else.
#[derive(Clone, Debug)]
pub enum Change {
    /// Rows are appended, each by a person or not; of the last one perhaps only a part.
    Grows {
        typed: Vec<bool>,
        cut: bool,
    },
    /// Another file takes its place: the same rows, and these.
    IsReplaced {
        typed: Vec<bool>,
    },
    /// The same file has the same rows once more, or none.
    IsRewritten {
        all: bool,
    },
    Vanishes,
}

/// All files. Clones are the same files.
#[derive(Clone, Default)]
pub struct Disk {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    files: [File; FILES],
    /// The file that can be read at present.
    readable: Option<usize>,
    /// Rows ever written; each was written a second after the one before it.
    rows: u64,
    /// Files ever made.
    made: u64,
}

#[derive(Clone, Default)]
struct File {
    there: bool,
    identity: u64,
    bytes: Vec<u8>,
    /// Whole rows.
    rows: Vec<Row>,
    /// A row whose line is not whole yet, and what is missing of it.
    half: Option<(Row, Vec<u8>)>,
}

/// A row of a transcript.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// When, in ms. No two rows are of the same time.
    pub at: u64,
    /// Whether a person typed it.
    pub typed: bool,
}

/// The absolute path of a file.
pub fn path(file: usize) -> String {
    format!("/planted/{file}.jsonl")
}

impl Disk {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn change(&self, file: usize, change: &Change) {
        self.lock().change(file, change);
    }

    /// From now on this file alone can be read on.
    pub fn only(&self, file: usize) {
        self.lock().readable = Some(file);
    }

    /// Its whole rows; nothing if it is not there.
    pub fn rows(&self, file: usize) -> Option<Vec<Row>> {
        let shared = self.lock();
        let file = &shared.files[file];
        file.there.then(|| file.rows.clone())
    }
}

impl Shared {
    fn change(&mut self, at: usize, change: &Change) {
        if !self.files[at].there {
            self.made += 1;
            self.files[at] = File { there: true, identity: self.made, ..File::default() };
        }
        match change {
            Change::Grows { typed, cut } => {
                self.append(at, typed);
                if *cut && !typed.is_empty() {
                    self.files[at].cut();
                }
            }
            Change::IsReplaced { typed } => {
                self.made += 1;
                self.files[at].identity = self.made;
                self.files[at].half = None;
                self.files[at].rewrite();
                self.append(at, typed);
            }
            Change::IsRewritten { all } => {
                if !all {
                    self.files[at].rows.clear();
                }
                self.files[at].half = None;
                self.files[at].rewrite();
            }
            Change::Vanishes => self.files[at] = File::default(),
        }
    }

    fn append(&mut self, at: usize, typed: &[bool]) {
        let file = &mut self.files[at];
        if let Some((row, rest)) = file.half.take() {
            file.bytes.extend(rest);
            file.rows.push(row);
        }
        for typed in typed {
            self.rows += 1;
            let row = Row { at: NOON + self.rows * SECOND, typed: *typed };
            file.bytes.extend(line(row));
            file.rows.push(row);
        }
    }
}

impl File {
    fn rewrite(&mut self) {
        self.bytes = self.rows.iter().flat_map(|row| line(*row)).collect();
    }

    /// Takes back the end of the last line.
    fn cut(&mut self) {
        let Some(row) = self.rows.pop() else { return };
        let rest = self.bytes.split_off(self.bytes.len() - line(row).len() / 2);
        self.half = Some((row, rest));
    }

    fn found(&self, start: u64, at_most: usize, head: bool) -> Found {
        let from = self.bytes.len().min(usize::try_from(start).unwrap_or(usize::MAX));
        let rest = &self.bytes[from..];
        Found::File(FileFound {
            identity: self.identity.to_string(),
            stamp: None,
            size: self.bytes.len() as u64,
            modified_at: self.rows.last().map_or(NOON, |row| row.at),
            head: if head { self.bytes.clone() } else { Vec::new() },
            start: from as u64,
            bytes: rest[..rest.len().min(at_most)].to_vec(),
        })
    }
}

fn number_of(place: &str) -> Option<usize> {
    (0..FILES).find(|file| path(*file) == place)
}

impl SourceFiles for Disk {
    fn read_on(&self, read: &FileRead) -> Found {
        let shared = self.lock();
        let Some(number) = read.places.iter().find_map(|place| number_of(place)) else {
            return Found::Missing;
        };
        let file = &shared.files[number];
        if shared.readable != Some(number) {
            Found::Unavailable("planted".into())
        } else if file.there {
            let size = file.bytes.len() as u64;
            // A file that is shorter than what was read of it has nothing there.
            let mut found = file.found(read.start, read.at_most as usize, false);
            if let Found::File(it) = &mut found
                && read.start > size
            {
                it.start = read.start;
            }
            found
        } else {
            Found::Missing
        }
    }

    fn read_ends(&self, path: &str) -> Found {
        let shared = self.lock();
        match number_of(path).map(|number| &shared.files[number]) {
            Some(file) if file.there => file.found(0, usize::MAX, true),
            _ => Found::Missing,
        }
    }
}

/// A row as Claude Code writes it.
fn line(row: Row) -> Vec<u8> {
    let seconds = (row.at - NOON) / SECOND;
    let role = if row.typed { "user" } else { "assistant" };
    let time = format!(
        "1972-09-{:02}T{:02}:{:02}:{:02}.000Z",
        27 + seconds / 86_400,
        seconds / 3_600 % 24,
        seconds / 60 % 60,
        seconds % 60
    );
    let row = json!({
        "type": role,
        "message": {"role": role, "content": [{"type": "text", "text": format!("row {seconds}")}]},
        "uuid": format!("u-{seconds}"),
        "timestamp": time,
        "entrypoint": "cli",
        "isSidechain": false,
    });
    format!("{row}\n").into_bytes()
}
