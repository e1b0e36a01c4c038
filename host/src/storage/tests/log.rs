//! `append`, `history`, `heads`, and the series of sequences.

use super::*;
use crate::contract::StorageFault;

#[test]
fn a_fresh_store_numbers_from_one_without_holes() {
    let mut store = Store::in_memory().unwrap();
    let numbers: Vec<_> =
        (0..5).map(|_| write(&mut store, |store| record(store, entry("agent:main:a")))).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5]);
}

#[test]
fn a_rolled_back_number_is_as_if_never_given() {
    let mut store = Store::in_memory().unwrap();
    store.begin_write().unwrap();
    assert_eq!(record(&mut store, entry("agent:main:a")), 1);
    store.rollback();
    assert_eq!(write(&mut store, |store| record(store, entry("agent:main:a"))), 1);
}

#[test]
fn numbers_are_never_reused_after_delete_prune_vacuum_or_reopening() {
    let (_folder, options) = on_disk();
    let mut store = Store::open(&options).unwrap();
    for _ in 0..3 {
        write(&mut store, |store| record(store, entry("agent:main:a")));
    }
    write(&mut store, |store| store.delete(&session("agent:main:a"), 2_000).unwrap());
    store.connection.execute_batch("VACUUM").unwrap();
    assert_eq!(write(&mut store, |store| record(store, entry("agent:main:a"))), 4);
    let everything = crate::contract::PruneRequest {
        occurred_before: None,
        keep_rows: 0,
        moved_before: None,
        at_most: 100,
    };
    write(&mut store, |store| store.prune(&everything).unwrap());
    drop(store);
    let mut store = Store::open(&options).unwrap();
    assert_eq!(write(&mut store, |store| record(store, entry("agent:main:b"))), 5);
}

#[test]
fn history_returns_byte_for_byte_what_was_appended_with_the_head() {
    let mut store = Store::in_memory().unwrap();
    let with_everything = Entry {
        dedupe_key: Some("k".into()),
        summary: "über → 🦀".into(),
        ..entry("agent:main:a")
    };
    let bare = Entry {
        actor_id: None,
        session_id: None,
        run_id: None,
        payload: None,
        ..entry("agent:main:a")
    };
    write(&mut store, |store| {
        record(store, with_everything.clone());
        record(store, entry("agent:main:other"));
        record(store, bare.clone());
    });
    let page = read(&mut store, |store| store.history(&session("agent:main:a"), 0, 10).unwrap());
    let rows: Vec<_> = page.rows.into_iter().map(|row| (row.sequence, row.entry)).collect();
    assert_eq!(rows, [(1, with_everything), (3, bare)]);
    assert_eq!(page.head, Some(head(3)));
    assert_eq!(page.restored_at, 0);
}

#[test]
fn history_pages_strictly_after_a_version_and_keeps_to_its_limit() {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        for _ in 0..5 {
            record(store, entry("agent:main:a"));
        }
    });
    let page = |store: &mut Store, after, limit| -> Vec<u64> {
        let page = store.history(&session("agent:main:a"), after, limit).unwrap();
        page.rows.iter().map(|row| row.sequence).collect()
    };
    read(&mut store, |store| {
        assert_eq!(page(store, 2, 2), [3, 4]);
        assert_eq!(page(store, 5, 2), [0; 0]);
        assert_eq!(page(store, (1 << 53) - 1, 2), [0; 0]);
        assert_eq!(page(store, 0, 0), [0; 0]);
    });
}

#[test]
fn a_session_of_another_agent_is_another_session() {
    let mut store = Store::in_memory().unwrap();
    let other = Session { key: "global".into(), agent: "other".into() };
    let keyed = Entry { dedupe_key: Some("k".into()), ..entry("global") };
    write(&mut store, |store| {
        record(store, keyed.clone());
        let same_key = Entry { session: other.clone(), ..keyed };
        assert!(matches!(store.append(&request(same_key)).unwrap(), AppendOutcome::Appended(_)));
        assert_eq!(store.history(&session("global"), 0, 10).unwrap().rows.len(), 1);
        assert_eq!(store.heads(&[other, session("global")]).unwrap(), [None, Some(head(1))]);
    });
}

#[test]
fn a_duplicate_answers_the_first_number_and_uses_up_none() {
    let mut store = Store::in_memory().unwrap();
    let keyed = Entry { dedupe_key: Some("k".into()), ..entry("agent:main:a") };
    write(&mut store, |store| {
        assert_eq!(record(store, keyed.clone()), 1);
        let again = AppendRequest { only_if_watched: true, ..request(keyed) };
        assert_eq!(store.append(&again).unwrap(), AppendOutcome::Duplicate(1));
        assert_eq!(record(store, entry("agent:main:a")), 2);
    });
}

