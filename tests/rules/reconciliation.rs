//! Section 7: exact deltas and exact gaps.

use harness::{CHILD, DAY, Gateway, MAIN, NOON, OPS, WORKER, bare};
use headsup::{Actor, Delta, Error, GoalChange, InvalidReason, Signal};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{compaction, goal, human};

fn since(gateway: &Gateway, version: u64) -> Delta {
    gateway.changes_since(CHILD, version, None).unwrap()
}

fn sequences(delta: &Delta) -> Vec<u64> {
    delta.events.iter().map(|event| event.sequence).collect()
}

/// A gateway whose child has versions 1, 3 and 5; the worker has those between.
fn interleaved() -> Gateway {
    let gateway = Gateway::open();
    for session in [CHILD, WORKER, CHILD, WORKER, CHILD] {
        gateway.records(goal(session, "u1"));
    }
    gateway
}

#[test]
fn the_delta_has_the_events_after_the_version_ascending_and_the_state_version() {
    let gateway = interleaved();
    for (version, events) in [(0, vec![1, 3, 5]), (1, vec![3, 5]), (2, vec![3, 5]), (5, vec![])] {
        let delta = since(&gateway, version);
        assert_eq!(sequences(&delta), events, "after {version}");
        assert_eq!((delta.state_version, delta.truncated), (5, false));
    }
}

#[test]
fn changes_since_moves_no_cursor() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    since(&gateway, 0);
    assert_eq!(gateway.cursor(MAIN, CHILD), "explicit 0 1 1");
    drop(gateway.news());
}

#[test]
fn the_limit_is_from_1_to_200_and_200_if_not_given() {
    let gateway = Gateway::open();
    gateway.record_many(vec![goal(CHILD, "u1"); 201]).unwrap();
    let ask = |limit| gateway.changes_since(CHILD, 0, limit);
    assert_eq!(ask(None).unwrap().events.len(), 200);
    assert_eq!(ask(Some(200)).unwrap().events.len(), 200);
    assert_eq!(ask(Some(1)).unwrap().events.len(), 1);
    for limit in [0, 201, u32::MAX] {
        let Err(Error::Invalid(refused)) = ask(Some(limit)) else { panic!("{limit} was accepted") };
        assert_eq!((refused.field.as_str(), refused.reason), ("limit", InvalidReason::OutOfRange));
    }
}

#[test]
fn truncated_says_to_ask_again_after_the_last_sequence() {
    let gateway = Gateway::open();
    gateway.record_many(vec![goal(CHILD, "u1"); 5]).unwrap();
    let (mut seen, mut pages) = (0, Vec::new());
    loop {
        let page = gateway.changes_since(CHILD, seen, Some(2)).unwrap();
        seen = page.events.last().unwrap().sequence;
        pages.push((sequences(&page), page.truncated));
        if !page.truncated {
            break;
        }
    }
    assert_eq!(pages, [(vec![1, 2], true), (vec![3, 4], true), (vec![5], false)]);
    assert!(!gateway.changes_since(CHILD, 0, Some(5)).unwrap().truncated);
}

#[test]
fn other_sessions_events_and_sparse_sequences_are_no_gap() {
    let gateway = interleaved();
    for version in 0..=5 {
        assert!(!since(&gateway, version).history_gap, "after {version}");
    }
    gateway.delete(WORKER).unwrap();
    for version in 0..=5 {
        assert!(!since(&gateway, version).history_gap, "after {version}");
    }
}

#[test]
fn another_sessions_pruned_events_are_no_gap() {
    let gateway = Gateway::open();
    gateway.records(goal(WORKER, "u1"));
    gateway.passes(31 * DAY);
    gateway.records(goal(CHILD, "u1"));
    assert_eq!(gateway.recover().unwrap().pruned, 1);
    assert!(!since(&gateway, 0).history_gap);
    assert!(gateway.changes_since(WORKER, 0, None).unwrap().history_gap);
}

