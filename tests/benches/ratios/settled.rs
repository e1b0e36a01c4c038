//! A record on a target whose watchers have all seen everything: each of them gets a notice.

use headsup::Durability;
use headsup_component::{acknowledge, record};

use crate::bare::Bare;
use crate::paired::{Contestant, race};
use crate::report::{Report, row, time, times};
use crate::stores::{self, Stores, native_signal, signal, watcher};

pub fn measure(stores: &Stores, report: &mut Report) {
    let mut rows = vec![row(&[
        "settled watchers",
        "bare SQL",
        "native",
        "typed",
        "typed / native",
        "typed / bare",
    ])];
    for (watchers, rounds) in [(1, 300), (10, 100), (100, 40), (1_000, 12)] {
        let measured = race(rounds, contestants(stores, watchers));
        let [bare, native, typed] = &measured[..] else { unreachable!() };
        rows.push(vec![
            watchers.to_string(),
            time(bare.median()),
            time(native.median()),
            time(typed.median()),
            times(typed.over(native)),
            times(typed.over(bare)),
        ]);
    }
    report.table("A record on a target whose watchers are all settled (WAL, normal)", &rows);
}

fn contestants(stores: &Stores, watchers: usize) -> Vec<Contestant<'static>> {
    let bare = Bare::open(&stores.watched_by(watchers));
    let native = stores::native(&stores.watched_by(watchers));
    let typed = stores.open(&stores.watched_by(watchers), Durability::Normal);
    vec![
        Contestant::prepared(1, bare, |bare| bare.settle(), |bare| bare.record()),
        Contestant::prepared(
            1,
            native,
            move |native| {
                for at in 0..watchers {
                    native.write(|ports| acknowledge::drain(ports, &watcher(at)));
                }
            },
            |native| _ = native.write(|ports| record::record(ports, &native_signal())),
        ),
        Contestant::prepared(
            1,
            typed,
            move |typed| {
                for at in 0..watchers {
                    typed.drain(&watcher(at)).unwrap();
                }
            },
            |typed| stores::record(typed, signal()),
        ),
    ]
}
