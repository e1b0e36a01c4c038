//! The vocabulary, as generated from the WIT files in `wit/`: the one definition of every record
//! that crosses the boundary. Only this file, `guest.rs` and the macro of `rules.rs` know wit-bindgen.

// Generated code; its documentation is the WIT's own.
#![allow(missing_docs, unsafe_code, unused_qualifications, clippy::all, clippy::pedantic)]

wit_bindgen::generate!({
    world: "core",
    path: "../wit",
    additional_derives: [PartialEq, Eq],
    generate_all,
    pub_export_macro: true,
    default_bindings_module: "crate::contract",
    // There are no constructors of a C library to run before a call.
    disable_run_ctors_once_workaround: true,
});

pub use exports::headsup::awareness::maintenance::{Policy, Recovery, Urgency};
pub use exports::headsup::awareness::notices::{Acknowledgement, Drained, PendingNotice, Receipt};
pub use exports::headsup::awareness::plugin::Metadata;
pub use exports::headsup::awareness::reconciliation::Delta;
pub use exports::headsup::awareness::upstreams::{
    Adopted, AdoptionRequest, Check, Explanation, Finding, Plan, Selection,
};
pub use exports::headsup::awareness::watches::{Unwatchable, WatchAnswer, WatchEntry};
pub use exports::headsup::awareness::wire::{Access, Errand, ErrandDone, Failure, Method};
pub use headsup::awareness::log::Level;
pub use headsup::awareness::queue::{Delivery, Opening};
pub use headsup::awareness::settings::Setting;
pub use headsup::awareness::sources::{
    ExplainedRow, FileFound, FileRead, Found, Reader, Source, Tally,
};
pub use headsup::awareness::storage::{
    AppendOutcome, AppendRequest, Appended, Changes, ClaimRequest, Cursor, CursorQuery,
    CursorState, Entry, Head, HeadChange, Link, LogPage, Notifying, Pair, PairState, Positions,
    PruneRequest, Row, Upstream, Watched,
};
pub use headsup::awareness::types::{
    Actor, ActorType, Adoption, DirectMessage, Error, Event, GoalChange, Happening, InvalidInput,
    InvalidReason, Kind, Notice, Outcome, PendingCount, Provenance, Pruning, Removal, RunOutcome,
    Session, SessionRef, Signal, StorageFailure, StorageFault,
};
