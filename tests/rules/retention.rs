//! Section 8: how long things are kept, and what a clock that moved does to it.

use harness::{CHILD, DAY, Gateway, HOUR, MAIN, NOON, WORKER};
use headsup::{Awareness, Error, InvalidReason, Policy, Urgency};
use tempfile::TempDir;

use crate::{compaction, goal};

fn kept(gateway: &Gateway, session: &str) -> Vec<u64> {
    let delta = gateway.changes_since(session, 0, None).unwrap();
    delta.events.iter().map(|event| event.sequence).collect()
}

/// Events that a prune as a start or an hour causes it removed, if it was due.
fn prune(gateway: &Gateway, urgency: Urgency) -> Option<u32> {
    gateway.prune(urgency).unwrap().map(|pruning| pruning.events)
}

fn with_policy(change: impl FnOnce(&mut Policy)) -> Gateway {
    let gateway = Gateway::open();
    let mut policy = gateway.policy().unwrap();
    change(&mut policy);
    gateway.set_policy(policy).unwrap();
    gateway
}

#[test]
fn history_is_30_days_and_50_000_rows_unless_set() {
    let gateway = Gateway::open();
    let policy = gateway.policy().unwrap();
    assert_eq!((policy.history_days, policy.history_rows, policy.cursor_days), (30, 50_000, 30));
}

#[test]
fn an_event_is_kept_for_30_days_and_older_means_strictly_before_the_cutoff() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.passes(30 * DAY);
    assert_eq!(gateway.recover().unwrap().pruned, 0);
    gateway.passes(1);
    assert_eq!(gateway.recover().unwrap().pruned, 1);
}

#[test]
fn age_goes_by_occurred_at() {
    let gateway = Gateway::open();
    let earlier = i64::try_from(NOON - DAY).unwrap();
    gateway.records(goal(CHILD, "u1"));
    gateway.records(goal(CHILD, "u1").occurred_at(earlier));
    gateway.passes(29 * DAY + 1);
    assert_eq!(gateway.recover().unwrap().pruned, 1);
    assert_eq!(kept(&gateway, CHILD), [1]);
}

#[test]
fn rows_are_counted_over_all_sessions_and_the_newest_are_kept() {
    let gateway = with_policy(|policy| policy.history_rows = 3);
    for session in [CHILD, WORKER, CHILD, WORKER, CHILD] {
        gateway.records(goal(session, "u1"));
    }
    assert_eq!(gateway.recover().unwrap().pruned, 2);
    assert_eq!((kept(&gateway, CHILD), kept(&gateway, WORKER)), (vec![3, 5], vec![4]));
}

#[test]
fn pruning_raises_each_sessions_watermark() {
    let gateway = with_policy(|policy| policy.history_rows = 2);
    for session in [CHILD, WORKER, CHILD, WORKER] {
        gateway.records(goal(session, "u1"));
    }
    gateway.recover().unwrap();
    let gap = |session, version| gateway.changes_since(session, version, None).unwrap().history_gap;
    assert_eq!((gap(CHILD, 0), gap(CHILD, 1)), (true, false));
    assert_eq!((gap(WORKER, 1), gap(WORKER, 2)), (true, false));
}

#[test]
fn a_watermark_never_sinks_whichever_event_goes_first() {
    let gateway = Gateway::open();
    let earlier = i64::try_from(NOON - DAY).unwrap();
    gateway.records(goal(CHILD, "u1"));
    gateway.records(goal(CHILD, "u1").occurred_at(earlier));
    gateway.passes(DAY);
    gateway.records(goal(CHILD, "u1"));
    for (days, left) in [(28, vec![1, 3]), (1, vec![3])] {
        gateway.passes(days * DAY + 1);
        assert_eq!(gateway.recover().unwrap().pruned, 1);
        assert_eq!(kept(&gateway, CHILD), left);
        let gap = |version| gateway.changes_since(CHILD, version, None).unwrap().history_gap;
        assert_eq!((gap(1), gap(2)), (true, false), "{left:?} are left");
    }
}

#[test]
fn recording_never_prunes() {
    let gateway = with_policy(|policy| policy.history_rows = 1);
    for _ in 0..3 {
        gateway.passes(40 * DAY);
        gateway.records(goal(CHILD, "u1"));
    }
    assert_eq!(kept(&gateway, CHILD), [1, 2, 3]);
}

#[test]
fn a_start_prunes_rows_that_are_too_many() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = Gateway::on(&path, NOON);
    let policy = Policy { history_rows: 1, ..gateway.policy().unwrap() };
    gateway.set_policy(policy).unwrap();
    gateway.records(goal(CHILD, "u1"));
    gateway.records(goal(CHILD, "u1"));
    drop(gateway);
    let gateway = Gateway::on(&path, NOON);
    assert_eq!(kept(&gateway, CHILD), [2]);
}

#[test]
fn pruning_is_due_when_an_hour_has_passed_since_the_last_one() {
    let gateway = Gateway::open();
    assert_eq!(prune(&gateway, Urgency::IfDue), None, "opening pruned");
    gateway.passes(HOUR - 1);
    assert_eq!(prune(&gateway, Urgency::IfDue), None);
    gateway.passes(1);
    assert_eq!(prune(&gateway, Urgency::IfDue), Some(0));
    assert_eq!(prune(&gateway, Urgency::IfDue), None);
}

