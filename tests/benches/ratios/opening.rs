//! From nothing to the first answer: a store is opened, a core loaded, a call answered.

use std::path::Path;
use std::time::Instant;

use headsup::Awareness;

use crate::paired::{median, micros};
use crate::report::{Report, row, time};
use crate::stores::{Stores, TARGET};

pub fn measure(stores: &Stores, report: &mut Report) {
    let path = stores.watched_by(1);
    let filled = stores.cache();
    first_answer(&path, Some(&filled));
    let kept = median((0..30).map(|_| first_answer(&path, Some(&filled))).collect());
    let compiling = median((0..5).map(|_| first_answer(&path, None)).collect());
    let rows = [
        row(&["compiled code", "open to first answer"]),
        vec!["kept".to_owned(), time(kept)],
        vec!["none: it is compiled first".to_owned(), time(compiling)],
    ];
    report.table("Start", &rows);
    let promise = "open to first answer with the compiled form at hand";
    report.at_most(promise, kept / 1_000.0, 25.0, " ms");
}

/// As a process would start: with an engine of its own, and recovery.
fn first_answer(path: &Path, cache: Option<&Path>) -> f64 {
    let started = Instant::now();
    let mut builder = Awareness::builder(path);
    if let Some(cache) = cache {
        builder = builder.cache_dir(cache);
    }
    let awareness = builder.open().unwrap();
    assert_eq!(awareness.versions([TARGET]).unwrap(), [Some(1)]);
    micros(started.elapsed())
}
