//! How an [`Awareness`] is opened: every choice with its default.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Duration;

use crate::alarm::Alarm;
use crate::awareness::Awareness;
use crate::checks::Checks;
use crate::clock::{Clock, LATEST};
use crate::contract::{Level, Policy, Urgency};
use crate::desk::Desk;
use crate::engine::Engine;
use crate::error::OpenError;
use crate::inner::Inner;
use crate::instance::Limits;
use crate::monitor::{Monitor, Rhythm};
use crate::plugin::Plugin;
use crate::queue::{Courier, Listener, TracingListener};
use crate::readers::Readers;
use crate::sources::{FolderFiles, SourceFiles};
use crate::storage::{Durability, StoreOptions};
use crate::stores::Stores;
use crate::upkeep::Upkeep;
use crate::wake::Intervals;
use crate::writer::Writer;

/// No deadline is shorter than this, however short the busy time-out is.
const SHORTEST_DEADLINE: Duration = Duration::from_millis(100);

/// How an [`Awareness`] is opened. Made by [`Awareness::builder`].
#[must_use = "a builder does nothing until `open` is called"]
pub struct Builder {
    path: PathBuf,
    durability: Durability,
    checkpoint_pages: u32,
    busy_timeout: Duration,
    deadline: Duration,
    long_deadline: Duration,
    memory: usize,
    readers: usize,
    most_waiting: usize,
    request_limit: usize,
    core: CoreChoice,
    cache: Option<PathBuf>,
    listener: Arc<dyn Listener>,
    clock: Clock,
    policy: Option<AdjustPolicy>,
    wakes: Intervals,
    recover: bool,
    read_only: bool,
    sources: Box<dyn SourceFiles>,
    source_deadline: Duration,
    monitor: bool,
    rhythm: Rhythm,
}

type AdjustPolicy = Box<dyn FnOnce(&mut Policy) + Send>;

enum CoreChoice {
    BuiltIn,
    File(PathBuf),
    Loaded(Plugin),
}

