//! Acknowledging notices, after a turn carried them, and draining (protocol, section 6).

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::contract::{
    Acknowledgement, Changes, CursorState, Drained, Error, InvalidReason, Notice, Pair, Positions,
    Receipt,
};
use crate::cursor::{material, moved};
use crate::notice::{Open, Opened, notice, open_of};
use crate::policy;
use crate::ports::{Ports, Stored};
use crate::refusal::{MAX_INTEGER, refuse};
use crate::session::{self, Key};
use crate::text::{element, joined};

/// The most receipts in one acknowledgement.
pub const MAX_RECEIPTS: usize = 1_000;

/// Acknowledges what was taken. See `notices.acknowledge` in the contract.
pub fn acknowledge(
    ports: &mut impl Ports,
    watcher: &str,
    receipts: &[Receipt],
) -> Result<Acknowledgement, Error> {
    let watcher = Key::parse("watcher", watcher)?;
    let pairs = check_receipts(&watcher, receipts)?;
    let now = ports.now();
    let mut states = Acknowledging::load(ports, &pairs)?;
    let mut acknowledged = 0;
    for (pair, receipt) in pairs.iter().zip(receipts) {
        acknowledged += u32::from(states.acknowledge(pair, receipt.since, receipt.up_to));
    }
    Ok(Acknowledgement { acknowledged, reopened: states.save(ports, now)? })
}

/// Takes and acknowledges in one transaction. See `notices.drain` in the contract.
pub fn drain(ports: &mut impl Ports, watcher: &str) -> Result<Drained, Error> {
    let watcher = Key::parse("watcher", watcher)?;
    let open = open_of(ports, &watcher)?;
    if open.is_empty() {
        return Ok(Drained { notices: Vec::new(), reopened: Vec::new() });
    }
    let now = ports.now();
    let template = policy::template(ports)?;
    let mut notices = Vec::with_capacity(open.len());
    let mut states = Acknowledging::default();
    for open in open {
        notices.push(notice(&template, &open.cursor.pair, &open.positions));
        let Positions { last_seen, notified, .. } = open.positions;
        let mut state = Acknowledged { open, moved: false };
        state.acknowledge(last_seen, notified);
        states.cursors.push(state);
    }
    Ok(Drained { notices, reopened: states.save(ports, now)? })
}

/// Cursors that are being acknowledged: at most [`MAX_RECEIPTS`], so a linear search will do. Where two
/// receipts are of one pair, the first entry is the one that moves.
#[derive(Default)]
struct Acknowledging {
    cursors: Vec<Acknowledged>,
}

struct Acknowledged {
    open: Open,
    moved: bool,
}

impl Acknowledging {
    fn load(ports: &mut impl Ports, pairs: &[Pair]) -> Stored<Self> {
        let mut states = Self::default();
        if pairs.is_empty() {
            return Ok(states);
        }
        for state in ports.pairs(pairs)? {
            if let Some(cursor) = state.cursor
                && let CursorState::Live(positions) = cursor.state
            {
                let open = Open { cursor, positions, head: state.head };
                states.cursors.push(Acknowledged { open, moved: false });
            }
        }
        Ok(states)
    }

    fn find(&mut self, pair: &Pair) -> Option<&mut Acknowledged> {
        self.cursors.iter_mut().find(|state| state.open.cursor.pair == *pair)
    }

    /// Whether the receipt moved its cursor.
    fn acknowledge(&mut self, pair: &Pair, since: u64, up_to: u64) -> bool {
        self.find(pair).is_some_and(|state| state.acknowledge(since, up_to))
    }

    /// Saves what moved; opens and returns a notice for each cursor that is still behind.
    fn save(self, ports: &mut impl Ports, now: u64) -> Stored<Vec<Notice>> {
        let mut opened = Opened::default();
        let mut changed = Vec::new();
        for state in self.cursors {
            if !state.moved {
                continue;
            }
            let Open { mut cursor, positions, .. } = state.open;
            cursor.state = CursorState::Live(positions);
            cursor.moved_at = moved(Some(cursor.moved_at), now);
            if positions.is_open() {
                opened.notice(&cursor);
            }
            changed.push(cursor);
        }
        if changed.is_empty() {
            return Ok(Vec::new());
        }
        ports.save(&Changes { heads: Vec::new(), cursors: changed })?;
        opened.enqueue(ports)
    }
}

impl Acknowledged {
    fn acknowledge(&mut self, since: u64, up_to: u64) -> bool {
        let Open { cursor, positions, head } = &mut self.open;
        let newest = material(head.as_ref(), &cursor.pair.watcher, positions.last_seen);
        let Some(after) = positions.acknowledge(since, up_to, newest) else {
            return false;
        };
        *positions = after;
        self.moved = true;
        true
    }
}

/// The pairs that the receipts are of, in their order.
fn check_receipts(watcher: &Key, receipts: &[Receipt]) -> Result<Vec<Pair>, Error> {
    if receipts.len() > MAX_RECEIPTS {
        return Err(refuse(
            InvalidReason::TooMany,
            "notices",
            "one call acknowledges at most 1,000 notices; split the list",
        )
        .into());
    }
    let mut checked = Vec::with_capacity(receipts.len());
    for (at, receipt) in receipts.iter().enumerate() {
        for (name, version) in [("since", receipt.since), ("upTo", receipt.up_to)] {
            if version > MAX_INTEGER {
                return Err(refuse(
                    InvalidReason::InvalidVersion,
                    &joined(&[&element("notices", at), ".", name]),
                    "a version is an integer from 0 to 9007199254740991",
                )
                .into());
            }
        }
        let target =
            session::resolve(&joined(&[&element("notices", at), ".target"]), &receipt.target)?;
        checked.push(Pair { watcher: watcher.as_str().to_string(), target });
    }
    Ok(checked)
}
