//! `plugin inspect` and `plugin check`.

use std::fs;

use serde_json::Value;
use tempfile::tempdir;

use crate::binary::{run_with, text};

#[test]
fn the_built_in_core_may_be_loaded_and_imports_the_contract_alone() {
    let ended = run_with(["plugin", "inspect", "--builtin", "--json"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&found["name"], &found["loads"]), (&"headsup".into(), &true.into()));
    for import in found["imports"].as_object().unwrap().keys() {
        let allowed = import.starts_with("headsup:awareness/")
            || import.starts_with("wasi:clocks/wall-clock@");
        assert!(allowed, "{import}");
    }
    let shown = run_with(["plugin", "inspect", "--builtin"]).stdout;
    assert!(shown.contains("it may be loaded") && shown.contains("record-many"), "{shown}");
}

#[test]
fn the_built_in_core_conforms() {
    let ended = run_with(["plugin", "check", "--builtin", "--json"]);
    assert_eq!(ended.status, 0, "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["differences"], serde_json::json!([]));
    assert!(report["files"].as_u64() > Some(0) && report["passed"].as_u64() > Some(0), "{report}");
}

#[test]
fn what_is_no_component_is_exit_status_1_with_the_reason() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("core.wasm");
    let module = b"\0asm\x01\0\0\0";
    for (bytes, words) in [
        (&b"not wasm"[..], "not a WebAssembly component"),
        (module, "a WebAssembly module, not a component"),
        (b"\0asm\x0d\0\x01\0garbage", "not a valid component"),
    ] {
        fs::write(&file, bytes).unwrap();
        for arguments in [["plugin", "inspect"], ["plugin", "check"]] {
            let ended = run_with([&arguments[..], &[text(&file)]].concat());
            assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{arguments:?}");
            assert!(ended.stderr.contains(words), "{}", ended.stderr);
        }
        let serving = ["serve", "--stdio", "--db", ":memory:", "--plugin", text(&file)];
        let ended = run_with(serving);
        assert_eq!(ended.status, 1);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}

#[test]
fn an_empty_component_is_inspected_and_may_not_be_loaded() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("empty.wasm");
    fs::write(&file, b"\0asm\x0d\0\x01\0").unwrap();
    let ended = run_with(["plugin", "inspect", text(&file)]);
    assert_eq!((ended.status, ended.stderr.as_str()), (1, ""));
    assert!(ended.stdout.contains("it may not be loaded"), "{}", ended.stdout);
    assert!(ended.stdout.contains("does not export"), "{}", ended.stdout);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    for command in ["inspect", "check"] {
        let ended = run_with(["plugin", command, "no-such-core.wasm"]);
        assert_eq!(ended.status, 1);
        assert!(ended.stderr.contains("no-such-core.wasm"), "{}", ended.stderr);
        assert_eq!(ended.stderr.matches("os error").count(), 1, "{}", ended.stderr);
    }
}
