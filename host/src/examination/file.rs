//! headsup's own storage under examination: the connections, imports and effects that serve cores.

use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wasmtime::StoreLimitsBuilder;

use super::contract::{Line, News, Transaction};
use super::{Ending, Seat, Stage};
use crate::clock::Clock;
use crate::contract::{Opening, StorageFailure};
use crate::effects::{self, Effects};
use crate::imports::State;
use crate::room::Room;
use crate::storage::{Store, StoreOptions};
use crate::stores::Stores;

/// A store in a file, or in memory.
pub struct FileStage {
    stores: Stores,
    gateway: Arc<Gateway>,
}

/// What reached the gateway and was not asked for yet.
#[derive(Default)]
struct Gateway {
    news: Mutex<(Vec<Line>, Vec<Opening>)>,
}

impl Gateway {
    fn news(&self) -> MutexGuard<'_, (Vec<Line>, Vec<Opening>)> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FileStage {
    /// Makes the store, which should not be there yet, and opens it.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open(options: &StoreOptions) -> Result<Self, StorageFailure> {
        let stores = Stores::new(options.clone(), false);
        stores.writer()?;
        Ok(Self { stores, gateway: Arc::default() })
    }
}

impl Stage for FileStage {
    type Seat = FileSeat;

    fn seat(&self, transaction: Transaction) -> Result<FileSeat, String> {
        let store = if transaction == Transaction::Reads && self.is_shared() {
            self.stores.reader()
        } else {
            self.stores.writer()
        };
        let gateway = Arc::clone(&self.gateway);
        store.map(|store| FileSeat::over(store, gateway)).map_err(|failure| words(&failure))
    }

    fn is_shared(&self) -> bool {
        self.stores.has_readers()
    }

    fn take_news(&self) -> News {
        let (lines, openings) = take(&mut *self.gateway.news());
        News { openings, lines }
    }
}

/// A connection to the store.
pub struct FileSeat {
    state: State,
    gateway: Arc<Gateway>,
    transaction: Transaction,
    /// The connection, while a call runs that has none.
    aside: Option<Store>,
}

impl FileSeat {
    fn over(store: Store, gateway: Arc<Gateway>) -> Self {
        let state = State {
            storage: Some(store),
            clock: Clock::System,
            room: Room::new(StoreLimitsBuilder::new().build()),
            effects: Effects::default(),
            lost: None,
        };
        Self { state, gateway, transaction: Transaction::None, aside: None }
    }

    /// Commits or rolls back. A call under which storage failed is lost, whatever it answered.
    fn settle(&mut self, ending: Ending) -> Result<bool, StorageFailure> {
        let lost = self.state.lost.take().is_some();
        let Some(store) = &mut self.state.storage else { return Ok(false) };
        if self.transaction == Transaction::Writes && ending == Ending::Ok && !lost {
            return store.commit().map(|()| true);
        }
        store.rollback();
        Ok(false)
    }
}

impl Seat for FileSeat {
    type Imports = State;

    fn imports(&mut self) -> &mut State {
        &mut self.state
    }

    fn begin(&mut self, transaction: Transaction) -> Result<(), String> {
        self.transaction = transaction;
        let begun = match (transaction, &mut self.state.storage) {
            (Transaction::Reads, Some(store)) => store.begin_read(),
            (Transaction::Writes, Some(store)) => store.begin_write(),
            (Transaction::None, storage) => {
                self.aside = storage.take();
                Ok(())
            }
            (_, None) => return Err("there is no connection".into()),
        };
        begun.map_err(|failure| words(&failure))
    }

    fn end(&mut self, ending: Ending) -> Result<(), String> {
        let settled = self.settle(ending);
        if self.transaction == Transaction::None {
            self.state.storage = self.aside.take();
        }
        let effects = take(&mut self.state.effects);
        let effects = if matches!(settled, Ok(true)) { effects } else { effects.rolled_back() };
        let (lines, openings) = effects.into_parts();
        let mut news = self.gateway.news();
        let told = |line: effects::Line| Line { level: line.level, message: line.message };
        news.0.extend(lines.into_iter().map(told));
        news.1.extend(openings);
        settled.map(|_| ()).map_err(|failure| words(&failure))
    }

    fn effort(&mut self) -> Option<u64> {
        self.state.storage.as_ref().map(Store::effort)
    }
}

fn words(failure: &StorageFailure) -> String {
    format!("{:?}: {}", failure.fault, failure.message)
}
