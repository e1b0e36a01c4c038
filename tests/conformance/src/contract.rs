//! The vocabulary, as generated from the WIT files, under flat names.

// Generated code; its documentation is the WIT's own.
#![allow(unsafe_code, unused_qualifications, clippy::all, clippy::pedantic)]

wit_bindgen::generate!({
    world: "conformance",
    path: "../../wit",
    additional_derives: [PartialEq, Eq],
    generate_all,
    pub_export_macro: true,
    default_bindings_module: "crate::contract",
    // There are no constructors of a C library to run before a call.
    disable_run_ctors_once_workaround: true,
});

pub use exports::headsup::awareness::examination::{
    Beginning, Breach, Case, Finding, Guest, News, StepPlan, Transaction,
};
pub use headsup::awareness::log::{self, Level};
pub use headsup::awareness::queue::{self, Delivery, Opening};
pub use headsup::awareness::rival;
pub use headsup::awareness::settings::{self, Setting};
pub use headsup::awareness::sources::Source;
pub use headsup::awareness::storage::{
    self, AppendOutcome, AppendRequest, Appended, Changes, ClaimRequest, Cursor, CursorQuery,
    CursorState, Entry, Head, HeadChange, Link, LogPage, Notifying, Pair, PairState, Positions,
    PruneRequest, Upstream, Watched,
};
pub use headsup::awareness::types::{
    Notice, PendingCount, Provenance, Pruning, Removal, Session, StorageFailure,
};
pub use wasi::clocks::wall_clock;
