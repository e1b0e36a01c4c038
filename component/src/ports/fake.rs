//! A store for tests that remembers one adopted session and nothing else, or fails.

use crate::contract::{
    AppendOutcome, AppendRequest, Appended, Changes, ClaimRequest, CursorQuery, Head, Level,
    LogPage, Opening, Pair, PairState, PendingCount, PruneRequest, Pruning, Removal, Row, Session,
    Setting, StorageFailure, StorageFault, Upstream, Watched,
};
use crate::ports::{Ports, Stored};

/// Answers every verb as an empty store would, or with a failure.
#[derive(Default)]
pub struct Fake {
    /// What every verb of storage fails with.
    pub fault: Option<StorageFault>,
    /// The rows of every session.
    pub rows: Vec<Row>,
    /// How often storage was called.
    pub calls: usize,
    /// What was logged.
    pub logged: Vec<String>,
    /// What is kept of the source of a session, which somebody watches.
    pub upstream: Option<Upstream>,
    /// How many events were appended.
    pub appended: u64,
    /// What time it is, in ms beyond a day in 2026.
    pub later: u64,
}

impl Fake {
    /// A store that fails.
    #[must_use]
    pub fn broken(fault: StorageFault) -> Self {
        Self { fault: Some(fault), ..Self::default() }
    }

    fn answer<T>(&mut self, value: T) -> Stored<T> {
        self.calls += 1;
        match self.fault {
            Some(fault) => Err(StorageFailure { fault, message: "try again".to_string() }),
            None => Ok(value),
        }
    }
}

impl Ports for Fake {
    fn now(&mut self) -> u64 {
        1_790_000_000_000 + self.later
    }
    fn append(&mut self, _: &AppendRequest) -> Stored<AppendOutcome> {
        self.appended += 1;
        self.answer(AppendOutcome::Appended(Appended {
            sequence: self.appended,
            head: None,
            cursors: Vec::new(),
        }))
    }
    fn save(&mut self, _: &Changes) -> Stored<()> {
        self.answer(())
    }
    fn cursors(&mut self, _: &CursorQuery, _: Option<&Pair>, _: u32) -> Stored<Vec<Watched>> {
        self.answer(Vec::new())
    }
    fn pairs(&mut self, pairs: &[Pair]) -> Stored<Vec<PairState>> {
        self.answer(pairs.iter().map(|_| PairState { cursor: None, head: None }).collect())
    }
    fn open_counts(&mut self) -> Stored<Vec<PendingCount>> {
        self.answer(Vec::new())
    }
    fn heads(&mut self, sessions: &[Session]) -> Stored<Vec<Option<Head>>> {
        self.answer(vec![None; sessions.len()])
    }
    fn history(&mut self, _: &Session, _: u64, _: u32) -> Stored<LogPage> {
        let rows = self.rows.clone();
        self.answer(LogPage { head: None, restored_at: 0, rows })
    }
    fn reset(&mut self, _: &str) -> Stored<u32> {
        self.answer(0)
    }
    fn delete(&mut self, _: &Session, _: u64) -> Stored<Removal> {
        self.answer(Removal { cursors: 0, events: 0 })
    }
    fn prune(&mut self, _: &PruneRequest) -> Stored<Pruning> {
        self.answer(Pruning { events: 0, cursors: 0, more: false })
    }
    fn restored(&mut self, by: u64) -> Stored<u64> {
        self.answer(by)
    }
    fn upstream(&mut self, session: &Session) -> Stored<Upstream> {
        let unknown = Upstream {
            session: session.clone(),
            link: None,
            sent: String::new(),
            running_until: 0,
            watched: true,
        };
        let kept = self.upstream.clone().filter(|kept| kept.session == *session);
        self.answer(kept.unwrap_or(unknown))
    }
    fn save_upstream(&mut self, upstream: &Upstream, _: u64) -> Stored<()> {
        self.upstream = Some(upstream.clone());
        self.answer(())
    }
    fn claim(&mut self, _: &ClaimRequest) -> Stored<Vec<Upstream>> {
        let kept = self.upstream.iter().filter(|kept| kept.link.is_some()).cloned().collect();
        self.answer(kept)
    }
    fn settings(&mut self, names: &[&str]) -> Stored<Vec<Option<String>>> {
        self.answer(vec![None; names.len()])
    }
    fn set(&mut self, _: &[Setting]) -> Stored<()> {
        self.answer(())
    }
    fn enqueue(&mut self, _: &[Opening]) {}
    fn log(&mut self, _: Level, message: &str) {
        self.logged.push(message.to_string());
    }
}
