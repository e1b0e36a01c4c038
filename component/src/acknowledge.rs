//! Acknowledging notices, after a turn carried them, and draining (protocol, section 6).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::contract::{
    Acknowledgement, Changes, Cursor, CursorState, Drained, Error, Head, InvalidReason, Notice,
    Pair, Positions, Receipt,
};
use crate::cursor::{material, moved};
use crate::notice::{Open, Opened, notice, open_of};
use crate::policy;
use crate::ports::{Ports, Stored};
use crate::refusal::{MAX_INTEGER, refuse};
use crate::session::{self, Key};

/// The most receipts in one acknowledgement.
pub const MAX_RECEIPTS: usize = 1_000;

/// Acknowledges what was taken. See `notices.acknowledge` in the contract.
pub fn acknowledge(
    ports: &mut impl Ports,
    watcher: &str,
    receipts: &[Receipt],
) -> Result<Acknowledgement, Error> {
    let watcher = Key::parse("watcher", watcher)?;
    let receipts = check_receipts(&watcher, receipts)?;
    let now = ports.now();
    let mut states = Acknowledging::load(ports, &receipts)?;
    let acknowledged = receipts
        .iter()
        .filter(|(pair, receipt)| states.acknowledge(pair, receipt.since, receipt.up_to))
        .count();
    let reopened = states.save(ports, now)?;
    Ok(Acknowledgement {
        acknowledged: u32::try_from(acknowledged).unwrap_or(u32::MAX),
        reopened,
    })
}

/// Takes and acknowledges in one transaction. See `notices.drain` in the contract.
pub fn drain(ports: &mut impl Ports, watcher: &str) -> Result<Drained, Error> {
    let watcher = Key::parse("watcher", watcher)?;
    let open = open_of(ports, &watcher)?;
    if open.is_empty() {
        return Ok(Drained {
            notices: Vec::new(),
            reopened: Vec::new(),
        });
    }
    let now = ports.now();
    let template = policy::template(ports)?;
    let notices = open
        .iter()
        .map(|open| notice(&template, &open.cursor.pair, &open.positions))
        .collect();
    let mut states = Acknowledging::default();
    for open in open {
        let Open {
            cursor,
            positions,
            head,
        } = open;
        let pair = cursor.pair.clone();
        states.insert(cursor, positions, head);
        states.acknowledge(&pair, positions.last_seen, positions.notified);
    }
    Ok(Drained {
        notices,
        reopened: states.save(ports, now)?,
    })
}

/// Cursors that are being acknowledged, by pair.
#[derive(Default)]
struct Acknowledging {
    cursors: BTreeMap<PairIndex, (Cursor, Positions, Option<Head>)>,
    moved: Vec<Pair>,
}

impl Acknowledging {
    fn load(ports: &mut impl Ports, receipts: &[(Pair, &Receipt)]) -> Stored<Self> {
        let mut pairs: Vec<Pair> = receipts.iter().map(|(pair, _)| pair.clone()).collect();
        pairs.sort_unstable_by_key(index);
        pairs.dedup();
        let mut states = Self::default();
        if pairs.is_empty() {
            return Ok(states);
        }
        for state in ports.pairs(&pairs)? {
            if let Some(cursor) = state.cursor
                && let CursorState::Live(positions) = cursor.state
            {
                states.insert(cursor, positions, state.head);
            }
        }
        Ok(states)
    }

    fn insert(&mut self, cursor: Cursor, positions: Positions, head: Option<Head>) {
        self.cursors
            .insert(index(&cursor.pair), (cursor, positions, head));
    }

    /// Whether the receipt moved its cursor.
    fn acknowledge(&mut self, pair: &Pair, since: u64, up_to: u64) -> bool {
        let Some((cursor, positions, head)) = self.cursors.get_mut(&index(pair)) else {
            return false;
        };
        let newest = material(head.as_ref(), &cursor.pair.watcher, positions.last_seen);
        let Some(after) = positions.acknowledge(since, up_to, newest) else {
            return false;
        };
        *positions = after;
        self.moved.push(pair.clone());
        true
    }

    /// Saves what moved; opens and returns a notice for each cursor that is still behind.
    fn save(mut self, ports: &mut impl Ports, now: u64) -> Stored<Vec<Notice>> {
        let mut opened = Opened::default();
        let mut changed = Vec::new();
        for pair in self.moved {
            // A pair that moved twice is saved once, with where it ended.
            let Some((mut cursor, positions, _)) = self.cursors.remove(&index(&pair)) else {
                continue;
            };
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
        ports.save(&Changes {
            heads: Vec::new(),
            cursors: changed,
        })?;
        opened.enqueue(ports)
    }
}

/// Watcher, target key, target agent.
type PairIndex = (String, String, String);

fn index(pair: &Pair) -> PairIndex {
    (
        pair.watcher.clone(),
        pair.target.key.clone(),
        pair.target.agent.clone(),
    )
}

fn check_receipts<'a>(
    watcher: &Key,
    receipts: &'a [Receipt],
) -> Result<Vec<(Pair, &'a Receipt)>, Error> {
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
                    &format!("notices[{at}].{name}"),
                    "a version is an integer from 0 to 9007199254740991",
                )
                .into());
            }
        }
        let target = session::resolve(&format!("notices[{at}].target"), &receipt.target)?;
        checked.push((
            Pair {
                watcher: watcher.as_str().to_string(),
                target,
            },
            receipt,
        ));
    }
    Ok(checked)
}
