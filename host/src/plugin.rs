//! A core that was loaded and checked: the built-in one, or a component from a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use wasmtime::component::Component;

use crate::clock::Clock;
use crate::contract::{Access, Core, CoreIndices, Failure, Metadata};
use crate::effects::Effects;
use crate::engine::Engine;
use crate::error;
use crate::imports;
use crate::instance::{Guest, Instance, Limits, Linked, Unstarted};
use crate::interface::{self, Surface};
use crate::storage::Store;

/// The core that headsup was built with.
pub(crate) static BUILT_IN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/core.wasm"));

/// What it is called in messages.
pub(crate) const BUILT_IN_NAME: &str = "the built-in core";

/// Files beyond this are refused unread, in bytes. The built-in core has a quarter of a mebibyte.
const MOST_BYTES: u64 = 64 << 20;

/// The longest reason that is given in the engine's words, in bytes.
const REASON_BYTES: usize = 1_000;

/// How much a core may use while it is asked who it is.
const LIMITS: Limits = Limits {
    memory: 256 << 20,
    deadline: Duration::from_secs(1),
    long_deadline: Duration::from_secs(1),
};

/// Why a component may not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The file is not there or cannot be read.
    #[error("the plugin {name} cannot be read: {source}")]
    Unreadable {
        /// The file.
        name: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is larger than any core has reason to be.
    #[error("the plugin {name} is larger than {MOST_BYTES} bytes")]
    TooLarge {
        /// The file.
        name: String,
    },
    /// Not a WebAssembly binary at all.
    #[error("{name} is not a WebAssembly component: it does not start like one")]
    NotWebAssembly {
        /// The file.
        name: String,
    },
    /// A core module, as compilers make for other targets.
    #[error(
        "{name} is a WebAssembly module, not a component: build it for the target wasm32-wasip2, \
         or make it a component with `wasm-tools component new`"
    )]
    Module {
        /// The file.
        name: String,
    },
    /// It starts like a component and is none: cut off, damaged, or with features not enabled.
    #[error("{name} is not a valid component: {detail}")]
    Broken {
        /// The file.
        name: String,
        /// What is wrong, by the validator's words.
        detail: String,
    },
    /// It wants a capability that cores do not get.
    #[error(
        "the plugin imports {import}; a core may import the contract and wasi:clocks/wall-clock only"
    )]
    ForbiddenImport {
        /// What it imports.
        import: String,
    },
    /// It follows another version of the contract.
    #[error("the plugin was made for {item}; this host has {offered}, which is not compatible")]
    Incompatible {
        /// The interface with the plugin's version.
        item: String,
        /// The interface with this host's version.
        offered: String,
    },
    /// It does not export an interface of the contract.
    #[error("the plugin does not export {export}, which the contract asks for")]
    MissingExport {
        /// The interface.
        export: String,
    },
    /// It exports something that is not part of the contract.
    #[error("the plugin exports {export}, which is no part of the contract")]
    ForeignExport {
        /// What it exports.
        export: String,
    },
    /// An import or export has another shape than in the contract.
    #[error("the plugin does not fit the contract: {detail}")]
    Mismatch {
        /// Which item, and how it differs.
        detail: String,
    },
    /// It trapped, hung or said nonsense when asked who it is.
    #[error("the plugin does not say who it is: {detail}")]
    Misbehaved {
        /// What it did.
        detail: String,
    },
    /// It failed a check of the caller's.
    #[error("the plugin failed its check: {detail}")]
    Rejected {
        /// What the check says.
        detail: String,
    },
    /// Not the plugin's fault: this machine cannot run any.
    #[error("the WebAssembly engine cannot be set up: {0}")]
    Engine(String),
}

/// A core, compiled and checked against the contract. Cheap to clone; may serve any number of
/// [`Awareness`](crate::Awareness) at once.
#[derive(Clone)]
pub struct Plugin {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    linked: Linked,
    metadata: Metadata,
    methods: BTreeMap<String, Access>,
    /// Kept between two calls of [`Plugin::ask`].
    spare: Mutex<Option<Instance>>,
}

impl Plugin {
    /// The core that headsup was built with.
    ///
    /// # Errors
    /// [`PluginError::Engine`] or [`PluginError::Mismatch`] if the build is broken.
    pub fn built_in(engine: &Engine) -> Result<Self, PluginError> {
        Self::from_bytes(engine, BUILT_IN_NAME, BUILT_IN)
    }

    /// A component from a file.
    ///
    /// # Errors
    /// Says which condition the file does not meet; see [`PluginError`].
    pub fn from_file(engine: &Engine, path: impl AsRef<Path>) -> Result<Self, PluginError> {
        let path = path.as_ref();
        Self::from_bytes(engine, &path.display().to_string(), &read(path)?)
    }

    /// A component from memory; `name` is for messages.
    ///
    /// It has to be a component (not a module) that imports no more than the contract and
    /// `wasi:clocks/wall-clock`, that exports the contract's interfaces in their right types and
    /// nothing foreign, and that can say who it is.
    ///
    /// # Errors
    /// Says which condition is not met; see [`PluginError`].
    pub fn from_bytes(engine: &Engine, name: &str, bytes: &[u8]) -> Result<Self, PluginError> {
        Self::from_component(engine, &compile(engine, name, bytes)?)
    }

