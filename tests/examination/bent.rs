//! headsup's own storage, bent: a wrapper that does one thing wrong.

use std::collections::HashMap;
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard};

use headsup::contract::imports::{log, queue, settings, sources, storage, types, wall_clock};
use headsup::contract::{
    AppendOutcome, AppendRequest, Changes, ClaimRequest, Cursor, CursorQuery, CursorState, Head,
    Level, LogPage, Opening, Pair, PairState, PendingCount, Positions, Provenance, PruneRequest,
    Pruning, Removal, Session, Setting, StorageFailure, StorageFault, Upstream, Watched,
};
use headsup::examination::{Ending, FileSeat, FileStage, News, Seat, Stage, Transaction};

/// What is done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing in the code; the file was tampered with.
    InTheFile,
    DuplicatesAppended,
    DedupeOverAllSessions,
    WatchedOrNot,
    SettledWithPending,
    NamedMissing,
    HistoryLimitIgnored,
    HistoryAfterInclusive,
    CursorLimitIgnored,
    CursorAfterInclusive,
    CaseFolded,
    MarksListed,
    EveryCursorCounted,
    EmptyIsAbsent,
    ByteOrderMarkStripped,
    LargeNumbersRounded,
    RollbackKept,
    TrapKept,
    FailureKept,
    WorksWithoutTransaction,
    SnapshotNotHeld,
    SettingsOutside,
    DeliveredThoughRolledBack,
    DeliveredBeforeCommit,
    DeliveredInReverse,
    LinesRolledBack,
    PrunedOnTheLine,
    MoreNeverSaid,
    DeletedByKeyAlone,
    RestoredForgotten,
    ClaimedTwice,
    ClaimLostOnSave,
    KindsIgnored,
    ClockBackwards,
    ClockInMilliseconds,
}

/// What a fault has to remember, for all connections.
#[derive(Default)]
struct Memory {
    keys: HashMap<String, u64>,
    marks: Vec<Cursor>,
    settings: HashMap<String, String>,
    openings: Vec<Opening>,
    ticks: u64,
}

/// A store with a fault.
pub struct BentStage {
    real: FileStage,
    fault: Fault,
    memory: Arc<Mutex<Memory>>,
}

impl BentStage {
    pub fn new(real: FileStage, fault: Fault) -> Self {
        Self { real, fault, memory: Arc::default() }
    }
}

impl Stage for BentStage {
    type Seat = Bent;

    fn seat(&self, transaction: Transaction) -> Result<Bent, String> {
        let real = self.real.seat(transaction)?;
        Ok(Bent { real, fault: self.fault, memory: Arc::clone(&self.memory), transaction })
    }

    fn is_shared(&self) -> bool {
        self.real.is_shared()
    }

    fn take_news(&self) -> News {
        let mut news = self.real.take_news();
        news.openings.extend(take(&mut self.memory.lock().unwrap().openings));
        news
    }
}

/// A connection with a fault.
pub struct Bent {
    real: FileSeat,
    fault: Fault,
    memory: Arc<Mutex<Memory>>,
    transaction: Transaction,
}

impl Bent {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap()
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// The real imports; each time on a new snapshot, if that is the fault.
    fn real(&mut self) -> &mut <FileSeat as Seat>::Imports {
        if self.has(Fault::SnapshotNotHeld) && self.transaction == Transaction::Reads {
            self.real.end(Ending::Error).unwrap();
            self.real.begin(Transaction::Reads).unwrap();
        }
        self.real.imports()
    }

    /// All cursors of a query.
    fn all(&mut self, query: &CursorQuery) -> Answer<Vec<Watched>> {
        storage::Host::cursors(self.real(), query.clone(), None, u32::MAX)
    }
}

impl Seat for Bent {
    type Imports = Self;

    fn imports(&mut self) -> &mut Self {
        self
    }

    fn begin(&mut self, transaction: Transaction) -> Result<(), String> {
        self.transaction = transaction;
        let works = self.has(Fault::WorksWithoutTransaction);
        let without = works && transaction == Transaction::None;
        self.real.begin(if without { Transaction::Writes } else { transaction })
    }

    fn end(&mut self, ending: Ending) -> Result<(), String> {
        let keeps = match ending {
            Ending::Ok => true,
            Ending::Error => self.has(Fault::RollbackKept),
            Ending::Trap => self.has(Fault::TrapKept),
        };
        if !keeps && !self.has(Fault::DeliveredThoughRolledBack) {
            self.memory().openings.clear();
        }
        self.real.end(if keeps { Ending::Ok } else { ending })
    }

    fn effort(&mut self) -> Option<u64> {
        self.real.effort()
    }
}

/// What an import answers.
type Answer<T> = wasmtime::Result<Result<T, StorageFailure>>;

