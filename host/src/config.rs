//! Settings as text: the TOML file of the command, the JSON of the C ABI. `host/headsup.example.toml`
//! documents every key; an unknown one is an error, so that a slip of the pen is found and not ignored.

mod serve;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use directories::ProjectDirs;
use serde::{Deserialize, Serialize};

use crate::builder::Builder;
use crate::contract;
use crate::storage::Durability;

pub use self::serve::Serve;

/// A key, its value, and what it lies between.
type Bounds = (&'static str, u64, u64, u64);

/// What the built-in core takes for the longest line of a transcript, 64 MiB, which is more than a
/// request of the default length and the notices that come of it take.
const LEAST_MEMORY_MIB: u64 = 192;

/// Below, a round would find nothing due: the core lets nobody check a session more often than about
/// once a minute.
const LEAST_CHECK_INTERVAL_MS: u64 = 60_000;

/// Why a configuration is none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is not TOML, has an unknown key, or a value of another type; says where.
    #[error(transparent)]
    Toml(#[from] toml::de::Error),
    /// A value that is not allowed: which, and what is.
    #[error("{0}")]
    Value(String),
}

/// All settings, each with its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The database.
    pub store: Store,
    /// The component that holds the logic.
    pub core: Core,
    /// How requests are served.
    pub serve: Serve,
    /// When watchers are woken.
    pub wakes: Wakes,
    /// Where adopted sessions live, and how that is watched.
    pub upstreams: Upstreams,
    /// What lives in the store itself.
    pub policy: Policy,
    /// The log on standard error.
    pub log: Log,
}

/// The database.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Store {
    /// The file; absent: in the platform's data directory.
    pub path: Option<PathBuf>,
    /// What a committed call survives.
    pub durability: Survives,
    /// Pages of new commits beside the file before they are brought into it.
    pub checkpoint_pages: u32,
    /// How long to wait for another writer, in ms.
    pub busy_timeout_ms: u64,
    /// Reads at once.
    pub readers: usize,
    /// Calls that may wait for the writer.
    pub waiting_calls: usize,
}

/// What a committed call survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Survives {
    /// Also a loss of power.
    Full,
    /// A crash of the process.
    Normal,
}

/// The component that holds the logic.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Core {
    /// The component in place of the built-in one.
    pub plugin: Option<PathBuf>,
    /// Time for one call, in ms.
    pub deadline_ms: u64,
    /// Time for one long transaction, in ms.
    pub long_deadline_ms: u64,
    /// Memory of one instance, in MiB.
    pub memory_mib: usize,
    /// Where compiled code is kept; absent: the platform's cache directory; empty: nowhere.
    pub cache_dir: Option<PathBuf>,
}

/// When watchers are woken.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Wakes {
    /// No watcher is woken twice within this, in ms.
    pub window_ms: u64,
    /// While a notice is pending its watcher is woken again after this, in ms.
    pub repeat_ms: u64,
}

/// Where adopted sessions live, and how that is watched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Upstreams {
    /// The folders that sources may be read from; absent: those of the user's tools.
    pub folders: Option<Vec<PathBuf>>,
    /// Time for reading one source, in ms.
    pub deadline_ms: u64,
    /// After opening, the monitor looks for the first time, in ms.
    pub first_ms: u64,
    /// After that, this often, in ms; at least a minute.
    pub interval_ms: u64,
}

/// What lives in the store; what is absent stays as the store has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Days that events are kept.
    pub history_days: Option<u32>,
    /// Events kept over all sessions.
    pub history_rows: Option<u32>,
    /// Days until a watch expires.
    pub cursor_days: Option<u32>,
    /// The sentence of a notice.
    pub notice_template: Option<String>,
}

/// The log on standard error.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// What is written.
    pub level: LogLevel,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What was lost or could not be done.
    Error,
    /// What an operator should know.
    Warn,
    /// What happened.
    Info,
    /// Details.
    Debug,
    /// Everything.
    Trace,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            path: None,
            durability: Survives::Full,
            checkpoint_pages: 4_000,
            busy_timeout_ms: 5_000,
            readers: 4,
            waiting_calls: 10_000,
        }
    }
}

impl Default for Core {
    fn default() -> Self {
        Self {
            plugin: None,
            deadline_ms: 1_000,
            long_deadline_ms: 30_000,
            memory_mib: 256,
            cache_dir: None,
        }
    }
}

impl Default for Wakes {
    fn default() -> Self {
        Self { window_ms: 20_000, repeat_ms: 900_000 }
    }
}

impl Default for Upstreams {
    fn default() -> Self {
        Self { folders: None, deadline_ms: 45_000, first_ms: 15_000, interval_ms: 60_000 }
    }
}

impl Default for Log {
    fn default() -> Self {
        Self { level: LogLevel::Warn }
    }
}

impl From<Survives> for Durability {
    fn from(survives: Survives) -> Self {
        match survives {
            Survives::Full => Self::Full,
            Survives::Normal => Self::Normal,
        }
    }
}

impl Core {
    /// The directory for compiled code, if it is to be kept.
    #[must_use]
    pub fn cache(&self) -> Option<PathBuf> {
        match &self.cache_dir {
            Some(folder) if folder.as_os_str().is_empty() => None,
            Some(folder) => Some(folder.clone()),
            None => user_dirs().map(|folders| folders.cache_dir().to_owned()),
        }
    }
}

