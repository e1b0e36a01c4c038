//! A store with some state in it, a core over it, and everything that comes out.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use headsup::{
    Actor, Awareness, Builder, GoalChange, Level, Listener, Notice, Plugin, Recording, Signal,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cores;

/// Longer than any call takes, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(30);

/// A deadline to run into.
pub const HASTE: Duration = Duration::from_millis(500);

/// When the clock stands still, in ms.
pub const NOW: u64 = 1_790_000_000_000;

/// Watches everything that these tests record on.
pub const WATCHER: &str = "agent:main:main";

/// A session on which nothing happens but what should.
pub const GOOD: &str = "agent:main:good";

/// The session that makes the hostile core do this.
pub fn bad(word: &str) -> String {
    format!("agent:main:hostile:{word}")
}

/// What a listener heard.
#[derive(Default)]
pub struct Heard {
    pub notices: Mutex<Vec<(String, Notice)>>,
    /// Who was woken.
    pub wakes: Mutex<Vec<String>>,
    pub lines: Mutex<Vec<(Level, String)>>,
}

impl Heard {
    pub fn forget(&self) {
        self.notices.lock().unwrap().clear();
        self.wakes.lock().unwrap().clear();
        self.lines.lock().unwrap().clear();
    }

    /// Whether some line of the log at level error holds all of these.
    pub fn error(&self, parts: &[&str]) -> bool {
        let lines = self.lines.lock().unwrap();
        lines.iter().any(|(level, line)| {
            *level == Level::Error && parts.iter().all(|part| line.contains(part))
        })
    }
}

struct Ear(Arc<Heard>);

impl Listener for Ear {
    fn notice(&self, watcher: &str, notice: &Notice) {
        self.0.notices.lock().unwrap().push((watcher.to_owned(), notice.clone()));
    }
    fn wake(&self, watcher: &str) {
        self.0.wakes.lock().unwrap().push(watcher.to_owned());
    }
    fn log(&self, level: Level, message: &str) {
        self.0.lines.lock().unwrap().push((level, message.to_owned()));
    }
}

/// One store in a folder of its own.
pub struct Stage {
    pub awareness: Awareness,
    pub heard: Arc<Heard>,
    pub path: PathBuf,
    /// Lives as long as the stage.
    pub folder: TempDir,
}

impl Stage {
    /// The hostile core over a store with a watched session, one event and an open notice.
    pub fn new() -> Self {
        Self::with(&cores::hostile(), |builder| builder)
    }

    /// The same, with a deadline that a core can be let run into.
    pub fn hasty() -> Self {
        Self::with(&cores::hostile(), |builder| builder.deadline(HASTE).long_deadline(HASTE))
    }

    /// The same with another core and other choices.
    pub fn with(core: &Plugin, choose: impl FnOnce(Builder) -> Builder) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("headsup.db");
        let (awareness, heard) = open(&path, core, choose);
        awareness.watch(WATCHER, GOOD, false).unwrap();
        assert_eq!(record(&awareness, GOOD), Recording::Recorded(1));
        heard.forget();
        Self { awareness, heard, path, folder }
    }

    pub fn record(&self, session: &str) -> Recording {
        record(&self.awareness, session)
    }

    /// Calls a method of the JSON surface.
    pub fn call(&self, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let response = self.awareness.call(&request.to_string()).expect("a response");
        let response: Value = serde_json::from_str(&response).unwrap();
        assert_eq!(response["jsonrpc"], "2.0", "{response}");
        assert_eq!(response["id"], 7, "{response}");
        response
    }

    /// Every row of every table, as text.
    pub fn rows(&self) -> Vec<String> {
        harness::rows(&self.path)
    }

    /// The next call works, and finds what was there before it.
    pub fn works(&self) {
        let before = self.awareness.versions([GOOD]).unwrap()[0].unwrap();
        let Recording::Recorded(version) = self.record(GOOD) else { panic!("not recorded") };
        let delta = self.awareness.changes_since(GOOD, before, None).unwrap();
        let sequences: Vec<u64> = delta.events.iter().map(|event| event.sequence).collect();
        assert_eq!((sequences, delta.history_gap), (vec![version], false));
        let notices = self.awareness.take(WATCHER).unwrap();
        assert!(notices.iter().any(|notice| notice.target.key == GOOD));
    }
}

/// Opens a store with a clock that stands still, so that nothing happens but what a test does.
pub fn open(
    path: &Path,
    core: &Plugin,
    choose: impl FnOnce(Builder) -> Builder,
) -> (Awareness, Arc<Heard>) {
    let heard = Arc::new(Heard::default());
    let builder = Awareness::builder(path)
        .plugin(core.clone())
        .manual_clock(NOW)
        .busy_timeout(PATIENCE * 4)
        .deadline(PATIENCE)
        .memory_limit(64 << 20)
        .listener(Ear(Arc::clone(&heard)));
    (choose(builder).open().unwrap(), heard)
}

/// Records a signal that notifies.
pub fn record(awareness: &Awareness, session: &str) -> Recording {
    awareness.record(signal(session)).unwrap()
}

/// A signal that notifies, and makes its watcher watch.
pub fn signal(session: &str) -> Signal {
    Signal::goal_changed(session, GoalChange::Updated, Actor::human()).watcher(WATCHER)
}

/// Why a recording failed.
pub fn reason(recording: &Recording) -> &str {
    match recording {
        Recording::Failed { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}