#[test]
fn rows_removed_by_hand_are_no_gap() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = Gateway::on(&path, NOON);
    gateway.records(goal(CHILD, "u1"));
    gateway.records(goal(CHILD, "u1"));
    let sql = "DELETE FROM session_state_events WHERE sequence = 1";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let delta = since(&gateway, 0);
    assert_eq!((sequences(&delta), delta.history_gap), (vec![2], false));
}

#[test]
fn a_pruned_event_after_the_version_is_a_gap_and_the_watermark_itself_is_none() {
    let gateway = Gateway::open();
    for _ in 0..3 {
        gateway.records(goal(CHILD, "u1"));
    }
    gateway.passes(31 * DAY);
    gateway.records(goal(CHILD, "u1"));
    assert_eq!(gateway.recover().unwrap().pruned, 3);
    let gaps: Vec<bool> = (0..=4).map(|version| since(&gateway, version).history_gap).collect();
    assert_eq!(gaps, [true, true, true, false, false]);
}

#[test]
fn on_a_gap_the_events_that_remain_are_returned() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.passes(31 * DAY);
    gateway.records(goal(CHILD, "u1"));
    gateway.records(compaction(CHILD, "op1"));
    gateway.recover().unwrap();
    let delta = since(&gateway, 0);
    assert_eq!((sequences(&delta), delta.history_gap), (vec![2, 3], true));
}

#[test]
fn a_deleted_event_after_the_version_is_a_gap() {
    let gateway = interleaved();
    gateway.delete(CHILD).unwrap();
    let delta = since(&gateway, 4);
    assert_eq!((delta.state_version, sequences(&delta), delta.history_gap), (0, vec![], true));
    gateway.records(goal(CHILD, "u1"));
    let gaps: Vec<bool> = (0..=6).map(|version| since(&gateway, version).history_gap).collect();
    assert_eq!(gaps, [true, true, true, true, true, false, false]);
}

#[test]
fn the_watermark_of_a_deleted_session_is_a_tombstone_until_retention_ends() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, "u1"));
    gateway.delete(CHILD).unwrap();
    gateway.passes(30 * DAY);
    gateway.recover().unwrap();
    assert!(since(&gateway, 0).history_gap);
    gateway.passes(1);
    gateway.recover().unwrap();
    assert!(!since(&gateway, 0).history_gap);
    assert!(since(&gateway, 1).history_gap, "ahead of the head still");
}

#[test]
fn a_version_ahead_of_the_sessions_head_is_a_gap() {
    let gateway = interleaved();
    let gaps: Vec<bool> = (4..=7).map(|version| since(&gateway, version).history_gap).collect();
    assert_eq!(gaps, [false, false, true, true]);
    assert!(gateway.changes_since(OPS, 1, None).unwrap().history_gap);
    assert!(!gateway.changes_since(OPS, 0, None).unwrap().history_gap);
}

#[test]
fn after_a_restore_every_version_from_before_answers_with_a_gap() {
    let gateway = interleaved();
    let position = gateway.restored().unwrap();
    assert_eq!(position, 5 + (1 << 32));
    for version in [0, 1, 5, 6, position - 1] {
        assert!(since(&gateway, version).history_gap, "after {version}");
        assert!(gateway.changes_since(OPS, version, None).unwrap().history_gap);
    }
    assert_eq!(sequences(&since(&gateway, 0)), [1, 3, 5], "what remains is returned");
    assert_eq!(gateway.records(goal(CHILD, "u1")), position + 1);
    let delta = since(&gateway, position);
    assert_eq!((sequences(&delta), delta.history_gap), (vec![position + 1], false));
}

#[test]
fn a_restore_keeps_pending_notices() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, CHILD);
    gateway.records(human(CHILD));
    drop(gateway.news());
    gateway.restored().unwrap();
    let drained = gateway.drain(MAIN).unwrap();
    assert_eq!((drained.notices.len(), drained.reopened), (1, vec![]));
    let version = gateway.records(human(CHILD));
    let told = &gateway.take(MAIN).unwrap()[0];
    assert_eq!((told.since, told.up_to), (1, version));
    assert!(since(&gateway, told.since).history_gap);
    drop(gateway.news());
}

