//! Another core at run time: loaded and checked before, tried out on a scratch store, then switched
//! to between two calls.

use std::sync::PoisonError;

use crate::awareness::Awareness;
use crate::conformance;
use crate::error::OpenError;
use crate::plugin::{Plugin, PluginError};

impl Plugin {
    /// An [`Awareness`] that runs this core over an empty store in memory, with a manual clock at
    /// 0: to try the core out without touching anything.
    ///
    /// # Errors
    /// If not even that can be opened.
    pub fn scratch(&self) -> Result<Awareness, OpenError> {
        Awareness::builder(":memory:")
            .plugin(self.clone())
            .manual_clock(0)
            .recover_on_open(false)
            .open()
    }
}

impl Awareness {
    /// Serves all calls to come with another core. Calls in flight end with the core they began
    /// with; this returns once they have, and no call sees both.
    ///
    /// The plugin was checked against the contract when it was loaded; see
    /// [`swap_checked`](Self::swap_checked) for a check of what it does.
    ///
    /// ```
    /// use headsup::{Awareness, Engine, Plugin};
    ///
    /// let awareness = Awareness::builder(":memory:").open()?;
    /// let other = Plugin::built_in(&Engine::new(None)?)?;
    /// awareness.swap(&other);
    /// assert_eq!(awareness.metadata(), *other.metadata());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn swap(&self, plugin: &Plugin) {
        let switch = || {
            if let Some(readers) = &self.inner.readers {
                readers.switch(plugin.clone());
            }
            let current = self.inner.plugin.write();
            *current.unwrap_or_else(PoisonError::into_inner) = plugin.clone();
        };
        match &self.inner.writer {
            Some(writer) => writer.stopped(|desk| {
                switch();
                desk.switch(plugin.clone());
            }),
            None => switch(),
        }
    }

    /// The same after the core passed the protocol's conformance vectors, each file of them on a
    /// scratch store of its own. Takes a second or so, in which the old core goes on serving.
    ///
    /// # Errors
    /// [`PluginError::Rejected`] says where the core differs; nothing was changed.
    pub fn swap_conforming(&self, plugin: &Plugin) -> Result<(), PluginError> {
        conformance::require(plugin)?;
        self.swap(plugin);
        Ok(())
    }

    /// The same after the core passed a check on a scratch store of its own: the conformance
    /// vectors, say. A core that fails it, with the words that the check returns, changes nothing.
    ///
    /// # Errors
    /// [`PluginError::Rejected`] with what the check said, or why there is no scratch store.
    pub fn swap_checked(
        &self,
        plugin: &Plugin,
        check: impl FnOnce(&Awareness) -> Result<(), String>,
    ) -> Result<(), PluginError> {
        let scratch = plugin.scratch().map_err(|error| error.to_string());
        let checked = scratch.and_then(|scratch| check(&scratch));
        checked.map_err(|detail| PluginError::Rejected { detail })?;
        self.swap(plugin);
        Ok(())
    }
}
