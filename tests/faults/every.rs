//! Each kind of fault at each operation of the work.

use harness::{Dice, Loss};
use headsup::Durability;
use tempfile::TempDir;

use crate::disk::{Disk, Fault};
use crate::vfs;
use crate::work::Work;

/// How many operations of the work a fault strikes in an ordinary run.
const SAMPLE: u64 = 10;

/// How many operations the work takes where nothing fails.
fn operations(durability: Durability) -> u64 {
    vfs::register();
    let folder = TempDir::new().unwrap();
    let disk = Disk::of(folder.path(), None);
    let mut work = Work::new(folder.path(), durability);
    work.done();
    let count = disk.count();
    let store = work.reopened();
    work.ledger.check(&store, &work.path(), Loss::None);
    work.turns_are_told(&store, true);
    count
}

/// This fault at operation after operation. Returns how many recordings were lost after all that
/// had been acknowledged.
fn at_each(fault: Fault, durability: Durability) -> usize {
    let all = operations(durability);
    let seed = harness::seed();
    let mut dice = Dice::new(seed);
    let sampled: Vec<u64> = match std::env::var("FAULTS").as_deref() {
        Ok("all") => (1..=all).collect(),
        _ => (0..SAMPLE).map(|_| 1 + dice.below(all)).collect(),
    };
    let (mut lost, mut struck) = (0, 0);
    for at in sampled {
        eprintln!("{fault:?} at operation {at} of {all}, {durability:?}, SEED={seed}");
        let (lost_by_it, came) = strike(fault, at, durability, &mut dice);
        lost += lost_by_it;
        struck += usize::from(came);
    }
    assert!(struck > 0, "{fault:?} never struck, {durability:?}");
    lost
}

/// One fault. Returns how much was lost, and whether it came to it: behind an operation there may be
/// no write to find the disk full, and no sync to fail.
fn strike(fault: Fault, at: u64, durability: Durability, dice: &mut Dice) -> (usize, bool) {
    let folder = TempDir::new().unwrap();
    let disk = Disk::of(folder.path(), Some((at, fault)));
    let mut work = Work::new(folder.path(), durability);
    work.done();
    let struck = disk.struck();
    assert!(struck || fault == Fault::Full || fault == Fault::Sync, "it never came to it");
    if fault.is_an_end() {
        disk.settle(dice);
    }
    // Another process, for which all is well.
    Disk::of(folder.path(), None);
    let allowed = match (fault, durability) {
        (Fault::Lose | Fault::Tear | Fault::Reorder, Durability::Normal) => Loss::LastCommits,
        _ => Loss::None,
    };
    let store = work.reopened();
    let acknowledged = work.ledger.answered();
    work.ledger.check(&store, &work.path(), allowed);
    let lost = acknowledged.saturating_sub(work.ledger.answered());
    work.turns_are_told(&store, false);
    // It goes on as if nothing had been.
    work.resumed(&store);
    assert_eq!(work.ledger.unanswered(), []);
    work.ledger.look(&store);
    work.ledger.check(&store, &work.path(), Loss::None);
    work.turns_are_told(&store, allowed == Loss::None);
    (lost, struck)
}

#[test]
fn an_operation_that_fails_once_loses_and_doubles_nothing() {
    at_each(Fault::Once, Durability::Full);
    at_each(Fault::Once, Durability::Normal);
}

#[test]
fn a_disk_that_fails_from_some_operation_on_loses_and_doubles_nothing() {
    at_each(Fault::From, Durability::Full);
    at_each(Fault::From, Durability::Normal);
}

#[test]
fn a_disk_that_is_full_from_some_write_on_loses_and_doubles_nothing() {
    at_each(Fault::Full, Durability::Full);
    at_each(Fault::Full, Durability::Normal);
}

#[test]
fn a_sync_that_fails_loses_and_doubles_nothing() {
    at_each(Fault::Sync, Durability::Full);
    at_each(Fault::Sync, Durability::Normal);
}

#[test]
fn a_process_that_is_killed_at_any_operation_loses_nothing_acknowledged() {
    at_each(Fault::Kill, Durability::Full);
    at_each(Fault::Kill, Durability::Normal);
}

#[test]
fn a_power_loss_at_any_operation_loses_nothing_acknowledged_where_durability_is_full() {
    for fault in [Fault::Lose, Fault::Tear, Fault::Reorder] {
        assert_eq!(at_each(fault, Durability::Full), 0);
    }
}

#[test]
fn a_power_loss_takes_the_last_commits_at_most_where_durability_is_normal() {
    let faults = [Fault::Lose, Fault::Tear, Fault::Reorder];
    let lost: usize = faults.into_iter().map(|fault| at_each(fault, Durability::Normal)).sum();
    // Else it would say nothing that the same loses nothing where durability is full.
    assert!(lost > 0, "this disk forgets nothing");
}