impl Builder {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            durability: Durability::Full,
            checkpoint_pages: StoreOptions::CHECKPOINT_PAGES,
            busy_timeout: Duration::from_secs(5),
            deadline: Duration::from_secs(1),
            long_deadline: Duration::from_secs(30),
            memory: 256 << 20,
            readers: 4,
            most_waiting: 10_000,
            request_limit: 4 << 20,
            core: CoreChoice::BuiltIn,
            cache: None,
            listener: Arc::new(TracingListener),
            clock: Clock::System,
            policy: None,
            wakes: Intervals::default(),
            recover: true,
            read_only: false,
            sources: Box::new(FolderFiles::of_user()),
            source_deadline: Duration::from_secs(45),
            monitor: false,
            rhythm: Rhythm::default(),
        }
    }

    /// What a committed call survives: [`Durability::Full`], the default, also a loss of power;
    /// [`Durability::Normal`] a crash of the process only, at several times the speed.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How many pages of 4 KiB with new commits may lie in the log beside the file before they are
    /// brought into it, by the commit that reaches this number. Default 4,000. Fewer keep the log
    /// smaller and cost more; ends only where no reader still needs them.
    pub fn checkpoint_pages(mut self, pages: u32) -> Self {
        self.checkpoint_pages = pages;
        self
    }

    /// How long a call waits for another process to finish writing before it fails with
    /// `store-busy`. Default 5 s.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// How long the core may take for a call before it fails with `plugin-timeout`. Default 1 s; a
    /// quarter of the busy time-out at most, so that a core that hangs does not make other
    /// processes fail, and never less than 100 ms.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// The same for one transaction of recovering, pruning, deleting a session, marking a store as
    /// restored, or adopting a session and taking in what was read of its source, which take as
    /// long as there is to do. Default 30 s. Other processes may meanwhile fail with `store-busy`.
    pub fn long_deadline(mut self, deadline: Duration) -> Self {
        self.long_deadline = deadline;
        self
    }

    /// The most linear memory of one instance of the core, in bytes. Default 256 MiB.
    pub fn memory_limit(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }

    /// How many calls may read at once beside the writer, at least 1. Default 4.
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers;
        self
    }

    /// How many calls may wait for the writer before further ones fail with `overloaded`. Default
    /// 10,000.
    pub fn max_waiting(mut self, calls: usize) -> Self {
        self.most_waiting = calls;
        self
    }

    /// The longest JSON request, in bytes; a longer one is refused unread. Default 4 MiB.
    pub fn request_limit(mut self, bytes: usize) -> Self {
        self.request_limit = bytes;
        self
    }

    /// A core from a file in place of the built-in one.
    pub fn plugin_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.core = CoreChoice::File(path.into());
        self
    }

    /// A loaded core, which may be shared with others. Its engine decides about the cache.
    pub fn plugin(mut self, plugin: Plugin) -> Self {
        self.core = CoreChoice::Loaded(plugin);
        self
    }

    /// A directory for compiled code, so that only the first start on a machine compiles; created
    /// if it is not there. Default none. Trouble with it is a warning in the log.
    pub fn cache_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.cache = Some(directory.into());
        self
    }

    /// Who hears of notices, wakes and log lines. Default [`TracingListener`]. It is dropped once the
    /// store is closed: nobody will be called any more, and the file is released.
    pub fn listener(mut self, listener: impl Listener + 'static) -> Self {
        self.listener = Arc::new(listener);
        self
    }

    /// Time stands at `start`, in ms since the Unix epoch, and moves only by
    /// [`Awareness::set_clock`] or the method `clock`. Deadlines stay real.
    pub fn manual_clock(mut self, start: u64) -> Self {
        self.clock = Clock::manual(start);
        self
    }

    /// Sets retention and notice template in the store, for every process that shares it. Default:
    /// what the store has.
    pub fn policy(self, policy: Policy) -> Self {
        self.adjust_policy(move |current| *current = policy)
    }

    /// The same, from what the store has; nothing is written if nothing changes.
    pub fn adjust_policy(mut self, adjust: impl FnOnce(&mut Policy) + Send + 'static) -> Self {
        self.policy = Some(Box::new(adjust));
        self
    }

    /// A watcher is not woken twice within this. Default 20 s.
    pub fn wake_window(mut self, window: Duration) -> Self {
        self.wakes.window = ms(window);
        self
    }

    /// While a notice stays pending, its watcher is woken again this long after the last wake.
    /// Default 15 minutes; never less than the window of [`wake_window`](Self::wake_window).
    pub fn wake_reminder(mut self, reminder: Duration) -> Self {
        self.wakes.reminder = ms(reminder);
        self
    }

    /// Whether opening prunes what is due and then recovers, so that the listener hears of every
    /// pending notice. Default true. If that fails it is logged, and the store is open all the
    /// same.
    pub fn recover_on_open(mut self, recover: bool) -> Self {
        self.recover = recover;
        self
    }

    /// Checks the sources of adopted sessions that somebody watches without being asked to: for the
    /// first time 15 s after opening, then every minute, over all processes of the store together.
    /// On a thread of its own that ends with the last clone; with a manual clock, whenever that is
    /// moved. Default: only [`Awareness::check_upstreams`] does.
    pub fn monitor_upstreams(mut self) -> Self {
        self.monitor = true;
        self
    }

    /// The monitor looks for the first time so long after opening. Default 15 s.
    pub fn first_check(mut self, after: Duration) -> Self {
        self.rhythm.first = ms(after);
        self
    }

    /// After that, the monitor looks this often whether a check is due. Default 60 s; at least 1 ms. Below
    /// a minute it finds nothing due most times: monitors check no link more often than about once a
    /// minute, whatever this is.
    pub fn check_interval(mut self, interval: Duration) -> Self {
        self.rhythm.interval = ms(interval).max(1);
        self
    }

    /// Sources that are files are read inside these folders and nowhere else. They need not be there
    /// yet: each is looked up at each read. Default: [`user_folders`](crate::user_folders), where the
    /// tools of this user keep their sessions.
    pub fn source_folders(self, folders: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.source_files(FolderFiles::inside(folders))
    }

    /// Reads sources by other means. Default: [`FolderFiles::of_user`].
    pub fn source_files(mut self, files: impl SourceFiles + 'static) -> Self {
        self.sources = Box::new(files);
        self
    }

    /// How long one source may take to be read before it counts as unavailable. Default 45 s. What
    /// hangs beyond is left alone: it stops neither other sources nor the next check.
    pub fn source_deadline(mut self, deadline: Duration) -> Self {
        self.source_deadline = deadline;
        self
    }

    /// Opens the store to look at it only: nothing is created, migrated, recovered or pruned, and
    /// calls that write fail with `store-read-only`. No effect on `:memory:`.
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }

    /// Opens the store, loads the core, and recovers.
    ///
    /// # Errors
    /// [`OpenError`] says what cannot be opened or loaded and what to do.
    pub fn open(self) -> Result<Awareness, OpenError> {
        let limits = Limits {
            memory: self.memory,
            deadline: self.deadline.min(self.busy_timeout / 4).max(SHORTEST_DEADLINE),
            long_deadline: self.long_deadline.max(SHORTEST_DEADLINE),
        };
        let options = StoreOptions {
            path: self.path,
            durability: self.durability,
            checkpoint_pages: self.checkpoint_pages,
            busy_timeout: self.busy_timeout,
        };
        let stores = Stores::new(options, self.read_only);
        let plugin = load(self.core, self.cache)?;
        let writer = if stores.has_writer() {
            let (plugin, clock) = (plugin.clone(), self.clock.clone());
            let storage = stores.writer()?;
            let desk = Desk::new(plugin, clock, limits, stores.clone(), storage);
            Some(Writer::new(desk, self.most_waiting))
        } else {
            // Looked at once, so that opening says what is wrong with it.
            drop(stores.reader()?);
            None
        };
        let readers = stores.has_readers().then(|| {
            let (plugin, clock) = (plugin.clone(), self.clock.clone());
            Readers::new(plugin, clock, limits, stores, self.readers)
        });
        let reminder = self.wakes.reminder.max(self.wakes.window).max(1);
        let intervals = Intervals { reminder, ..self.wakes };
        let alarm = Arc::new(Alarm::new(&self.clock, intervals));
        let courier = Courier::new(self.listener, Arc::clone(&alarm));
        if let Some(trouble) = plugin.engine().cache_trouble() {
            courier.log(Level::Warn, trouble);
        }
        let monitor = self.monitor && writer.is_some();
        let inner = Arc::new(Inner {
            monitor: monitor.then(|| Arc::new(Monitor::new(&self.clock, self.rhythm))),
            checks: Arc::new(Checks::new(self.sources, self.source_deadline)),
            writer,
            readers,
            plugin: RwLock::new(plugin),
            fallback: OnceLock::new(),
            upkeep: Upkeep::default(),
            clock: self.clock,
            limits,
            request_limit: self.request_limit,
            courier,
            alarm,
            threads: Mutex::default(),
        });
        let awareness = Awareness { inner };
        if awareness.inner.writer.is_some() {
            start(&awareness, self.policy, self.recover)?;
        }
        Ok(awareness)
    }
}

