//! A thousand signals in one call beside a thousand calls.

use headsup::Durability;

use crate::paired::{Contestant, race};
use crate::report::{Report, row, time, times};
use crate::stores::{Stores, record, signal};

const SIGNALS: usize = 1_000;

pub fn measure(stores: &Stores, report: &mut Report) {
    let mut rows = vec![row(&["durability", "1,000 records", "one call of 1,000", "ratio"])];
    for (durability, name, rounds) in
        [(Durability::Full, "full (the default)", 7), (Durability::Normal, "normal", 25)]
    {
        let measured = race(rounds, contestants(stores, durability));
        let [singly, together] = &measured[..] else { unreachable!() };
        let ratio = together.over(singly);
        rows.push(vec![
            name.to_owned(),
            time(singly.median()),
            time(together.median()),
            times(ratio),
        ]);
        let promise = format!("recordMany of 1,000 over 1,000 records, {name}");
        report.at_most(&promise, ratio, 0.2, "×");
    }
    report.table("recordMany", &rows);
}

fn contestants(stores: &Stores, durability: Durability) -> Vec<Contestant<'static>> {
    let singly = stores.open(&stores.watched_by(1), durability);
    let together = stores.open(&stores.watched_by(1), durability);
    vec![
        Contestant::repeating(1, move || {
            for _ in 0..SIGNALS {
                record(&singly, signal());
            }
        }),
        Contestant::repeating(1, move || {
            let outcomes = together.record_many(vec![signal(); SIGNALS]).unwrap();
            assert_eq!(outcomes.len(), SIGNALS);
        }),
    ]
}