#[test]
fn tidying_after_a_response_prunes_when_it_is_due() {
    let gateway = with_policy(|policy| policy.history_rows = 1);
    gateway.records(goal(CHILD, "u1"));
    gateway.records(goal(CHILD, "u1"));
    gateway.tidy();
    gateway.passes(HOUR - 1);
    gateway.tidy();
    assert_eq!(kept(&gateway, CHILD), [1, 2]);
    gateway.passes(1);
    gateway.tidy();
    assert_eq!(kept(&gateway, CHILD), [2], "to the millisecond");
}

#[test]
fn an_hour_counts_since_the_last_prune_by_any_process() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let one = Gateway::on(&path, NOON);
    let other = Gateway::on(&path, NOON + HOUR);
    one.set_clock(NOON + HOUR).unwrap();
    assert_eq!(prune(&one, Urgency::IfDue), None, "the other one's start pruned");
    other.set_clock(NOON + 2 * HOUR).unwrap();
    assert_eq!(prune(&other, Urgency::IfDue), Some(0));
}

#[test]
fn the_settings_live_in_the_store_and_processes_agree() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let one = Gateway::on(&path, NOON);
    let other = Gateway::on(&path, NOON);
    let policy =
        Policy { notice_template: String::new(), history_days: 3, history_rows: 7, cursor_days: 9 };
    one.set_policy(policy.clone()).unwrap();
    assert_eq!(other.policy().unwrap(), policy);
    one.watches(MAIN, CHILD);
    assert_eq!(other.entry(MAIN, CHILD).unwrap().expires_at, NOON + 9 * DAY);
}

#[test]
fn settings_out_of_their_bounds_are_refused() {
    let gateway = Gateway::open();
    let policy = gateway.policy().unwrap();
    for wrong in [
        Policy { history_days: 0, ..policy.clone() },
        Policy { history_days: 36_501, ..policy.clone() },
        Policy { history_rows: 0, ..policy.clone() },
        Policy { history_rows: 1_000_000_001, ..policy.clone() },
        Policy { cursor_days: 0, ..policy.clone() },
    ] {
        let Err(Error::Invalid(refused)) = gateway.set_policy(wrong) else { panic!("accepted") };
        assert_eq!(refused.reason, InvalidReason::OutOfRange);
    }
    assert_eq!(gateway.policy().unwrap(), policy);
}

#[test]
fn a_clock_that_moved_by_more_than_a_day_makes_age_wait_for_a_second_prune_an_hour_later() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.watches(MAIN, CHILD);
    gateway.passes(40 * DAY);
    assert_eq!(prune(&gateway, Urgency::AtStart), Some(0));
    gateway.passes(HOUR - 1);
    assert_eq!(prune(&gateway, Urgency::AtStart), Some(0));
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 1 1 1", "expiry waits too");
    gateway.passes(1);
    assert_eq!(prune(&gateway, Urgency::AtStart), Some(1));
    assert_eq!(gateway.cursor(MAIN, CHILD), "none");
}

#[test]
fn a_clock_that_jumped_ahead_and_back_prunes_nothing_by_age() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.passes(400 * DAY);
    assert_eq!(prune(&gateway, Urgency::AtStart), Some(0));
    gateway.set_clock(NOON + HOUR).unwrap();
    assert_eq!(prune(&gateway, Urgency::IfDue), Some(0));
    gateway.passes(HOUR);
    assert_eq!(prune(&gateway, Urgency::IfDue), Some(0));
    assert_eq!(kept(&gateway, CHILD), [1]);
}

#[test]
fn a_clock_that_moved_does_not_keep_surplus_rows_from_going() {
    let gateway = with_policy(|policy| policy.history_rows = 1);
    gateway.records(goal(CHILD, "u1"));
    gateway.records(goal(CHILD, "u1"));
    gateway.passes(40 * DAY);
    assert_eq!(prune(&gateway, Urgency::AtStart), Some(1));
    assert_eq!(kept(&gateway, CHILD), [2]);
}

#[test]
fn only_an_explicit_recover_does_not_wait_for_the_clock() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.passes(40 * DAY);
    assert_eq!(gateway.recover().unwrap().pruned, 1);
}

#[test]
fn a_start_after_a_long_rest_does_not_prune_by_age_at_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = Gateway::on(&path, NOON);
    gateway.records(goal(CHILD, "u1"));
    drop(gateway);
    let gateway = Gateway::on(&path, NOON + 40 * DAY);
    assert_eq!(kept(&gateway, CHILD), [1]);
    gateway.passes(HOUR);
    assert_eq!(prune(&gateway, Urgency::IfDue), Some(1));
}

#[test]
fn pruning_goes_in_batches_of_transactions_and_says_whether_there_is_more() {
    let gateway = with_policy(|policy| policy.history_rows = 1);
    for batch in 0..6 {
        let signals = (0..1_000).map(|at| compaction(CHILD, &format!("{batch}-{at}")));
        gateway.record_many(signals.collect()).unwrap();
    }
    let first = gateway.prune(Urgency::AtStart).unwrap().unwrap();
    assert_eq!((first.events, first.more), (5_000, true));
    let second = gateway.prune(Urgency::AtStart).unwrap().unwrap();
    assert_eq!((second.events, second.more), (999, false));
    assert_eq!(kept(&gateway, CHILD), [6_000]);
}

#[test]
fn a_store_that_is_opened_to_be_looked_at_is_not_pruned() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = Gateway::on(&path, NOON);
    gateway.set_policy(Policy { history_rows: 1, ..gateway.policy().unwrap() }).unwrap();
    gateway.records(goal(CHILD, "u1"));
    gateway.records(goal(CHILD, "u1"));
    drop(gateway);
    let look = Gateway::with(Awareness::builder(&path).manual_clock(NOON + DAY).read_only());
    assert_eq!(kept(&look, CHILD), [1, 2]);
}
