//! The storage conformance component, played on headsup's own storage, where every case passes, and on
//! storage with a planted fault, where the case that names the rule fails.
//!
//! `stage` builds the component and makes empty stores, `bent` is our storage with something wrong,
//! `planted` has the faults and the rules that find them.

// A test that cannot be set up has failed.
#![allow(clippy::unwrap_used)]

mod bent;
mod planted;
mod stage;

use headsup::examination::{Examination, FileStage, What};
use headsup::storage::StoreOptions;

use stage::{Folder, component, examination};

#[test]
fn our_own_storage_passes_every_case() {
    let folder = Folder::new();
    let report = examination().play(|| folder.store()).unwrap();
    assert!(report.is_whole(), "{report}");
    assert!(report.cases > 60, "{report}");
}

#[test]
fn a_store_in_memory_passes_but_for_what_needs_a_second_connection_or_a_second_opening() {
    let open = || {
        let opened = FileStage::open(&StoreOptions::new(":memory:"));
        opened.map_err(|failure| failure.message)
    };
    let report = examination().play(open).unwrap();
    assert!(report.holds(), "{report}");
    assert!(!report.is_whole(), "nothing of it needs a second connection");
    assert!(report.found.iter().all(|found| matches!(found.what, What::Unexamined(_))));
}

#[test]
fn the_component_imports_what_a_core_does_and_a_rival_and_nothing_else() {
    let inspection =
        headsup::Inspection::of_bytes(harness::engine(), "the examination", component()).unwrap();
    let imports: Vec<String> = inspection.surface.imports.into_keys().collect();
    let expected = [
        "headsup:awareness/log@0.1.0",
        "headsup:awareness/queue@0.1.0",
        "headsup:awareness/rival@0.1.0",
        "headsup:awareness/settings@0.1.0",
        "headsup:awareness/sources@0.1.0",
        "headsup:awareness/storage@0.1.0",
        "headsup:awareness/types@0.1.0",
        "wasi:clocks/wall-clock@0.2.6",
    ];
    assert_eq!(imports, expected);
    let exports: Vec<String> = inspection.surface.exports.into_keys().collect();
    assert_eq!(exports, ["headsup:awareness/examination@0.1.0"]);
}

#[test]
fn a_core_is_no_examination() {
    let core = std::fs::read(stage::target().join("guest/headsup.wasm")).unwrap();
    let folder = Folder::new();
    let examination = Examination::new(harness::engine(), &core).unwrap();
    let error = examination.play(|| folder.store()).unwrap_err();
    assert!(error.to_string().contains("does not examine hosts"), "{error}");
}
