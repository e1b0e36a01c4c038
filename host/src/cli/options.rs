//! The options that all commands share, and what they mean together with the configuration.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use headsup::config::{Config, LogLevel, Policy, default_path};
use headsup::contract::InvalidInput;
use headsup::{Awareness, Builder, Engine, OpenError, Plugin};
use tracing::level_filters::LevelFilter;

use super::failure::Failure;

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
            Some(path) => read(path)?,
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
        let path = default_path().context("there is no data directory here: give --db PATH")?;
        Ok(path)
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
        let builder = self.config.apply(Awareness::builder(path)).plugin(self.plugin()?);
        Ok(match self.options.manual_clock {
            Some(start) => builder.manual_clock(start),
            None => builder,
        })
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
        Ok(Engine::new(self.config.core.cache())?)
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

fn read(path: &Path) -> anyhow::Result<Config> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the configuration {name} cannot be read"))?;
    Config::parse(&text).with_context(|| format!("the configuration {name} is not valid"))
}

fn start_log(level: LogLevel) {
    let colour = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_max_level(filter(level))
        .with_ansi(colour)
        .with_target(false)
        .init();
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
