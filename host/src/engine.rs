//! The wasmtime engine: how cores are compiled, where compiled code is kept, and the ticker that
//! makes deadlines end calls.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Cache, CacheConfig, Config};

use crate::plugin::PluginError;

/// How often the epoch advances while a call runs; a deadline is exact to this.
const TICK: Duration = Duration::from_millis(10);

/// After so many ticks without a call the ticker sleeps until the next one.
const IDLE_TICKS: u32 = 100;

/// The most stack a core may use, in bytes. Calls run on their caller's thread, whose stack has
/// to hold this beside the caller's own frames; 2 MiB threads have room to spare.
const CORE_STACK: usize = 512 * 1024;

/// Compiles and runs cores. Cheap to clone; clones share the compiled code cache and one ticker
/// thread, which ends with the last of them.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    wasmtime: wasmtime::Engine,
    pulse: Arc<Pulse>,
    ticker: Thread,
    cache_trouble: Option<String>,
}

/// What the ticker and the calls tell each other.
#[derive(Default)]
struct Pulse {
    running: AtomicUsize,
    asleep: AtomicBool,
    ended: AtomicBool,
}

impl Engine {
    /// An engine that keeps compiled code in this directory, so that only the first start on a
    /// machine pays for compiling; without a directory nothing is kept.
    ///
    /// A directory that cannot be used costs the cache and nothing else: see
    /// [`cache_trouble`](Self::cache_trouble). Code of another version of headsup, or of another
    /// machine, is not found and compiled anew.
    ///
    /// # Errors
    /// [`PluginError::Engine`] if this machine cannot run compiled cores or start a thread.
    pub fn new(cache: Option<PathBuf>) -> Result<Self, PluginError> {
        let (cache, cache_trouble) = match cache.map(open_cache).transpose() {
            Ok(cache) => (cache, None),
            Err(trouble) => (None, Some(trouble)),
        };
        let mut config = Config::new();
        config
            .concurrency_support(false)
            .epoch_interruption(true)
            .max_wasm_stack(CORE_STACK)
            .cache(cache);
        let wasmtime = wasmtime::Engine::new(&config)
            .map_err(|error| PluginError::Engine(format!("{error:#}")))?;
        let pulse = Arc::new(Pulse::default());
        let ticker = start_ticker(wasmtime.weak(), Arc::clone(&pulse))
            .map_err(|error| PluginError::Engine(format!("no thread for deadlines: {error}")))?;
        let inner = Inner { wasmtime, pulse, ticker, cache_trouble };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Why compiled code is not kept although a directory was given; for a warning.
    #[must_use]
    pub fn cache_trouble(&self) -> Option<&str> {
        self.inner.cache_trouble.as_deref()
    }

    pub(crate) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.inner.wasmtime
    }

    /// Keeps the epoch advancing until the guard is dropped.
    pub(crate) fn running(&self) -> Running<'_> {
        self.inner.pulse.running.fetch_add(1, Ordering::SeqCst);
        if self.inner.pulse.asleep.load(Ordering::SeqCst) {
            self.inner.ticker.unpark();
        }
        Running(&self.inner.pulse)
    }
}

/// A call in flight.
pub(crate) struct Running<'a>(&'a Pulse);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.pulse.ended.store(true, Ordering::SeqCst);
        self.ticker.unpark();
    }
}

/// How many ticks from now a call of this length is over; never less than its length.
pub(crate) fn ticks(deadline: Duration) -> u64 {
    let ticks = deadline.as_millis().div_ceil(TICK.as_millis());
    // One more: the running tick may be nearly over.
    u64::try_from(ticks).unwrap_or(u64::MAX).saturating_add(1)
}

fn open_cache(directory: PathBuf) -> Result<Cache, String> {
    let shown = directory.display().to_string();
    let mut config = CacheConfig::new();
    // A relative directory is refused by the cache; one that does not exist cannot be canonical.
    let absolute = std::path::absolute(&directory).unwrap_or(directory);
    config.with_directory(absolute);
    Cache::new(config)
        .map_err(|error| format!("compiled code cannot be kept in {shown}: {error:#}"))
}

fn start_ticker(engine: wasmtime::EngineWeak, pulse: Arc<Pulse>) -> Result<Thread, std::io::Error> {
    let handle = thread::Builder::new()
        .name("headsup-ticker".into())
        .stack_size(64 * 1024)
        .spawn(move || tick(&engine, &pulse))?;
    Ok(handle.thread().clone())
}

fn tick(engine: &wasmtime::EngineWeak, pulse: &Pulse) {
    let mut idle = 0;
    while !pulse.ended.load(Ordering::SeqCst) {
        thread::sleep(TICK);
        let Some(engine) = engine.upgrade() else {
            return;
        };
        engine.increment_epoch();
        drop(engine);
        if pulse.running.load(Ordering::SeqCst) > 0 {
            idle = 0;
            continue;
        }
        idle += 1;
        if idle >= IDLE_TICKS {
            sleep_until_called(pulse);
            idle = 0;
        }
    }
}

/// A call that starts while this falls asleep sees `asleep`, or is seen here: one of the two loads
/// comes after both stores.
fn sleep_until_called(pulse: &Pulse) {
    pulse.asleep.store(true, Ordering::SeqCst);
    while pulse.running.load(Ordering::SeqCst) == 0 && !pulse.ended.load(Ordering::SeqCst) {
        thread::park();
    }
    pulse.asleep.store(false, Ordering::SeqCst);
}

/// Kept out of [`Engine`] so that nothing but tests can ask.
#[cfg(test)]
impl Engine {
    fn pulse(&self) -> std::sync::Weak<Pulse> {
        Arc::downgrade(&self.inner.pulse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_never_shorter_than_asked() {
        for ms in [0, 1, 9, 10, 11, 1_000, 30_000] {
            let whole =
                u64::try_from(TICK.as_millis()).unwrap() * (ticks(Duration::from_millis(ms)) - 1);
            assert!(whole >= ms);
        }
    }

    #[test]
    fn the_ticker_ends_with_its_engine() {
        let engine = Engine::new(None).unwrap();
        let pulse = engine.pulse();
        drop(engine);
        while pulse.upgrade().is_some() {
            thread::yield_now();
        }
    }

    #[test]
    fn a_cache_that_cannot_be_used_is_a_warning() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let engine = Engine::new(Some(file.path().join("cache"))).unwrap();
        assert!(engine.cache_trouble().is_some());
    }
}
