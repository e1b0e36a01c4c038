//! A record on a target whose watchers all have an open notice: what happens most often.

use std::cell::Cell;
use std::path::PathBuf;

use headsup::Durability;
use headsup_component::record;

use crate::bare::Bare;
use crate::paired::{Contestant, race};
use crate::report::{Report, row, time, times};
use crate::stores::{self, RECORD, Stores, call, native_signal, signal};

const WATCHERS: [usize; 4] = [1, 10, 100, 1_000];
const ROUNDS: usize = 12;

/// So many that each batch brings SQLite's log into the store about once, as recording does in the
/// long run.
const BATCH: u32 = 1_000;

pub fn measure(stores: &Stores, report: &mut Report) {
    let crossings = Cell::new(0);
    let mut ratios = Vec::new();
    let mut rows = vec![row(&[
        "pending watchers",
        "bare SQL",
        "native",
        "typed",
        "wire",
        "typed / native",
        "typed / bare",
        "wire / native",
        "typed / native, on the processor",
    ])];
    for watchers in WATCHERS {
        let paths = std::array::from_fn(|_| stores.watched_by(watchers));
        let measured = race(ROUNDS, contestants(stores, &paths, &crossings).into());
        let [bare, native, typed, wire] = &measured[..] else { unreachable!() };
        ratios.push(typed.over(native));
        rows.push(vec![
            watchers.to_string(),
            time(bare.median()),
            time(native.median()),
            time(typed.median()),
            time(wire.median()),
            times(typed.over(native)),
            times(typed.over(bare)),
            times(wire.over(native)),
            times(typed.running_over(native)),
        ]);
    }
    let title = "A record on a target whose watchers are all pending (WAL, normal)";
    report.table(title, &rows);
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    report.at_most("a record with pending watchers, component over native", mean, 1.2, "×");
    report.at_most("imports called in it", f64::from(crossings.get()), 4.0, "");

    let few_and_many = [WATCHERS[0], WATCHERS[3]]
        .map(|watchers| typed(stores.open(&stores.watched_by(watchers), Durability::Normal)));
    let measured = race(ROUNDS, few_and_many.into());
    let growth = measured[1].over(&measured[0]);
    report.at_most("a record with 1,000 pending watchers over one with 1", growth, 1.25, "×");
}

fn typed(awareness: headsup::Awareness) -> Contestant<'static> {
    Contestant::repeating(BATCH, move || stores::record(&awareness, signal()))
}

fn contestants<'a>(
    stores: &Stores,
    [bare, native, component, wire]: &[PathBuf; 4],
    crossings: &'a Cell<u32>,
) -> [Contestant<'a>; 4] {
    let bare = Bare::open(bare);
    let mut native = stores::native(native);
    let wire = stores.open(wire, Durability::Normal);
    [
        Contestant::repeating(BATCH, move || bare.record()),
        Contestant::repeating(BATCH, move || {
            native.crossings = 0;
            native.write(|ports| record::record(ports, &native_signal()));
            crossings.set(native.crossings);
        }),
        typed(stores.open(component, Durability::Normal)),
        Contestant::repeating(BATCH, move || {
            call(&wire, RECORD);
        }),
    ]
}
