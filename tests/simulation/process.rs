//! One process: a gateway with a clock of its own, and what it hears.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use harness::News;
use headsup::{Awareness, Builder, Durability, Level, Listener, Notice, Policy};
use rusqlite::{Connection, params};

use crate::disk::Disk;
use crate::history::Heard;
use crate::model::Woken;

/// A process that has the store open.
pub struct Process {
    pub awareness: Awareness,
    ears: Ears,
    /// Its clock.
    pub now: u64,
    /// Whom it has woken, as the model has it.
    pub woken: Vec<Woken>,
}

/// What processes have in common.
pub struct Setting<'a> {
    pub store: &'a Path,
    pub policy: &'a Policy,
    pub disk: &'a Disk,
}

impl Setting<'_> {
    /// Starts a process at this time.
    pub fn start(&self, now: u64) -> Process {
        self.start_with(now, |builder| builder.policy(self.policy.clone()))
    }

    /// A process that waits for nobody who holds the write lock.
    pub fn start_hasty(&self, now: u64) -> Process {
        self.start_with(now, |builder| {
            builder.busy_timeout(Duration::from_millis(1)).recover_on_open(false)
        })
    }

    /// A process that only looks.
    pub fn start_looking(&self, now: u64) -> Process {
        self.start_with(now, Builder::read_only)
    }

    fn start_with(&self, now: u64, choose: impl FnOnce(Builder) -> Builder) -> Process {
        let ears = Ears::new(self.store);
        // Deadlines are real, and so is whatever else keeps this machine busy.
        let builder = Awareness::builder(self.store)
            .durability(Durability::Normal)
            .busy_timeout(Duration::from_mins(1))
            .deadline(Duration::from_secs(15))
            .plugin(harness::core())
            .source_files(self.disk.clone())
            .listener(ears.clone())
            .manual_clock(now);
        let awareness = choose(builder).open().expect("the store opens");
        Process { awareness, ears, now, woken: Vec::new() }
    }
}

impl Process {
    /// Notices and wakes since the last time.
    pub fn heard(&self) -> Vec<Heard> {
        std::mem::take(&mut *self.ears.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Ears that look into the store whenever they are told of a notice.
#[derive(Clone)]
struct Ears {
    heard: Arc<Mutex<Vec<Heard>>>,
    /// Sees what is committed and nothing else. Opened once there is something to see.
    store: Arc<Mutex<Option<Connection>>>,
    path: Arc<Path>,
}

impl Ears {
    fn new(path: &Path) -> Self {
        Self { heard: Arc::default(), store: Arc::default(), path: path.into() }
    }

    fn hear(&self, news: News, committed: bool) {
        let heard = Heard { news, committed };
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(heard);
    }

    fn is_committed(&self, watcher: &str, notice: &Notice) -> bool {
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let store = store.get_or_insert_with(|| Connection::open(&self.path).unwrap());
        let cursor = "SELECT count(*) FROM session_watch_cursors
            WHERE watcher_key = ? AND target_key = ? AND target_agent_id = ?
              AND last_seen = ? AND notified = ?";
        let Notice { target, since, up_to, .. } = notice;
        let (since, up_to) = (i64::try_from(*since).unwrap(), i64::try_from(*up_to).unwrap());
        let mut statement = store.prepare_cached(cursor).unwrap();
        let found: i64 = statement
            .query_row(params![watcher, target.key, target.agent, since, up_to], |row| row.get(0))
            .unwrap();
        found == 1
    }
}

impl Listener for Ears {
    fn notice(&self, watcher: &str, notice: &Notice) {
        let committed = self.is_committed(watcher, notice);
        self.hear(News::Notice { watcher: watcher.to_owned(), notice: notice.clone() }, committed);
    }

    fn wake(&self, watcher: &str) {
        self.hear(News::Wake(watcher.to_owned()), true);
    }

    fn log(&self, _: Level, _: &str) {}
}
