//! A record on a target whose watchers all have an open notice: what happens most often.

use std::cell::Cell;
use std::path::PathBuf;

use headsup::Durability;
use headsup_component::record;

use crate::bare::Bare;
use crate::paired::{Clock, Contestant, Times, race};
use crate::report::{Report, row, time, times};
use crate::stores::{self, RECORD, Stores, call, native_signal, signal};

const WATCHERS: [usize; 4] = [1, 10, 100, 1_000];
const ROUNDS: usize = 50;

/// So many that most batches put SQLite's log into the store, as recording does in the long run.
const BATCH: u32 = 300;

/// Contestants for each number of watchers.
const KINDS: usize = 4;

pub fn measure(stores: &Stores, report: &mut Report) {
    let crossings = Cell::new(0);
    let paths: Vec<[PathBuf; KINDS]> = WATCHERS
        .iter()
        .map(|watchers| std::array::from_fn(|_| stores.watched_by(*watchers)))
        .collect();
    let contestants = paths.iter().flat_map(|paths| contestants(stores, paths, &crossings));
    let measured = race(ROUNDS, contestants.collect());

    let mut rows = vec![row(&[
        "pending watchers",
        "bare SQL",
        "native",
        "typed",
        "wire",
        "typed / native",
        "typed / bare",
        "wire / native",
    ])];
    for (watchers, measured) in WATCHERS.iter().zip(measured.chunks(KINDS)) {
        let [bare, native, typed, wire] = measured else { unreachable!() };
        let ratio = over(typed, native);
        rows.push(vec![
            watchers.to_string(),
            time(bare.mean()),
            time(native.mean()),
            time(typed.mean()),
            time(wire.mean()),
            times(ratio),
            times(over(typed, bare)),
            times(over(wire, native)),
        ]);
        let promise = format!("a record with {watchers} pending watchers, component over native");
        report.at_most(&promise, ratio, 1.2, "×");
    }
    report.table(
        "A record on a target whose watchers are all pending (WAL, normal; time on the processor)",
        &rows,
    );
    report.note(&format!("imports called in such a record: {}", crossings.get()));
    let growth = over(&measured[KINDS * (WATCHERS.len() - 1) + 2], &measured[2]);
    report.at_most("a record with 1,000 pending watchers over one with 1", growth, 1.25, "×");
    report.at_most("imports called in a record", f64::from(crossings.get()), 4.0, "");
}

/// Over all batches: the clock is exact for their sum alone.
fn over(this: &Times, other: &Times) -> f64 {
    this.mean() / other.mean()
}

fn contestants<'a>(
    stores: &Stores,
    [bare, native, typed, wire]: &[PathBuf; KINDS],
    crossings: &'a Cell<u32>,
) -> [Contestant<'a>; KINDS] {
    let bare = Bare::open(bare);
    let mut native = stores::native(native);
    let typed = stores.open(typed, Durability::Normal);
    let wire = stores.open(wire, Durability::Normal);
    [
        Contestant::timed(Clock::Processor, BATCH, move || bare.record()),
        Contestant::timed(Clock::Processor, BATCH, move || {
            native.crossings = 0;
            native.write(|ports| record::record(ports, &native_signal()));
            crossings.set(native.crossings);
        }),
        Contestant::timed(Clock::Processor, BATCH, move || stores::record(&typed, signal())),
        Contestant::timed(Clock::Processor, BATCH, move || {
            call(&wire, RECORD);
        }),
    ]
}
