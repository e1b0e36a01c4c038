//! How long things are kept, and recovery (protocol, sections 6 and 8).

use alloc::string::String;

use crate::contract::{Error, Policy, PruneRequest, Pruning, Recovery, StorageFailure, Urgency};
use crate::notice;
use crate::policy;
use crate::ports::{Ports, Stored};
use crate::refusal::corrupt;
use crate::text::{number, parse};

/// A day, in ms.
pub const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const HOUR_MS: u64 = 60 * 60 * 1_000;
/// The most events that one transaction prunes, so that no writer waits long.
pub const BATCH: u32 = 5_000;

const PRUNED_AT: &str = "retention.pruned-at";
const DOUBTED_SINCE: &str = "retention.clock-doubted-since";

/// One batch of pruning, if it is due. See `maintenance.prune` in the contract.
pub fn prune(ports: &mut impl Ports, urgency: Urgency) -> Result<Option<Pruning>, Error> {
    let now = ports.now();
    let last = LastPrune::load(ports)?;
    if urgency == Urgency::IfDue && !last.is_due(now) {
        return Ok(None);
    }
    let trust = last.trust(now);
    let pruning = batch(ports, now, trust == Trust::Clock)?;
    if !pruning.more {
        trust.save(ports, now)?;
    }
    Ok(Some(pruning))
}

/// When the next prune is due. See `maintenance.next-prune` in the contract.
pub fn next_prune(ports: &mut impl Ports) -> Result<u64, Error> {
    let now = ports.now();
    Ok(LastPrune::load(ports)?.next(now))
}

/// Recovery, after pruning everything that is due if asked to. See `maintenance.recover` in the
/// contract.
pub fn recover(ports: &mut impl Ports, prune_first: bool) -> Result<Recovery, Error> {
    let mut pruned = 0;
    if prune_first {
        let now = ports.now();
        loop {
            let pruning = batch(ports, now, true)?;
            pruned += pruning.events;
            if !pruning.more {
                break;
            }
        }
        Trust::Clock.save(ports, now)?;
    }
    Ok(Recovery { pending: notice::put_back(ports)?, pruned })
}

fn batch(ports: &mut impl Ports, now: u64, by_age: bool) -> Result<Pruning, Error> {
    let policy: Policy = policy::current(ports)?;
    let before = |days: u32| by_age.then(|| now.saturating_sub(u64::from(days) * DAY_MS));
    Ok(ports.prune(&PruneRequest {
        occurred_before: before(policy.history_days),
        keep_rows: policy.history_rows,
        moved_before: before(policy.cursor_days),
        at_most: BATCH,
    })?)
}

/// What the store remembers of its last prune, by any process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LastPrune {
    /// When it was.
    at: Option<u64>,
    /// Since when the clock is doubted, because it had moved by more than a day between two
    /// prunes: pruning by age waits for a prune an hour after this.
    doubted_since: Option<u64>,
}

/// Whether pruning by age may go by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// It may.
    Clock,
    /// It waits: doubted since then.
    Doubt(u64),
}

impl LastPrune {
    fn load(ports: &mut impl Ports) -> Stored<Self> {
        let values = ports.settings(&[PRUNED_AT, DOUBTED_SINCE])?;
        let mut values = values.into_iter();
        Ok(Self {
            at: time(values.next().flatten().as_deref())?,
            doubted_since: time(values.next().flatten().as_deref())?,
        })
    }

    /// Whether an hour has passed, or the clock went back.
    fn is_due(self, now: u64) -> bool {
        self.next(now) <= now
    }

    /// When it is due: an hour after the last one; now, if the clock went back.
    fn next(self, now: u64) -> u64 {
        match self.at {
            Some(at) if at <= now => at + HOUR_MS,
            Some(_) | None => now,
        }
    }

    fn trust(self, now: u64) -> Trust {
        if self.at.is_some_and(|at| now.abs_diff(at) > DAY_MS) {
            return Trust::Doubt(now);
        }
        match self.doubted_since {
            Some(since) if now < since => Trust::Doubt(now),
            Some(since) if now - since < HOUR_MS => Trust::Doubt(since),
            _ => Trust::Clock,
        }
    }
}

impl Trust {
    fn save(self, ports: &mut impl Ports, now: u64) -> Stored<()> {
        let doubted = match self {
            Self::Clock => String::new(),
            Self::Doubt(since) => number(since),
        };
        let settings =
            [policy::setting(PRUNED_AT, number(now)), policy::setting(DOUBTED_SINCE, doubted)];
        ports.set(&settings)
    }
}

fn time(value: Option<&str>) -> Result<Option<u64>, StorageFailure> {
    match value {
        None | Some("") => Ok(None),
        Some(text) => match parse(text) {
            Some(time) => Ok(Some(time)),
            None => Err(corrupt("a time among the store's settings is not a number")),
        },
    }
}

#[cfg(test)]
mod tests;
