//! Whether storage, settings, queue, log and clock of a host are right: plays the cases of the storage
//! conformance component (`tests/conformance`, `make component`), as `wit/conformance.wit` says.
//!
//! What is examined is a [`Stage`]. [`FileStage`] is headsup's own: the code that serves cores. Who
//! keeps a store of another kind, in Rust, implements one and has it examined likewise.
//!
//! ```no_run
//! use headsup::Engine;
//! use headsup::examination::{Examination, FileStage};
//! use headsup::storage::StoreOptions;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let component = std::fs::read("target/guest/headsup-conformance.wasm")?;
//! let examination = Examination::new(&Engine::new(None)?, &component)?;
//! let mut stores = 0..;
//! let report = examination.play(|| {
//!     let path = format!("scratch/{}.db", stores.next().unwrap_or(0));
//!     FileStage::open(&StoreOptions::new(path)).map_err(|failure| failure.message)
//! })?;
//! println!("{report}");
//! # Ok(())
//! # }
//! ```

mod file;
mod game;
mod report;

use std::sync::Arc;

use wasmtime::component::{Component, HasSelf, Linker};

use crate::contract::imports::{log, queue, settings, sources, storage, types, wall_clock};
use crate::engine::Engine;
use crate::plugin::{self, PluginError};
use game::{Examiner, Game, Sitting};

pub use contract::{Line, News, Transaction};
pub use file::{FileSeat, FileStage};
pub use report::{Found, Report, What};

/// The vocabulary of the examination, as generated from `wit/conformance.wit`; what a core imports
/// is the contract's.
mod contract {
    mod generated {
        // Generated code; its documentation is the WIT's own.
        #![allow(missing_docs, unused_qualifications, clippy::all, clippy::pedantic)]

        wasmtime::component::bindgen!({
            world: "conformance",
            path: "../wit",
            imports: { default: trappable },
            with: {
                "headsup:awareness/types": crate::contract::imports::types,
                "headsup:awareness/sources": crate::contract::imports::sources,
                "headsup:awareness/storage": crate::contract::imports::storage,
                "headsup:awareness/settings": crate::contract::imports::settings,
                "headsup:awareness/queue": crate::contract::imports::queue,
                "headsup:awareness/log": crate::contract::imports::log,
                "wasi:clocks/wall-clock": crate::contract::imports::wall_clock,
            },
        });
    }

    pub use generated::exports::headsup::awareness::examination::{
        Beginning, Case, Finding, Line, News, StepPlan, Transaction,
    };
    pub use generated::headsup::awareness::rival;
    pub use generated::{Conformance, ConformanceIndices};
}

/// Everything that a core imports.
pub trait Imports:
    types::Host
    + sources::Host
    + storage::Host
    + settings::Host
    + queue::Host
    + log::Host
    + wall_clock::Host
    + 'static
{
}

impl<T> Imports for T where
    T: types::Host
        + sources::Host
        + storage::Host
        + settings::Host
        + queue::Host
        + log::Host
        + wall_clock::Host
        + 'static
{
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It answered ok.
    Ok,
    /// It answered with an error.
    Error,
    /// It did not answer.
    Trap,
}

/// One store under examination, of which connections are opened.
pub trait Stage: 'static {
    /// A connection.
    type Seat: Seat;

    /// Opens a connection for calls in such a transaction.
    ///
    /// # Errors
    /// Why it cannot be opened; for people.
    fn seat(&self, transaction: Transaction) -> Result<Self::Seat, String>;

    /// Whether the store can have several connections, and is still there once all are closed.
    fn is_shared(&self) -> bool;

    /// What reached the gateway since this was last asked.
    fn take_news(&self) -> News;
}

