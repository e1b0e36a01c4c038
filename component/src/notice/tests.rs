//! The order of notices.

use alloc::string::String;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::contract::Session;

fn open_at(notified: u64) -> Open {
    let positions = Positions { last_seen: 0, notified, provenance: Provenance::Explicit };
    let target = Session { key: String::new(), agent: String::new() };
    let pair = Pair { watcher: String::new(), target };
    let cursor = Cursor { pair, state: CursorState::Live(positions), moved_at: 0 };
    Open { cursor, positions, head: None }
}

proptest! {
    #[test]
    fn notices_are_in_the_order_in_which_they_were_notified(mut notified in vec(0..50_u64, 0..60)) {
        let mut open: Vec<Open> = notified.iter().copied().map(open_at).collect();
        sort_by_notified(&mut open);
        notified.sort_unstable();
        let order: Vec<u64> = open.iter().map(|open| open.positions.notified).collect();
        prop_assert_eq!(order, notified);
    }
}