#[test]
fn only_if_watched_wants_a_live_cursor_and_not_a_mark() {
    let mut store = Store::in_memory().unwrap();
    let probe = AppendRequest { only_if_watched: true, ..request(entry("agent:main:a")) };
    write(&mut store, |store| {
        save_cursors(store, vec![mark("agent:main:w", "agent:main:a")]);
        save_cursors(store, vec![live("agent:main:w", "agent:main:other", 0, 0)]);
        assert_eq!(store.append(&probe).unwrap(), AppendOutcome::Unwatched);
        save_cursors(store, vec![live("agent:main:w", "agent:main:a", 0, 4)]);
        assert_eq!(appended(store.append(&probe).unwrap()).sequence, 1);
    });
}

#[test]
fn append_returns_settled_and_named_cursors_once_by_watcher() {
    let mut store = Store::in_memory().unwrap();
    let target = "agent:main:a";
    let settled = live("agent:main:w2", target, 0, 0);
    let pending = live("agent:main:w3", target, 0, 9);
    let marked = mark("agent:main:w1", target);
    write(&mut store, |store| {
        save_cursors(store, vec![settled.clone(), pending.clone(), marked.clone()]);
        save_cursors(store, vec![live("agent:main:w2", "agent:main:b", 0, 0)]);
        let all = request(entry(target));
        assert_eq!(appended(store.append(&all).unwrap()).cursors, std::slice::from_ref(&settled));
        let named = AppendRequest {
            named: ["w3", "w2", "w1", "w1", "nobody"].map(|w| format!("agent:main:{w}")).into(),
            ..all
        };
        let expected = [marked.clone(), settled, pending.clone()];
        assert_eq!(appended(store.append(&named).unwrap()).cursors, expected);
        let unsettled =
            AppendRequest { settled: false, named: vec!["agent:main:w3".into()], ..named };
        assert_eq!(appended(store.append(&unsettled).unwrap()).cursors, [pending]);
    });
}

#[test]
fn append_returns_the_head_as_it_was_and_leaves_it() {
    let mut store = Store::in_memory().unwrap();
    let first = request(entry("agent:main:a"));
    write(&mut store, |store| {
        assert_eq!(appended(store.append(&first).unwrap()).head, None);
        record(store, entry("agent:main:a"));
        assert_eq!(appended(store.append(&first).unwrap()).head, Some(head(2)));
        assert_eq!(store.heads(&[session("agent:main:a")]).unwrap(), [Some(head(2))]);
    });
}

#[test]
fn a_value_the_tables_refuse_is_a_failure_that_does_not_quote_it() {
    let mut store = Store::in_memory().unwrap();
    let secret = "no-such-kind-secret";
    let wrong = Entry { kind: secret.into(), ..entry("agent:main:a") };
    store.begin_write().unwrap();
    let failure = store.append(&request(wrong)).unwrap_err();
    assert_eq!(failure.fault, StorageFault::Failed);
    assert!(failure.message.contains("kind word"), "{}", failure.message);
    assert!(!failure.message.contains(secret), "{}", failure.message);
    let long = Entry { summary: "x".repeat(1_025), ..entry("agent:main:a") };
    assert!(store.append(&request(long)).unwrap_err().message.contains("summary length"));
    let late = Entry { occurred_at: 1 << 53, ..entry("agent:main:a") };
    assert!(store.append(&request(late)).unwrap_err().message.contains("occurred_at range"));
}

#[test]
fn a_head_without_a_notifying_event_and_one_without_an_actor_come_back_as_they_were() {
    let mut store = Store::in_memory().unwrap();
    let quiet = Head { notifying: None, ..head(3) };
    let anonymous = Head {
        notifying: Some(Notifying { newest: 5, actor: None, other: 2 }),
        watermark: 4,
        ..head(6)
    };
    write(&mut store, |store| {
        for (key, head) in [("agent:main:a", &quiet), ("agent:main:b", &anonymous)] {
            let change = HeadChange { session: session(key), head: head.clone() };
            save_heads(store, vec![change]);
        }
        let asked = ["agent:main:b", "agent:main:none", "agent:main:a"].map(session);
        assert_eq!(store.heads(&asked).unwrap(), [Some(anonymous), None, Some(quiet)]);
    });
}