impl types::Host for Bent {}

impl sources::Host for Bent {}

impl storage::Host for Bent {
    fn append(&mut self, mut request: AppendRequest) -> Answer<AppendOutcome> {
        let entry = &mut request.entry;
        let key = entry.dedupe_key.clone();
        match self.fault {
            Fault::DuplicatesAppended => entry.dedupe_key = None,
            Fault::DedupeOverAllSessions => {
                let known = key.as_ref().and_then(|key| self.memory().keys.get(key).copied());
                if let Some(sequence) = known {
                    return Ok(Ok(AppendOutcome::Duplicate(sequence)));
                }
            }
            Fault::WatchedOrNot => request.only_if_watched = false,
            Fault::NamedMissing => request.named.clear(),
            Fault::EmptyIsAbsent => {
                entry.actor_id = entry.actor_id.take().filter(|id| !id.is_empty());
            }
            Fault::ByteOrderMarkStripped => {
                entry.summary = entry.summary.trim_start_matches('\u{feff}').to_owned();
            }
            Fault::LargeNumbersRounded => entry.occurred_at &= !1,
            _ => {}
        }
        let session = request.entry.session.clone();
        let settled = request.settled;
        let mut answer = storage::Host::append(self.real(), request)?;
        if let Ok(AppendOutcome::Appended(appended)) = &mut answer {
            if let Some(key) = key {
                self.memory().keys.insert(key, appended.sequence);
            }
            if settled && self.has(Fault::SettledWithPending) {
                let all = self.all(&CursorQuery::OnTarget(session))?;
                appended.cursors = all.unwrap().into_iter().map(|it| it.cursor).collect();
            }
        }
        Ok(answer)
    }

    fn save(&mut self, changes: Changes) -> Answer<()> {
        let marks = changes.cursors.iter().filter(|it| it.state == CursorState::Unwatched);
        self.memory().marks.extend(marks.cloned());
        storage::Host::save(self.real(), changes)
    }

    fn cursors(
        &mut self,
        query: CursorQuery,
        after: Option<Pair>,
        limit: u32,
    ) -> Answer<Vec<Watched>> {
        let most = usize::try_from(limit).unwrap();
        let place = |pair: &Pair| {
            (pair.watcher.clone(), pair.target.key.clone(), pair.target.agent.clone())
        };
        match self.fault {
            Fault::CursorLimitIgnored => {
                storage::Host::cursors(self.real(), query, after, u32::MAX)
            }
            Fault::CursorAfterInclusive => {
                let mut all = self.all(&query)?.unwrap();
                let after = after.as_ref().map(place);
                all.retain(|it| {
                    after.as_ref().is_none_or(|after| place(&it.cursor.pair) >= *after)
                });
                all.truncate(most);
                Ok(Ok(all))
            }
            Fault::CaseFolded => {
                let mut found = storage::Host::cursors(self.real(), query, after, limit)?.unwrap();
                found.sort_by_key(|it| {
                    let (watcher, key, agent) = place(&it.cursor.pair);
                    (watcher.to_lowercase(), key.to_lowercase(), agent)
                });
                Ok(Ok(found))
            }
            Fault::MarksListed => {
                let mut found =
                    storage::Host::cursors(self.real(), query.clone(), after, limit)?.unwrap();
                let marks = self.memory().marks.clone();
                found.extend(marks.into_iter().filter_map(|mark| as_if_live(mark, &query)));
                Ok(Ok(found))
            }
            _ => storage::Host::cursors(self.real(), query, after, limit),
        }
    }

    fn pairs(&mut self, pairs: Vec<Pair>) -> Answer<Vec<PairState>> {
        storage::Host::pairs(self.real(), pairs)
    }

    fn open_counts(&mut self) -> Answer<Vec<PendingCount>> {
        let mut counts = storage::Host::open_counts(self.real())?;
        if self.has(Fault::EveryCursorCounted)
            && let Ok(counts) = &mut counts
        {
            for count in counts {
                let of_watcher = CursorQuery::OfWatcher(count.watcher.clone());
                count.notices = u32::try_from(self.all(&of_watcher)?.unwrap().len()).unwrap();
            }
        }
        Ok(counts)
    }

    fn heads(&mut self, sessions: Vec<Session>) -> Answer<Vec<Option<Head>>> {
        storage::Host::heads(self.real(), sessions)
    }

    fn history(&mut self, session: Session, after: u64, limit: u32) -> Answer<LogPage> {
        let (after, limit) = match self.fault {
            Fault::HistoryLimitIgnored => (after, u32::MAX),
            Fault::HistoryAfterInclusive => (after.saturating_sub(1), limit),
            _ => (after, limit),
        };
        let mut page = storage::Host::history(self.real(), session, after, limit)?;
        if self.has(Fault::RestoredForgotten)
            && let Ok(page) = &mut page
        {
            page.restored_at = 0;
        }
        Ok(page)
    }

