//! How a store is opened, as JSON: the sections of the configuration file, with the same names and
//! bounds, and what a command says with options.

use std::fmt::Display;
use std::path::PathBuf;

use host::config::{Config, Core, Policy, Serve, Store, Upstreams, Wakes};
use host::{Awareness, Builder, LATEST};
use serde::Deserialize;

use crate::status::{Failure, Status};
use crate::stores;

/// A configuration that was checked.
pub struct Configuration {
    path: PathBuf,
    config: Config,
    manual_clock_ms: Option<u64>,
    monitor: bool,
    recover: bool,
    read_only: bool,
}

/// The JSON.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Members {
    store: Store,
    core: Core,
    serve: Requests,
    wakes: Wakes,
    upstreams: Upstreams,
    policy: Policy,
    /// Time stands there, in ms since 1970, and moves only by the method `clock`.
    manual_clock_ms: Option<u64>,
    /// Check adopted sessions without being asked to.
    monitor: bool,
    /// Recover before opening returns.
    recover: bool,
    /// Look, and change nothing.
    read_only: bool,
}

/// Of the section `serve`, what there is without a server.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Requests {
    request_bytes: usize,
    batch_requests: usize,
}

impl Default for Members {
    fn default() -> Self {
        Self {
            store: Store::default(),
            core: Core::default(),
            serve: Requests::default(),
            wakes: Wakes::default(),
            upstreams: Upstreams::default(),
            policy: Policy::default(),
            manual_clock_ms: None,
            monitor: false,
            recover: true,
            read_only: false,
        }
    }
}

impl Default for Requests {
    fn default() -> Self {
        let Serve { request_bytes, batch_requests, .. } = Serve::default();
        Self { request_bytes, batch_requests }
    }
}

impl From<Requests> for Serve {
    fn from(Requests { request_bytes, batch_requests }: Requests) -> Self {
        Self { request_bytes, batch_requests, ..Self::default() }
    }
}

impl Configuration {
    /// Reads it.
    ///
    /// # Errors
    /// It is not JSON, has an unknown member, one of another type or beyond its bounds, or says no path;
    /// names the member.
    pub fn parse(json: &str) -> Result<Self, Failure> {
        let members = serde_json::from_str(json).map_err(invalid)?;
        let Members { store, core, serve, wakes, upstreams, policy, .. } = members;
        let Members { manual_clock_ms, monitor, recover, read_only, .. } = members;
        let serve = serve.into();
        let log = host::config::Log::default();
        let config = Config { store, core, serve, wakes, upstreams, policy, log };
        config.check().map_err(invalid)?;
        let Some(path) = config.store.path.clone() else {
            return Err(invalid(
                "store.path is missing: give the path of the file, or \":memory:\"",
            ));
        };
        if let Some(start) = manual_clock_ms.filter(|start| *start > LATEST) {
            let words = format!("manual_clock_ms is {start}; it must lie between 0 and {LATEST}");
            return Err(invalid(words));
        }
        Ok(Self { path, config, manual_clock_ms, monitor, recover, read_only })
    }

    /// Where compiled code is kept.
    pub fn cache(&self) -> Option<PathBuf> {
        self.config.core.cache()
    }

    /// Which core is to serve.
    pub fn core(&self) -> stores::Core {
        match &self.config.core.plugin {
            None => stores::Core::BuiltIn,
            Some(path) => stores::Core::File(path.clone()),
        }
    }

    /// Most requests in a batch.
    pub fn batch_requests(&self) -> usize {
        self.config.serve.batch_requests
    }

    /// Everything else.
    pub fn builder(&self) -> Builder {
        let mut builder =
            self.config.apply(Awareness::builder(&self.path)).recover_on_open(self.recover);
        if let Some(start) = self.manual_clock_ms {
            builder = builder.manual_clock(start);
        }
        if self.monitor {
            builder = builder.monitor_upstreams();
        }
        if self.read_only {
            builder = builder.read_only();
        }
        builder
    }
}

fn invalid(why: impl Display) -> Failure {
    let message = format!("the configuration is not valid: {why}");
    Failure::new(Status::InvalidConfiguration, "invalid-configuration", message)
}