fn ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).min(LATEST)
}

fn load(core: CoreChoice, cache: Option<PathBuf>) -> Result<Plugin, OpenError> {
    Ok(match core {
        CoreChoice::BuiltIn => Plugin::built_in(&Engine::new(cache)?)?,
        CoreChoice::File(path) => Plugin::from_file(&Engine::new(cache)?, path)?,
        CoreChoice::Loaded(plugin) => plugin,
    })
}

/// What an open store does before its first call.
fn start(
    awareness: &Awareness,
    adjust: Option<AdjustPolicy>,
    recover: bool,
) -> Result<(), OpenError> {
    if let Some(adjust) = adjust {
        let current = awareness.policy().map_err(OpenError::Settings)?;
        let mut policy = current.clone();
        adjust(&mut policy);
        if policy != current {
            awareness.set_policy(policy).map_err(OpenError::Settings)?;
        }
    }
    if recover {
        awareness.inner.prune_all(Urgency::AtStart);
        if let Err(error) = awareness.recovery(false) {
            let line = format!("pending notices were not recovered: {error}");
            awareness.inner.courier.log(Level::Error, &line);
        }
    }
    if !awareness.inner.clock.is_manual() {
        let started = awareness.inner.start_threads();
        started.map_err(OpenError::Thread)?;
    }
    Ok(())
}
