//! The component, built once, and empty stores to play it on.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use headsup::examination::{Examination, FileStage};
use headsup::storage::{Durability, StoreOptions};
use tempfile::TempDir;

/// The component, as `make component` builds it.
pub fn component() -> &'static [u8] {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| {
        let script = root().join("scripts/conformance");
        let built = Command::new(script).env("CARGO_TARGET_DIR", target()).status().unwrap();
        assert!(built.success(), "tests/conformance does not build");
        fs::read(target().join("guest/headsup-conformance.wasm")).unwrap()
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Where this workspace builds: the folder for tests lies in it.
pub fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().to_owned()
}

/// It compiled.
pub fn examination() -> &'static Examination {
    static EXAMINATION: OnceLock<Examination> = OnceLock::new();
    EXAMINATION.get_or_init(|| Examination::new(harness::engine(), component()).unwrap())
}

/// A folder with a new store for each case.
pub struct Folder {
    folder: TempDir,
    stores: Cell<u32>,
}

impl Folder {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), stores: Cell::new(0) }
    }

    /// Where the next store will be, and how it is opened: no case is about power that goes.
    pub fn next(&self) -> StoreOptions {
        self.stores.set(self.stores.get() + 1);
        let path = self.folder.path().join(format!("{}.db", self.stores.get()));
        StoreOptions { durability: Durability::Normal, ..StoreOptions::new(path) }
    }

    /// The next store, as it is.
    pub fn store(&self) -> Result<FileStage, String> {
        FileStage::open(&self.next()).map_err(|failure| failure.message)
    }
}
