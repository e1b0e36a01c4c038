//! The order in which notices are shown.

use alloc::string::String;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::contract::Session;

fn open_at(notified: u64) -> Open {
    let target = Session { key: String::new(), agent: String::new() };
    let positions = Positions { last_seen: 0, notified, provenance: Provenance::Explicit };
    let cursor = Cursor {
        pair: Pair { watcher: String::new(), target },
        state: CursorState::Live(positions),
        moved_at: 0,
    };
    Open { cursor, positions, head: None }
}

proptest! {
    #[test]
    fn open_cursors_are_sorted_by_what_they_stand_for(notified in vec(any::<u64>(), 0..300)) {
        let mut open: Vec<Open> = notified.iter().copied().map(open_at).collect();
        sort(&mut open);
        let mut expected = notified;
        expected.sort_unstable();
        let sorted: Vec<u64> = open.iter().map(|open| open.positions.notified).collect();
        prop_assert_eq!(sorted, expected);
    }
}