#[test]
fn a_failed_read_is_an_error_and_never_an_empty_delta() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = Gateway::on(&path, NOON);
    gateway.records(goal(CHILD, "u1"));
    let sql = "PRAGMA ignore_check_constraints = ON; UPDATE session_state_events SET kind = 'x'";
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    let refused = gateway.changes_since(CHILD, 0, None).unwrap_err();
    assert_eq!(refused.reason(), "store-corrupt");
    let params = json!({"session": CHILD, "changesSince": 0});
    assert_eq!(gateway.refusal("status", &params).0, "store-corrupt");
}

#[test]
fn the_agent_facing_json_is_the_protocols() {
    let gateway = Gateway::open();
    gateway.records(human(CHILD).channel("telegram").watcher("global"));
    let signal = Signal::goal_changed(CHILD, GoalChange::Updated, Actor::human().id("u7"));
    gateway.records(signal.run_id("r1"));
    let status = gateway.answer("status", &json!({"session": CHILD, "changesSince": 0}));
    let expected = json!({
        "stateVersion": 2,
        "stateChanges": {
            "events": [
                {
                    "sequence": 1, "kind": "human_direct_message", "actorType": "human",
                    "occurredAt": NOON, "summary": "human message via telegram",
                    "payload": {"channel": "telegram"},
                },
                {
                    "sequence": 2, "kind": "goal_changed", "actorType": "human", "actorId": "u7",
                    "occurredAt": NOON, "summary": "goal updated", "runId": "r1",
                },
            ],
            "truncated": false,
            "historyGap": false,
        },
    });
    assert_eq!(status, expected);
}

#[test]
fn the_state_version_is_always_there_and_changes_only_if_asked_for() {
    let gateway = interleaved();
    assert_eq!(gateway.answer("status", &json!({"session": CHILD})), json!({"stateVersion": 5}));
}

#[test]
fn changes_since_is_a_json_integer_from_0_to_2_53_minus_1() {
    let gateway = interleaved();
    let ask = |version: Value| json!({"session": CHILD, "changesSince": version});
    let answer = gateway.answer("status", &ask(json!((1_u64 << 53) - 1)));
    assert_eq!(answer["stateChanges"]["historyGap"], true);
    for version in [json!(1_u64 << 53), json!(-1), json!(1.5), json!(1.0), json!("1"), json!(null)]
    {
        let refused = gateway.refusal("status", &ask(version.clone()));
        assert_eq!(refused, ("invalid-version".into(), "changesSince".into()), "{version}");
    }
    let refused = gateway.changes_since(CHILD, 1 << 53, None).unwrap_err();
    assert_eq!(refused.reason(), "invalid-version");
}

#[test]
fn a_sessions_list_carries_the_state_version_of_sessions_that_have_one() {
    let gateway = interleaved();
    gateway.watches(MAIN, CHILD);
    gateway.watches(MAIN, OPS);
    let params = json!({"name": "sessions_list", "arguments": {}, "caller": {"key": MAIN}});
    let sessions = gateway.answer("callTool", &params)["structuredContent"]["sessions"].clone();
    assert_eq!(sessions[0]["sessionKey"], CHILD);
    assert_eq!(sessions[0]["stateVersion"], 5);
    assert_eq!(sessions[1]["sessionKey"], OPS);
    assert_eq!(sessions[1].get("stateVersion"), None);
}

#[test]
fn versions_answer_in_the_order_asked_and_nothing_where_nothing_was_recorded() {
    let gateway = interleaved();
    gateway.records(goal(bare("global", "ops"), "u1"));
    let asked =
        [WORKER.into(), OPS.into(), bare("global", "ops"), bare("global", "main"), CHILD.into()];
    assert_eq!(gateway.versions(asked).unwrap(), [Some(4), None, Some(6), None, Some(5)]);
    let many = vec![CHILD; 1_001];
    let Err(Error::Invalid(refused)) = gateway.versions(many) else { panic!("not refused") };
    assert_eq!(refused.reason, InvalidReason::TooMany);
}
