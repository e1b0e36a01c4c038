//! What the component costs, as ratios in one run: beside the same logic compiled natively over the
//! same store, and beside the bare SQL statements.
//!
//! Contestants run in small batches in turn, so that whatever else the machine does hits all alike;
//! a figure is the median of the batches, a ratio the median of the ratios of batches that ran side
//! by side. Prints its tables, writes them to `target/bench-report.md`, and fails where a promise is
//! not kept.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing call ends a measurement")]
#![allow(clippy::cast_precision_loss, reason = "counts are far below 2^52")]

mod adopted;
mod bare;
mod full;
mod history;
mod large;
mod many;
mod native;
mod notices;
mod opening;
mod paired;
mod record;
mod report;
mod settled;
mod stores;

use std::process::ExitCode;
use std::time::Instant;

use report::Report;
use stores::Stores;

/// A part of the report: its name, and what measures it.
type Section = (&'static str, fn(&Stores, &mut Report));

/// What is measured, in this order.
const SECTIONS: [Section; 9] = [
    ("record", record::measure),
    ("settled", settled::measure),
    ("many", many::measure),
    ("notices", notices::measure),
    ("history", history::measure),
    ("large", large::measure),
    ("adopted", adopted::measure),
    ("full", full::measure),
    ("opening", opening::measure),
];

fn main() -> ExitCode {
    // `cargo test --all-targets` runs this file too, unoptimised.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let started = Instant::now();
    let stores = Stores::new();
    let mut report = Report::default();
    // `cargo bench --bench ratios -- record large` measures these alone.
    let asked: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for (name, measure) in SECTIONS {
        if asked.is_empty() || asked.iter().any(|word| word == name) {
            measure(&stores, &mut report);
        }
    }
    report.note(&format!("measured in {:.0} s", started.elapsed().as_secs_f64()));
    report.finish()
}
