//! The cores that these tests load: `tests/hostile`, built once, and what can be made of its bytes.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::{env, fs};

use headsup::{Engine, Plugin};

/// One engine for all tests, so that each core is compiled once.
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(None).unwrap())
}

/// The core that misbehaves when a call names `hostile:<word>`.
pub fn hostile() -> Plugin {
    static PLUGIN: OnceLock<Plugin> = OnceLock::new();
    let load = || Plugin::from_bytes(engine(), "hostile", &bytes()).unwrap();
    PLUGIN.get_or_init(load).clone()
}

/// Its component.
pub fn bytes() -> Vec<u8> {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    BYTES.get_or_init(|| build("")).clone()
}

/// The same with one of the crate's features.
pub fn with_feature(feature: &str) -> Vec<u8> {
    build(feature)
}

/// The same with some text in it replaced by other text of the same length: names keep their
/// lengths, so that it stays a valid component.
pub fn patched(from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes();
    let mut found = 0;
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from.as_bytes()) {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
            found += 1;
        }
    }
    assert!(found > 0, "there is no {from} in the component");
    bytes
}

/// Builds the crate as somebody with a plugin of their own would. Cargo's lock on the target folder
/// makes tests of several processes wait for each other; those of this one are serialised here.
fn build(features: &str) -> Vec<u8> {
    static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(folder())
        .args(["build", "--locked", "--quiet", "--target", "wasm32-wasip2", "--profile", "guest"])
        .args([OsStr::new("--target-dir"), target.as_os_str()])
        .args(["--features", features]);
    // What the outer cargo was asked for is meant for this machine's code.
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
    let status = cargo.status().unwrap();
    assert!(status.success(), "tests/hostile does not build");
    fs::read(target.join("wasm32-wasip2/guest/hostile.wasm")).unwrap()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile")
}