/// A connection to the store, and what one call after the other imports.
pub trait Seat: 'static {
    /// What the component imports.
    type Imports: Imports;

    /// What the component imports.
    fn imports(&mut self) -> &mut Self::Imports;

    /// Begins the transaction of a call.
    ///
    /// # Errors
    /// Why it could not begin; for people.
    fn begin(&mut self, transaction: Transaction) -> Result<(), String>;

    /// Ends it: commits after [`Ending::Ok`] and then delivers, rolls back after anything else.
    ///
    /// # Errors
    /// Why a commit failed; for people.
    fn end(&mut self, ending: Ending) -> Result<(), String>;

    /// The work that the database did so far for this connection, if that is known.
    fn effort(&mut self) -> Option<u64>;
}

/// Why nothing could be examined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExaminationError {
    /// The component cannot be loaded.
    #[error(transparent)]
    Component(#[from] PluginError),
    /// The component is not one that examines hosts of this contract.
    #[error("the component does not examine hosts of this contract: {0}")]
    Mismatch(String),
    /// A store could not be opened for a case.
    #[error("no store to examine: {0}")]
    Store(String),
}

/// The component that examines hosts, compiled.
pub struct Examination {
    engine: Engine,
    component: Component,
}

impl Examination {
    /// Compiles the component.
    ///
    /// # Errors
    /// [`ExaminationError::Component`] if it is none.
    pub fn new(engine: &Engine, component: &[u8]) -> Result<Self, ExaminationError> {
        let component = plugin::compile(engine, "the examination", component)?;
        Ok(Self { engine: engine.clone(), component })
    }

    /// Plays every case, each on a stage that `open` makes of an empty store.
    ///
    /// # Errors
    /// If the component cannot be run at all, or no store can be opened.
    pub fn play<S: Stage>(
        &self,
        open: impl FnMut() -> Result<S, String>,
    ) -> Result<Report, ExaminationError> {
        self.play_some(|_| true, open)
    }

    /// Plays the cases whose rule is wanted.
    ///
    /// # Errors
    /// As [`play`](Self::play).
    pub fn play_some<S: Stage>(
        &self,
        wanted: impl Fn(&str) -> bool,
        mut open: impl FnMut() -> Result<S, String>,
    ) -> Result<Report, ExaminationError> {
        let mismatch = |error: wasmtime::Error| ExaminationError::Mismatch(format!("{error:#}"));
        let linker = link::<S>(self.engine.wasmtime()).map_err(mismatch)?;
        let pre = linker.instantiate_pre(&self.component).map_err(mismatch)?;
        let examiner = Arc::new(Examiner::new(&self.engine, pre).map_err(mismatch)?);
        let mut open = || open().map_err(ExaminationError::Store);
        let cases = examiner.cases(&open()?).map_err(mismatch)?;
        let mut report = Report::default();
        for (number, case) in (0..).zip(cases).filter(|(_, case)| wanted(&case.rule)) {
            let game = Game::new(Arc::clone(&examiner), open()?, number, case);
            report.add(game.play());
        }
        Ok(report)
    }
}

/// Offers what a core is offered, and a rival.
fn link<S: Stage>(engine: &wasmtime::Engine) -> wasmtime::Result<Linker<Sitting<S>>> {
    type Has<S> = HasSelf<<<S as Stage>::Seat as Seat>::Imports>;
    fn imports<S: Stage>(sitting: &mut Sitting<S>) -> &mut <S::Seat as Seat>::Imports {
        sitting.seat.imports()
    }
    let mut linker = Linker::new(engine);
    types::add_to_linker::<_, Has<S>>(&mut linker, imports)?;
    sources::add_to_linker::<_, Has<S>>(&mut linker, imports)?;
    storage::add_to_linker::<_, Has<S>>(&mut linker, imports)?;
    settings::add_to_linker::<_, Has<S>>(&mut linker, imports)?;
    queue::add_to_linker::<_, Has<S>>(&mut linker, imports)?;
    log::add_to_linker::<_, Has<S>>(&mut linker, imports)?;
    wall_clock::add_to_linker::<_, Has<S>>(&mut linker, imports)?;
    contract::rival::add_to_linker::<_, HasSelf<Sitting<S>>>(&mut linker, |sitting| sitting)?;
    Ok(linker)
}
