//! The contract's imports, given to a core: storage and settings over one connection, the queue
//! and the log as effects, and the time.

use wasmtime::component::{HasSelf, Linker};

use crate::clock::Clock;
use crate::contract::imports::{log, queue, settings, sources, storage, types, wall_clock};
use crate::contract::{
    AppendOutcome, AppendRequest, Changes, ClaimRequest, Core, CursorQuery, Head, Level, LogPage,
    Opening, Pair, PairState, PendingCount, PruneRequest, Pruning, Removal, Session, Setting,
    StorageFailure, StorageFault, Upstream, Watched,
};
use crate::effects::Effects;
use crate::room::Room;
use crate::storage::Store;

/// What an instance reaches: everything its imports act on.
pub struct State {
    /// Absent where an instance serves no call that has a transaction.
    pub(crate) storage: Option<Store>,
    pub(crate) clock: Clock,
    pub(crate) room: Room,
    pub(crate) effects: Effects,
    /// The first storage failure of the running call: its transaction is lost, whatever the core
    /// makes of it.
    pub(crate) lost: Option<StorageFailure>,
}

/// What an import answers; the outer error ends the call as a trap.
type Answer<T> = wasmtime::Result<Result<T, StorageFailure>>;

impl State {
    /// Runs a storage verb, and remembers that it failed.
    fn stored<T>(
        &mut self,
        verb: impl FnOnce(&mut Store) -> Result<T, StorageFailure>,
    ) -> Result<T, StorageFailure> {
        let answer = match &mut self.storage {
            Some(storage) => verb(storage),
            None => Err(StorageFailure {
                fault: StorageFault::Failed,
                message: "this call has no transaction; the core may not use storage here".into(),
            }),
        };
        if let Err(failure) = &answer
            && self.lost.is_none()
        {
            self.lost = Some(failure.clone());
        }
        answer
    }
}

/// Offers the contract's imports, and nothing else.
pub(crate) fn link(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    Core::add_to_linker::<_, HasSelf<State>>(&mut linker, |state| state)?;
    Ok(linker)
}

impl types::Host for State {}

impl sources::Host for State {}

impl storage::Host for State {
    fn append(&mut self, request: AppendRequest) -> Answer<AppendOutcome> {
        Ok(self.stored(|storage| storage.append(&request)))
    }
    fn save(&mut self, changes: Changes) -> Answer<()> {
        Ok(self.stored(|storage| storage.save(&changes)))
    }
    fn cursors(
        &mut self,
        query: CursorQuery,
        after: Option<Pair>,
        limit: u32,
    ) -> Answer<Vec<Watched>> {
        Ok(self.stored(|storage| storage.cursors(&query, after.as_ref(), limit)))
    }
    fn pairs(&mut self, pairs: Vec<Pair>) -> Answer<Vec<PairState>> {
        Ok(self.stored(|storage| storage.pairs(&pairs)))
    }
    fn open_counts(&mut self) -> Answer<Vec<PendingCount>> {
        Ok(self.stored(Store::open_counts))
    }
    fn heads(&mut self, sessions: Vec<Session>) -> Answer<Vec<Option<Head>>> {
        Ok(self.stored(|storage| storage.heads(&sessions)))
    }
    fn history(&mut self, session: Session, after: u64, limit: u32) -> Answer<LogPage> {
        Ok(self.stored(|storage| storage.history(&session, after, limit)))
    }
    fn reset(&mut self, watcher: String) -> Answer<u32> {
        Ok(self.stored(|storage| storage.reset(&watcher)))
    }
    fn delete(&mut self, session: Session, now: u64) -> Answer<Removal> {
        Ok(self.stored(|storage| storage.delete(&session, now)))
    }
    fn prune(&mut self, request: PruneRequest) -> Answer<Pruning> {
        Ok(self.stored(|storage| storage.prune(&request)))
    }
    fn restored(&mut self, by: u64) -> Answer<u64> {
        Ok(self.stored(|storage| storage.restored(by)))
    }
    fn upstream_of(&mut self, session: Session) -> Answer<Upstream> {
        Ok(self.stored(|storage| storage.upstream_of(&session)))
    }
    fn save_upstream(&mut self, upstream: Upstream, now: u64) -> Answer<()> {
        Ok(self.stored(|storage| storage.save_upstream(&upstream, now)))
    }
    fn claim(&mut self, request: ClaimRequest) -> Answer<Vec<Upstream>> {
        Ok(self.stored(|storage| storage.claim(&request)))
    }
}

impl settings::Host for State {
    fn get(&mut self, names: Vec<String>) -> Answer<Vec<Option<String>>> {
        Ok(self.stored(|storage| storage.settings(&names)))
    }
    fn set(&mut self, settings: Vec<Setting>) -> Answer<()> {
        Ok(self.stored(|storage| storage.set(&settings)))
    }
}

impl queue::Host for State {
    fn enqueue(&mut self, openings: Vec<Opening>) -> wasmtime::Result<()> {
        self.effects.enqueue(openings);
        Ok(())
    }
}

impl log::Host for State {
    fn write(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        self.effects.log(level, message);
        Ok(())
    }
}

impl wall_clock::Host for State {
    fn now(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        let now = self.clock.now();
        // The remainder is below 1,000, so its nanoseconds fit.
        let nanoseconds = u32::try_from(now % 1_000).unwrap_or(0) * 1_000_000;
        Ok(wall_clock::Datetime { seconds: now / 1_000, nanoseconds })
    }
    fn resolution(&mut self) -> wasmtime::Result<wall_clock::Datetime> {
        Ok(wall_clock::Datetime { seconds: 0, nanoseconds: 1_000_000 })
    }
}
