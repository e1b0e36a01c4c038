//! The vocabulary, as generated from the WIT files in `wit/`: the one definition of every record
//! that crosses the boundary, under the same flat names as in the component.
//!
//! Every import may trap its caller: an import that returns `result<T, storage-failure>` is
//! implemented as `wasmtime::Result<Result<T, StorageFailure>>`, where the outer error is the trap.

mod generated {
    // Generated code; its documentation is the WIT's own.
    #![allow(missing_docs, unused_qualifications, clippy::all, clippy::pedantic)]

    wasmtime::component::bindgen!({
        world: "core",
        path: "../wit",
        imports: { default: trappable },
        additional_derives: [PartialEq, Eq, Hash],
    });
}

/// The interfaces that a host implements for the core, and adds to a linker.
pub mod imports {
    pub use super::generated::headsup::awareness::{log, queue, settings, sources, storage, types};
    pub use super::generated::wasi::clocks::wall_clock;
}

/// The interfaces that the core implements, as typed calls on an instance.
pub mod exports {
    pub use super::generated::exports::headsup::awareness::{
        maintenance, notices, plugin, reconciliation, signals, upstreams, watches, wire,
    };
}

pub use generated::{Core, CoreIndices, CorePre};

pub use exports::maintenance::{Policy, Recovery, Urgency};
pub use exports::notices::{Acknowledgement, Drained, PendingNotice, Receipt};
pub use exports::plugin::Metadata;
pub use exports::reconciliation::Delta;
pub use exports::upstreams::{
    Adopted, AdoptionRequest, Check, Explanation, Finding, Plan, Selection,
};
pub use exports::watches::{Unwatchable, WatchAnswer, WatchEntry};
pub use exports::wire::{Access, Errand, ErrandDone, Failure, Method};
pub use imports::log::Level;
pub use imports::queue::{Delivery, Opening};
pub use imports::settings::Setting;
pub use imports::sources::{ExplainedRow, FileFound, FileRead, Found, Reader, Source, Tally};
pub use imports::storage::{
    AppendOutcome, AppendRequest, Appended, Changes, ClaimRequest, Cursor, CursorQuery,
    CursorState, Entry, Head, HeadChange, Link, LogPage, Notifying, Pair, PairState, Positions,
    PruneRequest, Row, Upstream, Watched,
};
pub use imports::types::{
    Actor, ActorType, Adoption, DirectMessage, Error, Event, GoalChange, Happening, InvalidInput,
    InvalidReason, Kind, Notice, Outcome, PendingCount, Provenance, Pruning, Removal, RunOutcome,
    Session, SessionRef, Signal, StorageFailure, StorageFault,
};
