//! A running core: one instance with its limits, and what its calls end as.

use std::time::Duration;

use rustc_demangle::demangle;
use wasmtime::component::InstancePre;
use wasmtime::{FrameInfo, StoreLimits, StoreLimitsBuilder, Trap, WasmBacktrace};

use crate::clock::Clock;
use crate::contract::{Core, CoreIndices, Failure};
use crate::effects::Effects;
use crate::engine::{Engine, ticks};
use crate::imports::State;
use crate::room::Room;
use crate::storage::Store;

/// Most elements of a core's tables; those of the built-in core have a few hundred.
const TABLE_ELEMENTS: usize = 20_000;

/// Most bytes that a core may hand to the host in one import call.
const HOSTCALL_BYTES: usize = 128 << 20;

/// The words about a trap are cut here, in bytes: part of them is the core's own.
const WORDS: usize = 1_000;

/// Where a call runs: the exports, and the store they are called with.
pub(crate) type Guest<'a> = &'a mut wasmtime::Store<State>;

/// How much a core may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of linear memory an instance may have.
    pub(crate) memory: usize,
    /// How long an ordinary call may take.
    pub(crate) deadline: Duration,
    /// How long recovery, pruning and marking a store as restored may take a transaction.
    pub(crate) long_deadline: Duration,
}

impl Limits {
    fn of_store(self) -> StoreLimits {
        StoreLimitsBuilder::new()
            .memory_size(self.memory)
            .table_elements(TABLE_ELEMENTS)
            // A component is made of several core instances: its own, adapters and shims.
            .instances(16)
            .memories(4)
            .tables(16)
            .trap_on_grow_failure(true)
            .build()
    }
}

/// What becomes of what a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The core answered ok.
    Keep,
    /// The core answered with an error, or storage failed under it.
    Undo,
    /// The core did not answer: its instance serves no more calls.
    Trapped,
}

/// A compiled core whose imports are filled in and whose exports are found.
pub(crate) struct Linked {
    pub(crate) pre: InstancePre<State>,
    pub(crate) indices: CoreIndices,
}

/// A core that could not even start, and the connection it was to have.
pub(crate) struct Unstarted {
    pub(crate) failure: Failure,
    /// If it ran, but its exports have other types than the contract's: how they differ.
    pub(crate) mismatch: Option<String>,
    pub(crate) storage: Option<Store>,
}

/// An instance of a core. After a trap it serves no more calls: [`into_storage`](Self::into_storage)
/// saves the connection.
pub(crate) struct Instance {
    engine: Engine,
    store: wasmtime::Store<State>,
    core: Core,
}

impl Instance {
    /// Instantiates a core over a connection, or over none for calls that have no transaction. A
    /// core that cannot even start gives the connection back with the failure.
    pub(crate) fn new(
        engine: &Engine,
        linked: &Linked,
        clock: &Clock,
        limits: Limits,
        storage: Option<Store>,
    ) -> Result<Self, Box<Unstarted>> {
        let state = State {
            storage,
            clock: clock.clone(),
            room: Room::new(limits.of_store()),
            effects: Effects::default(),
            lost: None,
        };
        let mut store = wasmtime::Store::new(engine.wasmtime(), state);
        store.limiter(|state| &mut state.room);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        store.set_epoch_deadline(ticks(limits.deadline));
        let running = engine.running();
        let started = linked.pre.instantiate(&mut store).map_err(|error| (error, false));
        let core = started.and_then(|instance| {
            let core = linked.indices.load(&mut store, &instance);
            core.map_err(|error| (error, true))
        });
        drop(running);
        match core {
            Ok(core) => Ok(Self { engine: engine.clone(), store, core }),
            Err((error, mismatch)) => Err(Box::new(Unstarted {
                failure: failure(&error, limits.deadline, store.data()),
                mismatch: mismatch.then(|| format!("{error:#}")),
                storage: store.into_data().storage,
            })),
        }
    }

    /// Calls the core. On a failure this instance has to be given up.
    pub(crate) fn call<T>(
        &mut self,
        deadline: Duration,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<T>,
    ) -> Result<T, Failure> {
        let running = self.engine.running();
        self.store.set_epoch_deadline(ticks(deadline));
        let answer = body(&self.core, &mut self.store);
        drop(running);
        answer.map_err(|error| failure(&error, deadline, self.store.data()))
    }

    /// Calls an export whose answer decides over its transaction. If storage failed under the core,
    /// the transaction is lost even if the core says ok.
    pub(crate) fn transact<T, E>(
        &mut self,
        deadline: Duration,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<Result<T, E>>,
    ) -> (Result<Result<T, E>, Failure>, Verdict) {
        self.state().lost = None;
        match self.call(deadline, body) {
            Err(failure) => (Err(failure), Verdict::Trapped),
            Ok(Err(refusal)) => (Ok(Err(refusal)), Verdict::Undo),
            Ok(Ok(value)) => match &self.state().lost {
                Some(failure) => (Err(Failure::Storage(failure.clone())), Verdict::Undo),
                None => (Ok(Ok(value)), Verdict::Keep),
            },
        }
    }

    /// The connection, if this instance has one.
    pub(crate) fn storage(&mut self) -> Option<&mut Store> {
        self.store.data_mut().storage.as_mut()
    }

    /// The state that the imports act on.
    pub(crate) fn state(&mut self) -> &mut State {
        self.store.data_mut()
    }

    /// Whether it took so much memory that the next call is better off with another instance.
    pub(crate) fn is_swollen(&self) -> bool {
        self.store.data().room.is_swollen()
    }

    /// What was collected since this was last asked.
    pub(crate) fn take_effects(&mut self) -> Effects {
        std::mem::take(&mut self.store.data_mut().effects)
    }

    /// Gives the instance up and saves its connection.
    pub(crate) fn into_storage(self) -> Option<Store> {
        self.store.into_data().storage
    }
}

/// Words how a call ended that returned nothing.
fn failure(error: &wasmtime::Error, deadline: Duration, state: &State) -> Failure {
    if error.downcast_ref::<Trap>() == Some(&Trap::Interrupt) {
        let ms = u32::try_from(deadline.as_millis()).unwrap_or(u32::MAX);
        return Failure::Timeout(ms);
    }
    let mut words = error.root_cause().to_string();
    if let Some(function) = innermost(error) {
        // Without its hash, and as it is if it is no name of Rust's.
        words = format!("{words}, in `{:#}`", demangle(function));
    }
    if let Some(said) = state.effects.last_error() {
        words = format!("{words}: {said}");
    }
    words.truncate(words.floor_char_boundary(WORDS));
    Failure::Trap(words.replace(char::is_control, " "))
}

/// The function that trapped, if names were kept: the first that is not panic machinery.
fn innermost(error: &wasmtime::Error) -> Option<&str> {
    let backtrace = error.downcast_ref::<WasmBacktrace>()?;
    let names = || backtrace.frames().iter().filter_map(FrameInfo::func_name);
    names()
        .find(|name| !name.contains("panic") && !name.contains("begin_unwind"))
        .or_else(|| names().next())
}

#[cfg(test)]
mod tests {
    use wasmtime::ResourceLimiter;

    use super::*;

    #[test]
    fn a_table_has_at_most_20_000_elements() {
        let second = Duration::from_secs(1);
        let limits = Limits { memory: 1 << 20, deadline: second, long_deadline: second };
        let mut room = Room::new(limits.of_store());
        assert!(room.table_growing(0, 20_000, None).unwrap());
        assert!(room.table_growing(0, 20_001, None).is_err());
        assert!(room.table_growing(20_000, 20_001, Some(30_000)).is_err());
    }
}
