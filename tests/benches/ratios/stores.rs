//! The stores that are measured, and what is recorded in them.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use headsup::storage::{Store, StoreOptions};
use headsup::{Actor, Awareness, Durability, Engine, Listener, Plugin, Recording, Signal};
use headsup_component::contract as logic;
use tempfile::TempDir;

use crate::native::Native;

/// The session that things happen to.
pub const TARGET: &str = "agent:main:subagent:child";

/// The same event as a request.
pub const RECORD: &str = r#"{"jsonrpc":"2.0","id":1,"method":"record","params":{"session":"agent:main:subagent:child","kind":"human_direct_message","actor":{"type":"human"},"channel":"telegram"}}"#;

/// A watcher by number.
pub fn watcher(at: usize) -> String {
    format!("agent:main:worker:{at}")
}

/// A human writes to the target.
pub fn signal() -> Signal {
    Signal::human_direct_message(TARGET, Actor::human()).channel("telegram")
}

/// The same for the logic compiled natively.
pub fn native_signal() -> logic::Signal {
    let channel = Some("telegram".to_owned());
    logic::Signal {
        session: native_session(),
        happening: logic::Happening::HumanDirectMessage(logic::DirectMessage {
            channel,
            turns: None,
        }),
        actor: logic::Actor { type_: logic::ActorType::Human, id: None },
        session_id: None,
        run_id: None,
        occurred_at: None,
        dedupe_key: None,
        watchers: Vec::new(),
    }
}

/// The target for the logic compiled natively.
pub fn native_session() -> logic::SessionRef {
    logic::SessionRef { key: TARGET.to_owned(), agent: None }
}

/// Nobody: what news cost is up to who hears them.
struct Deaf;

impl Listener for Deaf {}

/// A folder on a disk (a temporary folder may be in memory, where nothing has to be flushed), and
/// one compiled core.
pub struct Stores {
    folder: TempDir,
    plugin: Plugin,
    made: Cell<usize>,
}

impl Stores {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let engine = Engine::new(Some(folder.path().join("cache"))).unwrap();
        let plugin = Plugin::built_in(&engine).unwrap();
        Self { folder, plugin, made: Cell::new(0) }
    }

    /// Where compiled code is kept.
    pub fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// A path that is not used yet.
    pub fn path(&self) -> PathBuf {
        self.made.set(self.made.get() + 1);
        self.folder.path().join(format!("{}.db", self.made.get()))
    }

    /// A store whose target has so many watchers, all with an open notice.
    pub fn watched_by(&self, watchers: usize) -> PathBuf {
        let path = self.path();
        let awareness = self.open(&path, Durability::Normal);
        let mut first = signal();
        first.watchers = (0..watchers).map(watcher).collect();
        assert_eq!(awareness.record(first).unwrap(), Recording::Recorded(1));
        path
    }

    /// The component over a store.
    pub fn open(&self, path: &Path, durability: Durability) -> Awareness {
        Awareness::builder(path)
            .plugin(self.plugin.clone())
            .durability(durability)
            .listener(Deaf)
            .recover_on_open(false)
            .open()
            .unwrap()
    }
}

/// The logic compiled natively over a store.
pub fn native(path: &Path) -> Native {
    let mut options = StoreOptions::new(path);
    options.durability = Durability::Normal;
    Native::new(Store::open(&options).unwrap())
}

/// Records, and sees that it did.
pub fn record(awareness: &Awareness, signal: Signal) {
    let recording = awareness.record(signal).unwrap();
    assert!(matches!(recording, Recording::Recorded(_)), "{recording:?}");
}

/// Calls the JSON surface, and sees that it answered.
pub fn call(awareness: &Awareness, request: &str) -> String {
    let response = awareness.call(request).unwrap();
    assert!(response.contains("\"result\""), "{response}");
    response
}
