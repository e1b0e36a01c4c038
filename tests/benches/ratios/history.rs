//! A page of 200 events out of a log of 50,000.

use headsup::Durability;
use headsup_component::reconcile;

use crate::bare::Bare;
use crate::paired::{Contestant, race};
use crate::report::{Report, row, time, times};
use crate::stores::{self, Stores, TARGET, call, native_session, signal};

const EVENTS: usize = 50_000;

/// The page begins in the middle.
const AFTER: u64 = 25_000;

const ROUNDS: usize = 150;
const BATCH: u32 = 5;

pub fn measure(stores: &Stores, report: &mut Report) {
    let path = stores.watched_by(1);
    let typed = stores.open(&path, Durability::Normal);
    for _ in 0..EVENTS / 1_000 {
        typed.record_many(vec![signal(); 1_000]).unwrap();
    }
    let bare = Bare::open(&path);
    let mut native = stores::native(&path);
    let request = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"status","params":{{"session":"{TARGET}","changesSince":{AFTER}}}}}"#
    );
    let measured = race(
        ROUNDS,
        vec![
            Contestant::repeating(BATCH, || assert_eq!(bare.changes_since(AFTER), 200)),
            Contestant::repeating(BATCH, || {
                let delta = native
                    .read(|ports| reconcile::changes_since(ports, &native_session(), AFTER, None));
                assert_eq!(delta.events.len(), 200);
            }),
            Contestant::repeating(BATCH, || {
                let delta = typed.changes_since(TARGET, AFTER, None).unwrap();
                assert_eq!(delta.events.len(), 200);
            }),
            Contestant::repeating(BATCH, || {
                call(&typed, &request);
            }),
        ],
    );
    let [bare, native, typed, wire] = &measured[..] else { unreachable!() };
    let rows = [
        row(&["bare SQL", "native", "typed", "wire", "typed / native", "typed / bare"]),
        vec![
            time(bare.median()),
            time(native.median()),
            time(typed.median()),
            time(wire.median()),
            times(typed.over(native)),
            times(typed.over(bare)),
        ],
    ];
    report.table("Changes since: 200 events of 50,000", &rows);
}
