//! Where a store is and how it behaves.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// The path that means "in memory, gone at the end".
const IN_MEMORY: &str = ":memory:";

/// When a commit counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Once the disk has it: what was committed survives a power loss.
    #[default]
    Full,
    /// Once the operating system has it: survives the end of the process, but a power loss may
    /// take the newest commits. Never damages the file.
    Normal,
}

/// Where a store is and how it behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOptions {
    /// The file, or `:memory:`.
    pub path: PathBuf,
    /// How long to wait for a lock that another process or connection holds; 5,000 ms by default.
    pub busy_timeout: Duration,
    /// When a commit counts as done.
    pub durability: Durability,
    /// How many pages of 4 KiB with new commits may lie in the log beside the file before they are
    /// brought into it; 4,000 by default.
    pub checkpoint_pages: u32,
}

impl StoreOptions {
    /// 16 MB of commits: bringing them into the file costs two syncs and every page that changed, so
    /// that four times SQLite's default makes a record a fifth cheaper.
    pub const CHECKPOINT_PAGES: u32 = 4_000;

    /// The defaults for a file, or for `:memory:`.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            busy_timeout: Duration::from_secs(5),
            durability: Durability::default(),
            checkpoint_pages: Self::CHECKPOINT_PAGES,
        }
    }

    /// Whether the store lives in memory alone: it is empty when opened, has one connection, and
    /// is gone when that closes.
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        self.path == Path::new(IN_MEMORY)
    }

    /// The store's name in messages.
    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }
}
