//! The cores that these tests load: `tests/hostile` and the template of plugins, each built once, and what
//! can be made of the bytes of the first.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use harness::plugins;
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

/// The template of a core of one's own, as it stands in the repository.
pub fn template() -> Plugin {
    static PLUGIN: OnceLock<Plugin> = OnceLock::new();
    let load = || {
        let component = plugins::build(&template_folder(), "");
        Plugin::from_file(engine(), component).unwrap()
    };
    PLUGIN.get_or_init(load).clone()
}

/// Where it stands.
pub fn template_folder() -> PathBuf {
    folder("bindings/plugin-template")
}

/// The misbehaving one with one of its crate's features.
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

fn build(features: &str) -> Vec<u8> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    // The next build with other features takes the place of this one's component.
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    fs::read(plugins::build(&folder("tests/hostile"), features)).unwrap()
}

/// A folder of the repository.
fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}
