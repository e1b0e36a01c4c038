//! Crates of cores that stand outside the workspace, built as somebody with one of their own would.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use crate::command::SCRATCH;

const TARGET: &str = "wasm32-wasip2";

/// Builds such a crate, in a target folder that all of them share, and returns its component. Cargo's
/// lock on that folder makes tests of several processes wait for each other; those of this one are
/// serialised here.
///
/// # Panics
/// If it does not build.
pub fn build(folder: &Path, features: &str) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let name = folder.file_name().unwrap().to_str().unwrap().replace('-', "_");
    let target = target();
    let mut cargo = cargo(folder);
    cargo.args(["build", "--release", "--quiet", "--target", TARGET, "--features", features]);
    let status = cargo.arg("--target-dir").arg(&target).status().unwrap();
    assert!(status.success(), "{} does not build", folder.display());
    target.join(TARGET).join("release").join(format!("{name}.wasm"))
}

/// The vectors that a crate's core answers otherwise than the protocol does, by the table in its
/// README: of each file the first, as `plugin check` shows them.
pub fn differences(folder: &Path) -> Vec<[String; 2]> {
    let readme = fs::read_to_string(folder.join("README.md")).unwrap();
    let rows = readme.lines().filter_map(|line| {
        let (file, rest) = line.strip_prefix("| `")?.split_once(".jsonl` | ")?;
        let (rule, _) = rest.split_once(" | ")?;
        Some([format!("{file}.jsonl"), rule.to_owned()])
    });
    rows.collect()
}

/// Where they are built; the folder is there, so that whoever asks first can also point to it.
///
/// # Panics
/// If it cannot be made.
pub fn target() -> PathBuf {
    let target = SCRATCH.join("plugins");
    fs::create_dir_all(&target).unwrap();
    target
}

/// Cargo in such a crate, with what this machine has already. What the outer cargo was asked for is
/// meant for other code.
pub fn cargo(folder: &Path) -> Command {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder);
    for (name, _) in env::vars_os() {
        let inherited = name.to_string_lossy();
        let foreign = [
            "CARGO_PROFILE_",
            "CARGO_BUILD_",
            "CARGO_TARGET_",
            "CARGO_ENCODED_",
            "RUSTFLAGS",
            "RUSTC",
        ];
        if foreign.iter().any(|prefix| inherited.starts_with(prefix)) {
            cargo.env_remove(&name);
        }
    }
    cargo
}
