//! What may not be loaded is refused before it runs, and says why.

use std::fs::{self, File};
use std::path::PathBuf;

use headsup::{Awareness, Inspection, OpenError, Plugin, PluginError, Recording};
use tempfile::TempDir;

use crate::cores;
use crate::stage::{self, GOOD};

fn refused(bytes: &[u8]) -> PluginError {
    match Plugin::from_bytes(cores::engine(), "candidate.wasm", bytes) {
        Ok(_) => panic!("it was loaded"),
        Err(error) => error,
    }
}

/// What opening a store with this file as its plugin says.
fn opening_with(make: impl FnOnce(&PathBuf)) -> String {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("candidate.wasm");
    make(&file);
    let error = Awareness::builder(":memory:").plugin_file(&file).open().unwrap_err();
    assert!(matches!(error, OpenError::Plugin(_)), "{error:?}");
    let message = error.to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

#[test]
fn a_capability_outside_the_contract_is_refused_by_name() {
    let error = refused(&cores::with_feature("thief"));
    let PluginError::ForbiddenImport { import } = &error else { panic!("{error}") };
    assert!(import.starts_with("wasi:cli/environment@"), "{import}");
}

/// The library in C brings standard output along, so that another name may be the first.
#[test]
fn a_component_that_imports_files_or_the_network_is_refused_by_name() {
    for (feature, expected) in [
        ("reader", &["wasi:filesystem/preopens@", "wasi:filesystem/types@"][..]),
        ("caller", &["wasi:sockets/tcp@", "wasi:sockets/network@"][..]),
    ] {
        let bytes = cores::with_feature(feature);
        let inspection = Inspection::of_bytes(cores::engine(), "candidate.wasm", &bytes).unwrap();
        let imports: Vec<&String> = inspection.surface.imports.keys().collect();
        for start in expected {
            assert!(imports.iter().any(|import| import.starts_with(start)), "{start}: {imports:?}");
        }
        let error = inspection.verdict.map(|_| ()).unwrap_err();
        let PluginError::ForbiddenImport { import } = &error else { panic!("{error}") };
        assert!(import.starts_with("wasi:") && imports.contains(&import), "{import}");
        assert!(error.to_string().contains(import.as_str()), "{error}");
    }
}

#[test]
fn another_version_of_the_contract_is_refused_and_both_are_named() {
    let error = refused(&cores::patched("@0.1.0", "@0.2.0"));
    let PluginError::Incompatible { item, offered } = &error else { panic!("{error}") };
    assert!(item.ends_with("@0.2.0") && offered.ends_with("@0.1.0"), "{error}");
}

#[test]
fn a_newer_patch_of_the_contract_is_loaded_and_works() {
    let newer = cores::patched("@0.1.0", "@0.1.7");
    let plugin = Plugin::from_bytes(cores::engine(), "newer", &newer).unwrap();
    let (awareness, _) = stage::open(":memory:".as_ref(), &plugin, |builder| builder);
    assert_eq!(stage::record(&awareness, GOOD), Recording::Recorded(1));
}

#[test]
fn an_export_that_is_not_there_is_named() {
    let error = refused(&cores::patched("awareness/reconciliation@", "awareness/reconciliatiom@"));
    let PluginError::MissingExport { export } = &error else { panic!("{error}") };
    assert_eq!(export, "headsup:awareness/reconciliation");
}

#[test]
fn a_type_of_another_shape_than_in_the_contract_is_refused() {
    // A field of a record that only exports use, and one that imports use.
    for (field, other) in [("history-gap", "history-cap"), ("only-if-watched", "only-as-watched")] {
        let error = refused(&cores::patched(field, other));
        assert!(matches!(error, PluginError::Mismatch { .. }), "{error:?}");
    }
}

#[test]
fn a_core_that_does_not_say_who_it_is_is_refused() {
    let error = refused(&cores::with_feature("mute"));
    assert!(matches!(error, PluginError::Misbehaved { .. }), "{error:?}");
}

#[test]
fn a_module_is_told_from_a_component() {
    let module = b"\0asm\x01\0\0\0";
    assert!(matches!(refused(module), PluginError::Module { .. }));
    let message = opening_with(|file| fs::write(file, module).unwrap());
    assert!(message.contains("component new"), "{message}");
}

#[test]
fn a_file_that_was_cut_off_or_damaged_is_refused() {
    let whole = cores::bytes();
    for kept in [4, 8, 9, 1_000, whole.len() / 2, whole.len() - 1] {
        let error = refused(&whole[..kept]);
        // Eight bytes are a component: an empty one.
        let fits = match &error {
            PluginError::Broken { .. } => kept != 8,
            PluginError::MissingExport { .. } => kept == 8,
            _ => false,
        };
        assert!(fits, "{kept} bytes: {error:?}");
    }
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle..middle + 64].fill(0xff);
    assert!(matches!(refused(&damaged), PluginError::Broken { .. }));
}

#[test]
fn what_is_no_web_assembly_is_refused() {
    for bytes in [&b""[..], b"\0", b"(component)", b"#!/bin/sh\n", b"\x7fELF\x02\x01\x01\0"] {
        let error = refused(bytes);
        assert!(matches!(error, PluginError::NotWebAssembly { .. }), "{bytes:?}: {error:?}");
    }
    let message = opening_with(|file| fs::write(file, "not a plugin").unwrap());
    assert!(message.contains("candidate.wasm is not a WebAssembly component"), "{message}");
}

#[test]
fn a_path_that_holds_no_file_is_refused() {
    let missing = opening_with(|_| {});
    assert!(missing.contains("candidate.wasm cannot be read"), "{missing}");
    let directory = opening_with(|file| fs::create_dir(file).unwrap());
    assert!(directory.contains("candidate.wasm cannot be read"), "{directory}");
}

#[test]
fn a_file_larger_than_any_core_is_refused_unread() {
    let message = opening_with(|file| {
        File::create(file).unwrap().set_len(1 << 40).unwrap();
    });
    assert!(message.contains("larger than"), "{message}");
}
