//! The stores that are open, by handle.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use host::rpc::Calls;
use host::{Engine, OpenError, Plugin, PluginError};

use crate::abi::Handle;
use crate::configuration::Configuration;
use crate::listener::{Listener, Relay};
use crate::status::{Failure, Status};

type Table = BTreeMap<Handle, Open>;

static OPEN: Mutex<Table> = Mutex::new(BTreeMap::new());

/// Counts up only: a handle that was closed is never that of another store.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// An open store. A call holds it as long as it runs, so that closing takes nothing away from it.
pub struct Store {
    /// The host.
    pub calls: Calls,
    engine: Engine,
}

/// A store in the table.
struct Open {
    store: Arc<Store>,
    closed: Receiver<()>,
    /// Whose it is. A process that forked has the table too, but not the threads of its
    /// stores.
    process: u32,
}

impl Open {
    fn is_ours(&self) -> bool {
        self.process == process::id()
    }
}

/// Goes when nobody uses the store any more: whoever waits at the other end hears of it.
pub struct Closing(#[expect(dead_code, reason = "what counts is that it is dropped")] Sender<()>);

/// Which core is to serve.
pub enum Core {
    /// The one that headsup was built with.
    BuiltIn,
    /// A component in a file.
    File(PathBuf),
}

impl Core {
    fn load(&self, engine: &Engine) -> Result<Plugin, PluginError> {
        match self {
            Self::BuiltIn => Plugin::built_in(engine),
            Self::File(path) => Plugin::from_file(engine, path),
        }
    }
}

/// Opens a store.
pub fn open(configuration: &Configuration, listener: Listener) -> Result<Handle, Failure> {
    let engine = Engine::new(configuration.cache())?;
    let plugin = configuration.core().load(&engine)?;
    let (closing, closed) = channel();
    let relay = Relay::new(listener, Closing(closing));
    let awareness = match configuration.builder().plugin(plugin).listener(relay).open() {
        Ok(awareness) => awareness,
        Err(error) => {
            // Should a thread of the store have been started, nobody is called any more after this.
            wait(&closed);
            return Err(error.into());
        }
    };
    let store =
        Arc::new(Store { calls: Calls::new(awareness, configuration.batch_requests()), engine });
    let handle = NEXT.fetch_add(1, Ordering::Relaxed);
    table().insert(handle, Open { store, closed, process: process::id() });
    Ok(handle)
}

/// The store of this handle.
pub fn find(handle: Handle) -> Result<Arc<Store>, Failure> {
    let table = table();
    let open = table.get(&handle).filter(|open| open.is_ours());
    open.map(|open| Arc::clone(&open.store)).ok_or_else(|| not_open(handle))
}

/// Closes a store: gives up this hold on it and waits for all others, which are calls that run and
/// threads of the host that are at work. The last one of them drops the host's listener, and
/// [`Closing`] with it.
pub fn close(handle: Handle) -> Result<(), Failure> {
    let mut table = table();
    let ours = table.get(&handle).is_some_and(Open::is_ours);
    // What the process had that forked stays where it is: its threads could not be waited for.
    let removed = if ours { table.remove(&handle) } else { None };
    drop(table);
    let Open { store, closed, .. } = removed.ok_or_else(|| not_open(handle))?;
    drop(store);
    wait(&closed);
    Ok(())
}

impl Store {
    /// Lets another core serve.
    pub fn swap(&self, core: &Core, conforming: bool) -> Result<(), Failure> {
        let plugin = core.load(&self.engine)?;
        if conforming {
            self.calls.awareness().swap_conforming(&plugin)?;
        } else {
            self.calls.awareness().swap(&plugin);
        }
        Ok(())
    }

    /// What the core says about itself, as JSON.
    pub fn describe_core(&self) -> String {
        let core = self.calls.awareness().metadata();
        serde_json::json!({
            "name": core.name,
            "version": core.version,
            "protocol": core.protocol,
        })
        .to_string()
    }
}

/// Nothing is ever sent: this ends when the other end is dropped.
fn wait(closed: &Receiver<()>) {
    let _ = closed.recv();
}

fn not_open(handle: Handle) -> Failure {
    let message = format!(
        "{handle} is not the handle of an open store: it was closed, never was one, or is of the process \
         that forked this one"
    );
    Failure::new(Status::NotOpen, "not-open", message)
}

/// Nobody else's code runs under the lock, so a poisoned one is whole.
fn table() -> MutexGuard<'static, Table> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<PluginError> for Failure {
    fn from(error: PluginError) -> Self {
        Self::new(Status::Core, "plugin-refused", error.to_string())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let status = match &error {
            OpenError::Plugin(_) => Status::Core,
            OpenError::Settings(host::Error::Invalid(_)) => Status::InvalidConfiguration,
            _ => Status::Store,
        };
        Self::new(status, error.reason(), error.to_string())
    }
}
