//! A history: what was asked of which process, what it answered, and what was heard.

use std::collections::BTreeMap;

use harness::{DAY, News};
use headsup::{Notice, Receipt, Recording, Tally, WatchEntry};

use crate::faults::{FAULTS, Fault};
use crate::operations::Operation;
use crate::seen::Seen;
use crate::steps::Act;

/// One step and everything that could be seen of it.
#[derive(Clone, Debug)]
pub struct Entry {
    pub step: u64,
    pub process: usize,
    /// What was wrong with the store meanwhile.
    pub fault: Option<Fault>,
    pub act: Act,
    pub answer: Answer,
    pub heard: Vec<Heard>,
    /// Everything that can be seen of the store after it, now and then.
    pub look: Option<Seen>,
}

/// What a listener was told, and whether another connection to the store saw by then what it is
/// about.
#[derive(Clone, Debug)]
pub struct Heard {
    pub news: News,
    pub committed: bool,
}

/// What a process answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Outcomes(Vec<Recording>),
    Flag(bool),
    Notices(Vec<Notice>),
    Acknowledged(Acknowledged),
    /// How much went or was put back.
    Counts(u32, u32),
    Pruned(Option<(u32, u32)>),
    /// The series of sequences stands here since a restore.
    Position(u64),
    /// Whether a link was made, and the state version.
    Adopted(bool, u64),
    Checked(Tally),
    Done,
    /// It could not be done; the stable word for why.
    Failed(String),
}

/// An acknowledgement, or a drain.
#[derive(Clone, Debug, PartialEq)]
pub struct Acknowledged {
    pub watcher: String,
    pub receipts: Vec<Receipt>,
    /// How many counted.
    pub count: u32,
    pub reopened: Vec<Notice>,
    /// The watcher's cursors before and after it.
    pub before: Vec<WatchEntry>,
    pub after: Vec<WatchEntry>,
}

impl Entry {
    pub fn failed(&self) -> bool {
        match &self.answer {
            Answer::Failed(_) => true,
            Answer::Outcomes(outcomes) => {
                outcomes.iter().any(|it| matches!(it, Recording::Failed { .. }))
            }
            _ => false,
        }
    }

    pub fn acknowledged(&self) -> Option<&Acknowledged> {
        match &self.answer {
            Answer::Acknowledged(it) => Some(it),
            _ => None,
        }
    }

    /// The notices that were heard.
    pub fn announced(&self) -> impl Iterator<Item = (&str, &Notice)> {
        self.heard.iter().filter_map(|heard| match &heard.news {
            News::Notice { watcher, notice } => Some((watcher.as_str(), notice)),
            _ => None,
        })
    }
}

/// By how many ms a process's clock jumped.
fn jumped(entry: &Entry) -> Option<i64> {
    match entry.act {
        Act::Ask(Operation::Clock(by)) => Some(by),
        _ => None,
    }
}

/// What happened in it, counted, for people; and what never did.
pub fn summary(history: &[Entry]) -> (String, Vec<&'static str>) {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let day = i64::try_from(DAY).expect("few ms");
    for entry in history {
        let checked = match &entry.answer {
            Answer::Checked(tally) => *tally,
            _ => Tally { checked: 0, activity: 0, missing: 0, failed: 0 },
        };
        let acknowledged = entry.acknowledged();
        for (what, there) in [
            ("steps", true),
            ("failed", entry.failed()),
            ("heard", !entry.heard.is_empty()),
            ("reopened", acknowledged.is_some_and(|it| !it.reopened.is_empty())),
            ("late", acknowledged.is_some_and(|it| (it.count as usize) < it.receipts.len())),
            ("adopted", matches!(entry.answer, Answer::Adopted(true, _))),
            ("active", checked.activity > 0),
            ("missing", checked.missing > 0),
            ("restarted", matches!(entry.act, Act::Ask(Operation::Reopen))),
            ("looks", entry.look.is_some()),
            ("swapped", matches!(entry.act, Act::Swap) && !entry.failed()),
            ("ahead by a day", jumped(entry).is_some_and(|by| by > day)),
            ("back by a day", jumped(entry).is_some_and(|by| by < -day)),
        ] {
            *counts.entry(what).or_default() += usize::from(there);
        }
        for fault in FAULTS {
            let struck = entry.fault == Some(fault) && entry.failed();
            *counts.entry(fault.name()).or_default() += usize::from(struck);
        }
    }
    let never = counts.iter().filter(|(_, count)| **count == 0).map(|(what, _)| *what);
    (format!("{counts:?}"), never.collect())
}