    fn reset(&mut self, watcher: String) -> Answer<u32> {
        storage::Host::reset(self.real(), watcher)
    }

    fn delete(&mut self, session: Session, now: u64) -> Answer<Removal> {
        if self.has(Fault::DeletedByKeyAlone) {
            let namesake = Session { agent: "other".into(), ..session.clone() };
            storage::Host::delete(self.real(), namesake, now)?.unwrap();
        }
        storage::Host::delete(self.real(), session, now)
    }

    fn prune(&mut self, mut request: PruneRequest) -> Answer<Pruning> {
        if self.has(Fault::PrunedOnTheLine) {
            request.occurred_before = request.occurred_before.map(|before| before + 1);
        }
        let more = |pruning: Pruning| Pruning { more: false, ..pruning };
        let pruned = storage::Host::prune(self.real(), request)?;
        Ok(if self.has(Fault::MoreNeverSaid) { pruned.map(more) } else { pruned })
    }

    fn restored(&mut self, by: u64) -> Answer<u64> {
        if self.has(Fault::FailureKept) && by > 1 << 40 {
            // It fails without the transaction's being lost.
            let message = "too far".into();
            return Ok(Err(StorageFailure { fault: StorageFault::Failed, message }));
        }
        storage::Host::restored(self.real(), by)
    }

    fn upstream_of(&mut self, session: Session) -> Answer<Upstream> {
        storage::Host::upstream_of(self.real(), session)
    }

    fn save_upstream(&mut self, mut upstream: Upstream, now: u64) -> Answer<()> {
        if self.has(Fault::ClaimLostOnSave)
            && let Some(link) = &mut upstream.link
        {
            link.claimed = false;
        }
        storage::Host::save_upstream(self.real(), upstream, now)
    }

    fn claim(&mut self, mut request: ClaimRequest) -> Answer<Vec<Upstream>> {
        request.claimed_too |= self.has(Fault::ClaimedTwice);
        if self.has(Fault::KindsIgnored) {
            request.kinds = ["claude-jsonl", "claude-node", "codex-jsonl"].map(Into::into).into();
        }
        storage::Host::claim(self.real(), request)
    }
}

/// What a mark would be in a list.
fn as_if_live(mark: Cursor, query: &CursorQuery) -> Option<Watched> {
    let fits = match query {
        CursorQuery::OfWatcher(watcher) => mark.pair.watcher == *watcher,
        CursorQuery::OnTarget(target) => mark.pair.target == *target,
        CursorQuery::OpenOf(_) | CursorQuery::Open => false,
    };
    let positions = Positions { last_seen: 0, notified: 0, provenance: Provenance::Explicit };
    let cursor = Cursor { state: CursorState::Live(positions), ..mark };
    fits.then_some(Watched { cursor, head: None })
}

impl settings::Host for Bent {
    fn get(&mut self, names: Vec<String>) -> Answer<Vec<Option<String>>> {
        if self.has(Fault::SettingsOutside) {
            let memory = self.memory();
            return Ok(Ok(names.iter().map(|name| memory.settings.get(name).cloned()).collect()));
        }
        settings::Host::get(self.real(), names)
    }

    fn set(&mut self, values: Vec<Setting>) -> Answer<()> {
        if self.has(Fault::SettingsOutside) {
            let values = values.into_iter().map(|it| (it.name, it.value));
            self.memory().settings.extend(values);
            return Ok(Ok(()));
        }
        settings::Host::set(self.real(), values)
    }
}

impl queue::Host for Bent {
    fn enqueue(&mut self, mut openings: Vec<Opening>) -> wasmtime::Result<()> {
        match self.fault {
            Fault::DeliveredThoughRolledBack | Fault::DeliveredBeforeCommit => {
                self.memory().openings.extend(openings);
                return Ok(());
            }
            Fault::DeliveredInReverse => openings.reverse(),
            _ => {}
        }
        queue::Host::enqueue(self.real(), openings)
    }
}

impl log::Host for Bent {
    fn write(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        if self.has(Fault::LinesRolledBack) && self.transaction != Transaction::Writes {
            return Ok(());
        }
        log::Host::write(self.real(), level, message)
    }
}

impl wall_clock::Host for Bent {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        let mut now = wall_clock::Host::now(self.real())?;
        match self.fault {
            Fault::ClockBackwards => {
                let mut memory = self.memory();
                memory.ticks += 1;
                now.seconds -= memory.ticks;
            }
            Fault::ClockInMilliseconds => now.seconds *= 1_000,
            _ => {}
        }
        Ok(now)
    }

    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        wall_clock::Host::resolution(self.real())
    }
}
