//! The conformance vectors against the built-in component, in wasmtime over real `SQLite`; and that
//! they leave nothing out ([`coverage`]), that a wrong answer would be noticed ([`wrong_answers`]), and
//! that a store in a file gives the same answers ([`file_store`]).
//!
//! The format is described in `README.md` beside this file.

// A test that cannot be set up has failed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod coverage;
mod file_store;
mod messages;
mod vectors;
mod witness;
mod wrong_answers;

use headsup::conformance::{self, VECTORS};
use headsup::{Engine, Plugin};

/// The component that headsup was built with.
fn built_in() -> Plugin {
    Plugin::built_in(&Engine::new(None).unwrap()).unwrap()
}

#[test]
fn the_built_in_component_answers_every_vector_as_it_must() {
    let report = conformance::check(&built_in()).unwrap();
    let differences: Vec<String> = report.differences.iter().map(ToString::to_string).collect();
    assert!(report.conforms(), "{}", differences.join("\n"));
    assert_eq!(report.files, VECTORS.len());
    assert_eq!(report.passed, vectors::steps().count());
}

#[test]
fn every_file_of_vectors_is_part_of_the_binary() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.strip_suffix(".jsonl").is_some())
        .collect();
    files.sort();
    let embedded: Vec<&str> = VECTORS.iter().map(|(name, _)| *name).collect();
    assert_eq!(embedded, files);
}
