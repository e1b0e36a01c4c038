//! Where connections to the store come from, whether it is still to be worked on, and whether it can be
//! opened again.

use std::sync::{Arc, OnceLock};

use crate::contract::StorageFailure;
use crate::storage::{Identity, Store, StoreOptions};

/// One store, of which any number of connections can be opened.
#[derive(Clone, Debug)]
pub(crate) struct Stores {
    options: StoreOptions,
    /// Whether readers are the only connections: they then change nothing beside the file either.
    read_only: bool,
    /// Why nothing is read or written any more: a sync failed, or the log was taken away.
    distrusted: Arc<OnceLock<StorageFailure>>,
    /// The file that the first connection opened.
    file: Arc<OnceLock<Identity>>,
}

impl Stores {
    /// A store in memory is never read-only: there would be nothing in it. A path is taken from the folder
    /// that the process is in now, wherever it goes later.
    pub(crate) fn new(mut options: StoreOptions, read_only: bool) -> Self {
        let read_only = read_only && !options.is_in_memory();
        if !options.is_in_memory()
            && let Ok(path) = std::path::absolute(&options.path)
        {
            options.path = path;
        }
        Self { options, read_only, distrusted: Arc::default(), file: Arc::default() }
    }

    /// Whether there are connections that can write.
    pub(crate) fn has_writer(&self) -> bool {
        !self.read_only
    }

    /// Whether there are connections beside the writer. A store in memory lives in that one, and
    /// ends with it.
    pub(crate) fn has_readers(&self) -> bool {
        !self.options.is_in_memory()
    }

    /// Takes no connection for good any more, new ones included: after a failed sync the system may
    /// say of the next one that all is well, although what the first should have saved is lost. What a log
    /// held that was taken away is in the file only as far as it could be brought there.
    pub(crate) fn distrust(&self, failure: &StorageFailure) {
        // The first failure is the one to tell.
        let _ = self.distrusted.set(failure.clone());
    }

    /// Whether the store may be worked on.
    ///
    /// # Errors
    /// The first such failure, until the whole store is opened anew; `failed` as long as the path does not
    /// lead to the file that was opened first.
    pub(crate) fn trusted(&self) -> Result<(), StorageFailure> {
        if let Some(failure) = self.distrusted.get() {
            return Err(failure.clone());
        }
        self.file.get().map_or(Ok(()), |file| file.refuse_another(&self.options.path))
    }

    /// Whether a connection that failed may be closed and opened again.
    pub(crate) fn can_reopen(&self) -> bool {
        self.has_readers()
    }

    /// A connection that can write, with its schema up to date.
    pub(crate) fn writer(&self) -> Result<Store, StorageFailure> {
        Store::open(&self.options).inspect(|_| self.remember())
    }

    /// A connection that cannot write.
    pub(crate) fn reader(&self) -> Result<Store, StorageFailure> {
        let reader = if self.read_only {
            Store::inspect(&self.options)
        } else {
            Store::open_reader(&self.options)
        };
        reader.inspect(|_| self.remember())
    }

    /// Keeps which file it is, the first time.
    fn remember(&self) {
        if self.file.get().is_none()
            && !self.options.is_in_memory()
            && let Ok(Some(file)) = Identity::at(&self.options.path)
        {
            let _ = self.file.set(file);
        }
    }
}