    pub(crate) fn from_component(
        engine: &Engine,
        component: &Component,
    ) -> Result<Self, PluginError> {
        interface::check(&Surface::of(engine, component))?;
        let mismatch =
            |error: wasmtime::Error| PluginError::Mismatch { detail: on_one_line(&error) };
        let pre = imports::link(engine.wasmtime())
            .map_err(|error| PluginError::Engine(on_one_line(&error)))?
            .instantiate_pre(component)
            .map_err(mismatch)?;
        let indices = CoreIndices::new(&pre).map_err(mismatch)?;
        let linked = Linked { pre, indices };
        let (metadata, methods) = introduce(engine, &linked)?;
        let inner =
            Inner { engine: engine.clone(), linked, metadata, methods, spare: Mutex::default() };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Name, version and protocol version, as the core says them.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.inner.metadata
    }

    /// The engine that it was compiled by.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }

    /// What a method of the JSON surface does to the store; absent if there is no such method.
    #[must_use]
    pub fn access(&self, method: &str) -> Option<Access> {
        self.inner.methods.get(method).copied()
    }

    /// Calls an export outside any transaction: storage fails. Nobody hears what it logs.
    pub(crate) fn ask<T>(
        &self,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<T>,
    ) -> Result<T, Failure> {
        self.ask_and_hear(body).map(|(answer, _)| answer)
    }

    /// The same for what takes longer.
    pub(crate) fn ask_within<T>(
        &self,
        deadline: Duration,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<T>,
    ) -> Result<T, Failure> {
        self.ask_instance(deadline, body).map(|(answer, _)| answer)
    }

    /// The same as [`ask`](Self::ask), with what it logged.
    pub(crate) fn ask_and_hear<T>(
        &self,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<T>,
    ) -> Result<(T, Effects), Failure> {
        self.ask_instance(LIMITS.deadline, body)
    }

    fn ask_instance<T>(
        &self,
        deadline: Duration,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<T>,
    ) -> Result<(T, Effects), Failure> {
        let spare = || self.inner.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = spare().take();
        let mut instance = match kept {
            Some(instance) => instance,
            None => self
                .instantiate(&Clock::System, LIMITS, None)
                .map_err(|unstarted| unstarted.failure)?,
        };
        let answer = instance.call(deadline, body)?;
        let effects = instance.take_effects().rolled_back();
        *spare() = Some(instance);
        Ok((answer, effects))
    }

    /// A fresh instance over a connection, or over none for calls that have no transaction; see
    /// [`Instance::new`].
    pub(crate) fn instantiate(
        &self,
        clock: &Clock,
        limits: Limits,
        storage: Option<Store>,
    ) -> Result<Instance, Box<Unstarted>> {
        let Inner { engine, linked, .. } = &*self.inner;
        Instance::new(engine, linked, clock, limits, storage)
    }
}

/// Reads a file, but never without end.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, PluginError> {
    let name = || path.display().to_string();
    let unreadable = |source| PluginError::Unreadable { name: name(), source };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(PluginError::TooLarge { name: name() });
    }
    Ok(bytes)
}

/// Compiles a binary, or finds it compiled in the cache.
pub(crate) fn compile(engine: &Engine, name: &str, bytes: &[u8]) -> Result<Component, PluginError> {
    let name = name.to_owned();
    // The magic number, then a version that tells modules and components apart.
    match (bytes.get(..4), bytes.get(4..8)) {
        (Some(b"\0asm"), Some([1, 0, 0, 0])) => return Err(PluginError::Module { name }),
        (Some(b"\0asm"), _) => {}
        _ => return Err(PluginError::NotWebAssembly { name }),
    }
    Component::from_binary(engine.wasmtime(), bytes)
        .map_err(|error| PluginError::Broken { name, detail: on_one_line(&error) })
}

/// Asks a core who it is and which methods it has. A core whose exports have other types than the
/// contract's is found out here, when it is instantiated.
fn introduce(
    engine: &Engine,
    linked: &Linked,
) -> Result<(Metadata, BTreeMap<String, Access>), PluginError> {
    let misbehaved = |failure: &Failure| PluginError::Misbehaved { detail: error::words(failure) };
    let mut instance =
        Instance::new(engine, linked, &Clock::System, LIMITS, None).map_err(|unstarted| {
            match unstarted.mismatch {
                Some(detail) => PluginError::Mismatch { detail },
                None => misbehaved(&unstarted.failure),
            }
        })?;
    let (metadata, methods) = instance
        .call(LIMITS.deadline, |core, guest| {
            let metadata = core.headsup_awareness_plugin().call_describe(&mut *guest)?;
            Ok((metadata, core.headsup_awareness_wire().call_methods(guest)?))
        })
        .map_err(|failure| misbehaved(&failure))?;
    for (what, said) in [
        ("name", &metadata.name),
        ("version", &metadata.version),
        ("protocol version", &metadata.protocol),
    ] {
        if said.is_empty() || said.len() > 256 || said.contains(char::is_control) {
            return Err(PluginError::Misbehaved {
                detail: format!("its {what} is not 1 to 256 bytes of plain text"),
            });
        }
    }
    let methods = methods.into_iter().map(|method| (method.name, method.access));
    Ok((metadata, methods.collect()))
}

/// What the engine says of bytes that anybody may have made, on one line: its words span several, and
/// name what they found.
fn on_one_line(error: &wasmtime::Error) -> String {
    let words = format!("{error:#}");
    let mut line = String::new();
    for word in words.split(|c: char| c.is_whitespace() || c.is_control()) {
        if !word.is_empty() && line.len() + word.len() < REASON_BYTES {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    line
}
