//! Taking a notice and acknowledging it.

use headsup::Durability;
use headsup_component::contract::Receipt;
use headsup_component::{acknowledge, notice, record};
use serde_json::{Value, json};

use crate::bare::Bare;
use crate::paired::{Contestant, race};
use crate::report::{Report, row, time, times};
use crate::stores::{self, RECORD, Stores, call, native_session, native_signal, signal, watcher};

const ROUNDS: usize = 200;
const BATCH: u32 = 10;

pub fn measure(stores: &Stores, report: &mut Report) {
    let measured = race(ROUNDS, contestants(stores));
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
    report.table("Take and acknowledge one notice (WAL, normal)", &rows);
}

fn contestants(stores: &Stores) -> Vec<Contestant<'static>> {
    let store = || stores.watched_by(1);
    let name = watcher(0);
    let bare = Bare::open(&store());
    let native = stores::native(&store());
    let typed = stores.open(&store(), Durability::Normal);
    let wire = stores.open(&store(), Durability::Normal);
    let [first, second, third, fourth] = std::array::from_fn(|_| name.clone());
    vec![
        Contestant::prepared(
            BATCH,
            bare,
            |bare| bare.record(),
            move |bare| {
                let pending = bare.take(&first);
                assert_eq!(pending.len(), 1);
                bare.acknowledge(&first, &pending);
            },
        ),
        Contestant::prepared(
            BATCH,
            native,
            |native| _ = native.write(|ports| record::record(ports, &native_signal())),
            move |native| {
                let taken = native.read(|ports| notice::take(ports, &second));
                let receipts: Vec<Receipt> = taken
                    .iter()
                    .map(|notice| Receipt {
                        target: native_session(),
                        since: notice.since,
                        up_to: notice.up_to,
                    })
                    .collect();
                let done =
                    native.write(|ports| acknowledge::acknowledge(ports, &second, &receipts));
                assert_eq!(done.acknowledged, 1);
            },
        ),
        Contestant::prepared(
            BATCH,
            typed,
            |typed| stores::record(typed, signal()),
            move |typed| {
                let taken = typed.take(&third).unwrap();
                assert_eq!(typed.acknowledge(&third, &taken).unwrap().acknowledged, 1);
            },
        ),
        Contestant::prepared(
            BATCH,
            wire,
            |wire| _ = call(wire, RECORD),
            move |wire| {
                let take = json!({"jsonrpc": "2.0", "id": 1, "method": "take", "params": {"watcher": fourth}});
                let taken: Value = serde_json::from_str(&call(wire, &take.to_string())).unwrap();
                let params = json!({"watcher": fourth, "notices": taken["result"]["notices"]});
                let acknowledge =
                    json!({"jsonrpc": "2.0", "id": 1, "method": "acknowledge", "params": params});
                let answer = call(wire, &acknowledge.to_string());
                assert!(answer.contains("\"acknowledged\":1"), "{answer}");
            },
        ),
    ]
}
