//! Tells an agent session, once, that another session changed behind its back, and lets it catch
//! up exactly.
//!
//! Sessions hold assumptions about one another. A *signal* records that one of them changed; every
//! session that *watches* it gets one coalesced *notice*; and the *delta* after a version that it
//! knows brings it up to date. The logic is a WebAssembly component; this crate runs it in wasmtime
//! over a `SQLite` file.
//!
//! ```
//! use headsup::{Actor, Awareness, GoalChange, Listener, Notice, Recording, Signal};
//!
//! struct Gateway;
//! impl Listener for Gateway {
//!     fn notice(&self, watcher: &str, notice: &Notice) {
//!         println!("for {watcher}: {}", notice.text);
//!     }
//! }
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("headsup.db");
//! let awareness = Awareness::builder(&path).listener(Gateway).open()?;
//! let (parent, child) = ("agent:main:main", "agent:main:subagent:child");
//!
//! // The parent spawns a child, and thereby watches it.
//! awareness.record(Signal::child_spawned(child, "run-1", Actor::agent(parent)))?;
//! // A human changes the child's goal behind the parent's back ...
//! let goal = Signal::goal_changed(child, GoalChange::Updated, Actor::human());
//! assert_eq!(awareness.record(goal)?, Recording::Recorded(2));
//! // ... which the parent's next turn is told once, and catches up on.
//! for notice in awareness.drain(parent)?.notices {
//!     let delta = awareness.changes_since(&notice.target, notice.since, None)?;
//!     assert_eq!(delta.events[0].summary, "goal updated");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//!
//! - [`Awareness`] is the typed API, [`Builder`] how it is opened, [`Listener`] who hears of news;
//!   [`Awareness::call`] speaks JSON-RPC.
//! - [`Plugin`] and [`Engine`] load cores, [`Inspection`] looks at one, [`Awareness::swap`] changes
//!   it at run time.
//! - [`rpc`] answers lines, and `server` a Unix socket and HTTP.
//! - [`contract`] is the vocabulary, generated from the WIT files.
//!
//! The modules stand in the order in which a call passes them.

mod adoption;
mod awareness;
mod builder;
mod errands;
mod explain;
mod inner;
mod recording;
mod signal;
mod wire;

mod desk;
mod readers;
mod writer;

mod engine;
mod imports;
mod instance;
mod interface;
mod plugin;
mod room;
mod swap;

pub mod contract;
pub mod storage;
mod stores;

mod checks;
mod monitor;
mod sources;

mod alarm;
mod clock;
mod effects;
mod queue;
mod timed;
mod upkeep;
mod wake;

pub mod config;
pub mod conformance;
pub mod examination;
pub mod rpc;
#[cfg(feature = "server")]
pub mod server;

mod error;

#[cfg(test)]
mod tests;

pub use awareness::Awareness;
pub use builder::Builder;
pub use clock::LATEST;
pub use contract::{
    Access, Acknowledgement, Actor, ActorType, Adopted, Adoption, AdoptionRequest, Check, Delta,
    DirectMessage, Drained, Event, ExplainedRow, Failure, FileFound, FileRead, Finding, Found,
    GoalChange, Happening, InvalidInput, InvalidReason, Kind, Level, Metadata, Notice,
    PendingCount, PendingNotice, Plan, Policy, Provenance, Pruning, Reader, Receipt, Recovery,
    Removal, RunOutcome, Selection, Session, SessionRef, Signal, Source, StorageFailure,
    StorageFault, Tally, Unwatchable, Urgency, WatchAnswer, WatchEntry,
};
pub use engine::Engine;
pub use error::{Error, OpenError};
pub use explain::{ExplainError, Explained, ExplainedLine};
pub use interface::{Inspection, Interfaces, Surface};
pub use plugin::{Plugin, PluginError};
pub use queue::{Listener, Listeners, TracingListener};
pub use recording::Recording;
pub use sources::{FolderFiles, SourceFiles, user_folders};
pub use storage::{Durability, LinkState};

/// The program of the guide for Rust, run as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding/rust.md")]
mod guide {}

/// That of the README, and the driver of the guide for hosts, compiled as they stand there.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
#[doc = include_str!("../../docs/embedding/own-host.md")]
mod pages {}
