//! A store for tests that remembers one adopted session and what it was told, or fails.

use core::marker::PhantomData;

use crate::contract::{
    AppendOutcome, AppendRequest, Appended, Changes, ClaimRequest, Cursor, CursorQuery, Head,
    Level, LogPage, Opening, Pair, PairState, PendingCount, PruneRequest, Pruning, Removal, Row,
    Session, Setting, StorageFailure, StorageFault, Upstream, Watched,
};
use crate::ports::{Ports, Stored};
use crate::rules::{Protocol, Rules};

/// The store under the protocol's rules.
pub type Fake = FakeUnder<Protocol>;

/// Answers every verb as an empty store would, or with a failure.
pub struct FakeUnder<R> {
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
    /// What the queue was told.
    pub enqueued: Vec<Opening>,
    /// What was saved.
    pub saved: Vec<Changes>,
    /// The cursors that an append finds.
    pub cursors: Vec<Cursor>,
    /// Under which it stands.
    pub rules: PhantomData<R>,
}

impl<R> Default for FakeUnder<R> {
    fn default() -> Self {
        Self {
            fault: None,
            rows: Vec::new(),
            calls: 0,
            logged: Vec::new(),
            upstream: None,
            appended: 0,
            later: 0,
            enqueued: Vec::new(),
            saved: Vec::new(),
            cursors: Vec::new(),
            rules: PhantomData,
        }
    }
}

impl<R> FakeUnder<R> {
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

impl<R: Rules> Ports for FakeUnder<R> {
    type Rules = R;

    fn now(&mut self) -> u64 {
        1_790_000_000_000 + self.later
    }
    fn append(&mut self, _: &AppendRequest) -> Stored<AppendOutcome> {
        self.appended += 1;
        self.answer(AppendOutcome::Appended(Appended {
            sequence: self.appended,
            head: None,
            cursors: self.cursors.clone(),
        }))
    }
    fn save(&mut self, changes: &Changes) -> Stored<()> {
        self.saved.push(changes.clone());
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
    fn enqueue(&mut self, openings: &[Opening]) {
        self.enqueued.extend_from_slice(openings);
    }
    fn log(&mut self, _: Level, message: &str) {
        self.logged.push(message.to_string());
    }
}