impl Policy {
    /// The key for a field of the core's policy.
    #[must_use]
    pub fn key_of(field: &str) -> String {
        let mut key = String::from("policy.");
        for character in field.chars() {
            if character.is_ascii_uppercase() {
                key.push('_');
            }
            key.push(character.to_ascii_lowercase());
        }
        key
    }

    /// Changes what is given here, and leaves the rest.
    fn apply(self, policy: &mut contract::Policy) {
        let Self { history_days, history_rows, cursor_days, notice_template } = self;
        policy.history_days = history_days.unwrap_or(policy.history_days);
        policy.history_rows = history_rows.unwrap_or(policy.history_rows);
        policy.cursor_days = cursor_days.unwrap_or(policy.cursor_days);
        if let Some(template) = notice_template {
            policy.notice_template = template;
        }
    }
}

impl std::fmt::Display for LogLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        })
    }
}

impl Config {
    /// Reads TOML.
    ///
    /// # Errors
    /// It is not TOML, has an unknown key or a value that is not allowed; says where.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text)?;
        config.check()?;
        Ok(config)
    }

    /// Sets everything in a builder but the path, the core and what keeps compiled code.
    pub fn apply(&self, builder: Builder) -> Builder {
        let Self { store, core, serve, wakes, upstreams, policy, .. } = self;
        let mut builder = builder
            .durability(store.durability.into())
            .checkpoint_pages(store.checkpoint_pages)
            .busy_timeout(Duration::from_millis(store.busy_timeout_ms))
            .readers(store.readers)
            .max_waiting(store.waiting_calls)
            .deadline(Duration::from_millis(core.deadline_ms))
            .long_deadline(Duration::from_millis(core.long_deadline_ms))
            .memory_limit(core.memory_mib << 20)
            .request_limit(serve.request_bytes)
            .wake_window(Duration::from_millis(wakes.window_ms))
            .wake_reminder(Duration::from_millis(wakes.repeat_ms))
            .source_deadline(Duration::from_millis(upstreams.deadline_ms))
            .first_check(Duration::from_millis(upstreams.first_ms))
            .check_interval(Duration::from_millis(upstreams.interval_ms));
        if let Some(folders) = &upstreams.folders {
            builder = builder.source_folders(folders);
        }
        // With nothing to set, nothing need be right about what the store has.
        if *policy == Policy::default() {
            return builder;
        }
        let policy = policy.clone();
        builder.adjust_policy(move |current| policy.apply(current))
    }

    /// Values that no type rules out.
    ///
    /// # Errors
    /// [`ConfigError::Value`] names the first key whose value lies beyond its bounds.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Self { store, core, serve, wakes, upstreams, .. } = self;
        let most = u64::from(u32::MAX);
        let bounds: [Bounds; 10] = [
            ("store.checkpoint_pages", u64::from(store.checkpoint_pages), 1, 1_000_000),
            ("store.busy_timeout_ms", store.busy_timeout_ms, 1, 600_000),
            ("store.readers", store.readers as u64, 1, 256),
            ("store.waiting_calls", store.waiting_calls as u64, 1, most),
            ("core.deadline_ms", core.deadline_ms, 10, most),
            ("core.long_deadline_ms", core.long_deadline_ms, 10, most),
            ("core.memory_mib", core.memory_mib as u64, LEAST_MEMORY_MIB, 4_096),
            ("wakes.window_ms", wakes.window_ms, 0, most),
            ("upstreams.deadline_ms", upstreams.deadline_ms, 100, 3_600_000),
            ("upstreams.first_ms", upstreams.first_ms, 0, most),
        ];
        for (key, value, least, most) in bounds.into_iter().chain(serve.bounds()) {
            ensure((least..=most).contains(&value), || {
                format!("{key} is {value}; it must lie between {least} and {most}")
            })?;
        }
        let repeat = wakes.repeat_ms;
        ensure((wakes.window_ms.max(1_000)..=most).contains(&repeat), || {
            format!(
                "wakes.repeat_ms is {repeat}; it must lie between window_ms (and 1000) and {most}"
            )
        })?;
        let interval = upstreams.interval_ms;
        ensure((LEAST_CHECK_INTERVAL_MS..=most).contains(&interval), || {
            format!(
                "upstreams.interval_ms is {interval}; it must lie between {LEAST_CHECK_INTERVAL_MS} \
                 and {most}, because no session is checked more often than about once a minute"
            )
        })?;
        let relative = upstreams.folders.iter().flatten().find(|folder| !folder.is_absolute());
        relative.map_or(Ok(()), |folder| {
            let folder = folder.display();
            Err(ConfigError::Value(format!(
                "upstreams.folders has {folder}; every folder must be an absolute path"
            )))
        })
    }
}

fn ensure(holds: bool, words: impl FnOnce() -> String) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::Value(words())) }
}

/// Where this user's store is unless something else is said; nothing where the platform has no
/// folder for data.
#[must_use]
pub fn default_path() -> Option<PathBuf> {
    Some(user_dirs()?.data_dir().join("headsup.db"))
}

fn user_dirs() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "headsup")
}
