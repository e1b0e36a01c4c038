//! A transcript in a folder of its own, and who watches the session that lives there.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use harness::{CHILD, Gateway, MAIN, MINUTE, NOON};
use headsup::{Adopted, AdoptionRequest, Awareness, Builder, Source, Tally};
use tempfile::TempDir;

/// What a check that found nothing new counts.
pub const QUIET: Tally = Tally { checked: 1, activity: 0, missing: 0, failed: 0 };
/// What a check counts that found a person.
pub const ACTIVE: Tally = Tally { checked: 1, activity: 1, missing: 0, failed: 0 };
/// What a check counts whose source was not there.
pub const GONE: Tally = Tally { checked: 1, activity: 0, missing: 1, failed: 0 };

/// A transcript and the gateway that adopted the session of it.
pub struct Transcript {
    pub gateway: Gateway,
    pub folder: TempDir,
    pub path: PathBuf,
}

impl Transcript {
    /// `MAIN` watches `CHILD`, which is adopted from a transcript with these rows.
    pub fn adopted(rows: &[String]) -> Self {
        let transcript = Self::new(rows);
        transcript.gateway.watches(MAIN, CHILD);
        assert!(transcript.adopts().adopted);
        transcript
    }

    /// A transcript with these rows that nobody has adopted yet.
    pub fn new(rows: &[String]) -> Self {
        Self::with(rows, |builder| builder)
    }

    /// The same, with a gateway that is opened with more than the usual.
    pub fn with(rows: &[String], set: impl FnOnce(Builder) -> Builder) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("3f2a.jsonl");
        let builder = Awareness::builder(":memory:").manual_clock(NOON);
        let gateway = Gateway::with(set(builder.source_folders([folder.path()])));
        let transcript = Self { gateway, folder, path };
        transcript.replaces(rows);
        transcript
    }

    pub fn source(&self) -> Source {
        Source::claude_file(self.path.to_str().unwrap())
    }

    /// Adopts `CHILD` from it.
    pub fn adopts(&self) -> Adopted {
        let request = AdoptionRequest::new(CHILD, self.source(), "claude");
        self.gateway.adopt(request).unwrap()
    }

    /// Another file with these rows in its place.
    pub fn replaces(&self, rows: &[String]) {
        let new = self.folder.path().join("new");
        fs::write(&new, lines(rows)).unwrap();
        fs::rename(new, &self.path).unwrap();
    }

    /// The same file, with these rows in place of what it had.
    pub fn rewrites(&self, rows: &[String]) {
        let mut file = File::create(&self.path).unwrap();
        file.write_all(&lines(rows)).unwrap();
    }

    pub fn appends(&self, rows: &[String]) {
        self.appends_bytes(&lines(rows));
    }

    pub fn appends_bytes(&self, bytes: &[u8]) {
        let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
        file.write_all(bytes).unwrap();
    }

    /// Dates the file, in ms.
    pub fn is_modified_at(&self, at: u64) {
        let file = OpenOptions::new().append(true).open(&self.path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_millis(at)).unwrap();
    }

    /// Checks a minute later.
    #[track_caller]
    pub fn checks(&self) -> Tally {
        self.gateway.passes(MINUTE);
        self.gateway.check_upstreams().unwrap()
    }

    /// The turns of each event of `CHILD` by a person since it was adopted.
    pub fn turns(&self) -> Vec<u32> {
        turns_of(&self.gateway)
    }
}

/// News of an open notice are none of the test's business.
impl Drop for Transcript {
    fn drop(&mut self) {
        drop(self.gateway.news());
    }
}

/// The turns of each event of `CHILD` by a person.
pub fn turns_of(gateway: &Gateway) -> Vec<u32> {
    let delta = gateway.changes_since(CHILD, 0, None).unwrap();
    let human = delta.events.iter().filter(|event| event.kind == headsup::Kind::HumanDirectMessage);
    let turns = human.map(|event| {
        let payload: serde_json::Value =
            serde_json::from_str(event.payload.as_deref().unwrap()).unwrap();
        u32::try_from(payload["turns"].as_u64().unwrap_or(1)).unwrap()
    });
    turns.collect()
}

fn lines(rows: &[String]) -> Vec<u8> {
    rows.iter().flat_map(|row| [row.as_bytes(), b"\n"].concat()).collect()
}

/// What a person typed, so many seconds after noon.
pub fn typed(text: &str, seconds: u64) -> String {
    serde_json::json!({
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": format!("u-{seconds}"),
        "timestamp": time(seconds),
        "entrypoint": "cli",
        "isSidechain": false,
    })
    .to_string()
}

/// What the assistant said, so many seconds after noon.
pub fn said(text: &str, seconds: u64) -> String {
    serde_json::json!({
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
        "uuid": format!("a-{seconds}"),
        "timestamp": time(seconds),
    })
    .to_string()
}

/// So many seconds, at most an hour, after [`NOON`], the thousandth day, as transcripts write it.
fn time(seconds: u64) -> String {
    format!("1972-09-27T00:{:02}:{:02}.000Z", seconds / 60, seconds % 60)
}

/// Where the file stands in a folder beside its own.
pub fn beside(path: &Path, name: &str) -> PathBuf {
    path.with_file_name(name)
}
