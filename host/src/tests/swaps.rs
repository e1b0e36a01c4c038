//! Another core at run time.

use std::thread;

use super::{CHILD, CORE, MAIN, builder};
use crate::{Actor, Engine, Inspection, Plugin, PluginError, Recording, Signal};

#[test]
fn calls_in_flight_and_calls_to_come_all_succeed_across_a_swap() {
    let folder = tempfile::tempdir().unwrap();
    let awareness = builder(folder.path().join("store.db")).open().unwrap();
    let other = Plugin::built_in(&Engine::new(None).unwrap()).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            let awareness = awareness.clone();
            scope.spawn(move || {
                for _ in 0..50 {
                    let signal = Signal::created(CHILD, Actor::system());
                    assert!(matches!(awareness.record(signal), Ok(Recording::Recorded(_))));
                    assert!(awareness.versions([CHILD]).unwrap()[0].is_some());
                }
            });
        }
        for _ in 0..5 {
            awareness.swap(&other);
            awareness.swap(&CORE);
        }
    });
    assert_eq!(awareness.versions([CHILD]).unwrap(), [Some(200)]);
}

#[test]
fn a_core_that_fails_its_check_changes_nothing() {
    let awareness = builder(":memory:").open().unwrap();
    awareness.watch(MAIN, CHILD, false).unwrap();
    let rejected = awareness.swap_checked(&CORE, |scratch| {
        assert!(scratch.watches_of(MAIN).unwrap().is_empty(), "a scratch store is empty");
        Err("vector 3 differs".into())
    });
    assert!(
        matches!(rejected, Err(PluginError::Rejected { detail }) if detail == "vector 3 differs")
    );
    awareness.swap_checked(&CORE, |_| Ok(())).unwrap();
    assert_eq!(awareness.watches_of(MAIN).unwrap().len(), 1);
}

#[test]
fn what_is_no_component_is_refused_in_words() {
    let engine = CORE.engine();
    let refused = |bytes: &[u8]| Plugin::from_bytes(engine, "x.wasm", bytes).err().unwrap();
    assert!(matches!(refused(b""), PluginError::NotWebAssembly { .. }));
    assert!(matches!(refused(b"\x7fELF and so on"), PluginError::NotWebAssembly { .. }));
    assert!(matches!(refused(b"\0asm\x01\0\0\0"), PluginError::Module { .. }));
    assert!(matches!(refused(b"\0asm\x0d\0\x01\0"), PluginError::MissingExport { .. }));
    let whole = include_bytes!(concat!(env!("OUT_DIR"), "/core.wasm"));
    assert!(matches!(refused(&whole[..whole.len() / 2]), PluginError::Broken { .. }));
    let missing = Plugin::from_file(engine, "/nowhere/x.wasm").err().unwrap();
    assert!(matches!(missing, PluginError::Unreadable { .. }));
}

#[test]
fn the_built_in_core_imports_the_contract_and_the_wall_clock_alone() {
    let whole = include_bytes!(concat!(env!("OUT_DIR"), "/core.wasm"));
    let inspection = Inspection::of_bytes(CORE.engine(), "core", whole).unwrap();
    let imports: Vec<&str> = inspection.surface.imports.keys().map(String::as_str).collect();
    assert_eq!(
        imports,
        [
            "headsup:awareness/log@0.1.0",
            "headsup:awareness/queue@0.1.0",
            "headsup:awareness/settings@0.1.0",
            "headsup:awareness/sources@0.1.0",
            "headsup:awareness/storage@0.1.0",
            "headsup:awareness/types@0.1.0",
            "wasi:clocks/wall-clock@0.2.6",
        ]
    );
    assert!(inspection.verdict.is_ok());
}

#[test]
fn the_built_in_core_holds_no_path_of_the_machine_that_built_it() {
    let whole = include_bytes!(concat!(env!("OUT_DIR"), "/core.wasm"));
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/").trim_end_matches("host/");
    assert!(!whole.windows(folder.len()).any(|bytes| bytes == folder.as_bytes()));
}
