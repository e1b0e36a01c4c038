//! The options that all commands share, and what they mean together with the configuration.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use directories::ProjectDirs;
use headsup::contract::InvalidInput;
use headsup::{Awareness, Builder, Engine, OpenError, Plugin};
use tracing::level_filters::LevelFilter;

use super::failure::Failure;
use crate::config::{Config, LogLevel, Policy};

/// The path that means a store in memory.
pub const MEMORY: &str = ":memory:";

/// Options of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Common options")]
pub struct Options {
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        help = "The store; `:memory:` is one that lives as long as the command. If it is not given: \
                HEADSUP_DB, `store.path` of the configuration, headsup.db in the platform's data \
                directory (`replay`: a scratch store)"
    )]
    pub db: Option<PathBuf>,
    /// A component to use in place of the built-in core
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "HEADSUP_PLUGIN",
        hide_env_values = true
    )]
    pub plugin: Option<PathBuf>,
    /// Settings in TOML; `headsup.example.toml` documents every key with its default
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "HEADSUP_CONFIG",
        hide_env_values = true
    )]
    pub config: Option<PathBuf>,
    /// What is logged on standard error
    #[arg(long, global = true, value_name = "LEVEL", env = "HEADSUP_LOG", hide_env_values = true)]
    pub log: Option<LogLevel>,
    /// Time stands at MS (in ms since 1970, 0 if not given) and moves only by the method `clock`;
    /// deadlines stay real
    #[arg(long, global = true, value_name = "MS", num_args = 0..=1, require_equals = true,
          default_missing_value = "0", value_parser = clap::value_parser!(u64).range(..=headsup::LATEST))]
    pub manual_clock: Option<u64>,
}

/// The options, resolved.
pub struct Setup {
    /// The options as given.
    pub options: Options,
    /// The configuration, or its defaults.
    pub config: Config,
}

impl Setup {
    /// Reads the configuration and starts the log.
    pub fn resolve(options: Options) -> Result<Self, Failure> {
        let config = match &options.config {
            Some(path) => Config::read(path)?,
            None => Config::default(),
        };
        start_log(options.log.unwrap_or(config.log.level));
        Ok(Self { options, config })
    }

    /// Where the store is.
    pub fn db(&self) -> Result<PathBuf, Failure> {
        let environment = std::env::var_os("HEADSUP_DB").filter(|path| !path.is_empty());
        if let Some(path) = self.options.db.clone().or(environment.map(PathBuf::from)) {
            return Ok(path);
        }
        if let Some(path) = &self.config.store.path {
            return Ok(path.clone());
        }
        let folders = folders().context("there is no data directory here: give --db PATH")?;
        Ok(folders.data_dir().join("headsup.db"))
    }

    /// Where a store must be already: a command that only looks makes none.
    pub fn existing_db(&self) -> Result<PathBuf, Failure> {
        let path = self.db()?;
        if path == Path::new(MEMORY) {
            return Err(anyhow::anyhow!(
                "a store in memory ends with the process that made it, so that there is none to \
                 open: give the path of a file with --db"
            )
            .into());
        }
        // Whatever else is wrong with the path is said when it is opened.
        if !matches!(path.try_exists(), Ok(false)) {
            return Ok(path);
        }
        let name = path.display();
        Err(anyhow::anyhow!(
            "there is no store at {name}: give another path with --db, or make one with `headsup serve`"
        )
        .into())
    }

    /// Opens a store with the settings for it.
    ///
    /// # Errors
    /// A setting that the core refuses is named as in the configuration.
    pub fn open(&self, builder: Builder) -> Result<Awareness, Failure> {
        builder.open().map_err(|error| match (&error, &self.options.config) {
            (OpenError::Settings(headsup::Error::Invalid(refusal)), Some(file)) => {
                let InvalidInput { field, message, .. } = refusal;
                let what = message.strip_prefix(field.as_str()).unwrap_or(message);
                let (file, key) = (file.display(), Policy::key_of(field));
                let reason = error.reason();
                anyhow::anyhow!("the configuration {file} is not valid: {key}{what} ({reason})")
                    .into()
            }
            _ => error.into(),
        })
    }

    /// The store, opened to look at it.
    pub fn look(&self) -> Result<Awareness, Failure> {
        self.open(self.builder(self.existing_db()?)?.read_only())
    }

    /// A store with everything that is configured.
    pub fn builder(&self, path: impl AsRef<Path>) -> Result<Builder, Failure> {
        let Config { store, core, serve, wakes, upstreams, policy, .. } = &self.config;
        let mut builder = Awareness::builder(path)
            .durability(store.durability.into())
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
            .check_interval(Duration::from_millis(upstreams.interval_ms))
            .plugin(self.plugin()?);
        if let Some(folders) = &upstreams.folders {
            builder = builder.source_folders(folders);
        }
        if let Some(start) = self.options.manual_clock {
            builder = builder.manual_clock(start);
        }
        // With nothing to set, nothing need be right about what the store has.
        if *policy == Policy::default() {
            return Ok(builder);
        }
        let policy = policy.clone();
        Ok(builder.adjust_policy(move |current| policy.apply(current)))
    }

    /// The core that is asked for.
    pub fn plugin(&self) -> Result<Plugin, Failure> {
        let engine = self.engine()?;
        Ok(match self.options.plugin.as_ref().or(self.config.core.plugin.as_ref()) {
            Some(file) => Plugin::from_file(&engine, file)?,
            None => Plugin::built_in(&engine)?,
        })
    }

    /// An engine with the cache that is configured.
    pub fn engine(&self) -> Result<Engine, Failure> {
        let cache = match &self.config.core.cache_dir {
            Some(folder) if folder.as_os_str().is_empty() => None,
            Some(folder) => Some(folder.clone()),
            None => folders().map(|folders| folders.cache_dir().to_owned()),
        };
        Ok(Engine::new(cache)?)
    }

    /// Options for a process that shall be set up like this one, but for the store and the clock.
    pub fn for_child(&self) -> Vec<OsString> {
        let mut given = Vec::new();
        let Options { plugin, config, log, .. } = &self.options;
        for (name, path) in [("--plugin", plugin), ("--config", config)] {
            if let Some(path) = path {
                given.extend([OsString::from(name), path.into()]);
            }
        }
        if let Some(level) = log {
            given.extend([OsString::from("--log"), level.to_string().into()]);
        }
        given
    }
}

fn folders() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "headsup")
}

fn start_log(level: LogLevel) {
    let colour = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(LevelFilter::from(level))
        .with_ansi(colour)
        .with_target(false)
        .init();
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> Self {
        match level {
            LogLevel::Off => Self::OFF,
            LogLevel::Error => Self::ERROR,
            LogLevel::Warn => Self::WARN,
            LogLevel::Info => Self::INFO,
            LogLevel::Debug => Self::DEBUG,
            LogLevel::Trace => Self::TRACE,
        }
    }
}
