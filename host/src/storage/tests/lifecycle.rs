//! `reset`, `delete`, `prune`, `restored`, and the settings.

use super::upstream::{adopted, nothing};
use super::*;
use crate::contract::{
    CursorQuery, PruneRequest, Pruning, Removal, Setting, StorageFault, Upstream,
};

const A: &str = "agent:main:a";
const B: &str = "agent:main:b";
const W: &str = "agent:main:w";

const NOTHING_DUE: PruneRequest =
    PruneRequest { occurred_before: None, keep_rows: u32::MAX, moved_before: None, at_most: 100 };

fn numbers(store: &mut Store, key: &str) -> Vec<u64> {
    let page = store.history(&session(key), 0, 1_000).unwrap();
    page.rows.iter().map(|row| row.sequence).collect()
}

fn head_of(store: &mut Store, key: &str) -> Option<Head> {
    store.heads(&[session(key)]).unwrap().swap_remove(0)
}

fn watermark(store: &mut Store, key: &str) -> u64 {
    head_of(store, key).unwrap().watermark
}

/// Events 1 to 6, alternating between two sessions; event n occurred at n.
fn six_events() -> Store {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        for n in 1..=6 {
            let key = if n % 2 == 1 { A } else { B };
            record(store, Entry { occurred_at: n, ..entry(key) });
        }
    });
    store
}

#[test]
fn reset_removes_what_the_session_watches_and_keeps_its_marks_and_its_watchers() {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        let kept = [mark(W, "agent:main:c"), live("agent:main:x", W, 0, 0)];
        save_cursors(store, vec![live(W, A, 0, 1), live(W, B, 0, 0)]);
        save_cursors(store, kept.to_vec());
        assert_eq!(store.reset(W).unwrap(), 2);
        assert_eq!(store.reset(W).unwrap(), 0);
        let pairs = [pair(W, "agent:main:c"), pair("agent:main:x", W), pair(W, A)];
        let found = store.pairs(&pairs).unwrap().into_iter().map(|state| state.cursor);
        let [mark, watcher] = kept;
        assert_eq!(found.collect::<Vec<_>>(), [Some(mark), Some(watcher), None]);
    });
}

#[test]
fn reset_leaves_the_link_and_own_turns() {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        store.save_upstream(&adopted(W), 0).unwrap();
        store.reset(W).unwrap();
        assert_eq!(store.upstream_of(&session(W)).unwrap(), adopted(W));
    });
}

#[test]
fn delete_removes_log_and_cursors_of_exactly_that_session_and_counts_the_live_ones() {
    let mut store = Store::in_memory().unwrap();
    let namesake = Session { key: "global".into(), agent: "other".into() };
    let on_namesake = Cursor {
        pair: Pair { watcher: W.into(), target: namesake.clone() },
        ..live(W, "global", 0, 0)
    };
    write(&mut store, |store| {
        record(store, entry("global"));
        record(store, entry("global"));
        record(store, Entry { session: namesake.clone(), ..entry("global") });
        let cursors =
            [live(W, "global", 0, 2), mark("agent:main:x", "global"), on_namesake.clone()];
        save_cursors(store, cursors.to_vec());
        let gone = store.delete(&session("global"), 7_000).unwrap();
        assert_eq!(gone, Removal { cursors: 1, events: 2 });
        assert_eq!(numbers(store, "global"), [0; 0]);
        assert_eq!(store.history(&namesake, 0, 10).unwrap().rows.len(), 1);
        let left = store.cursors(&CursorQuery::OfWatcher(W.into()), None, 10).unwrap();
        assert_eq!(left.into_iter().map(|w| w.cursor).collect::<Vec<_>>(), [on_namesake]);
        let lifted = store.pairs(&[pair("agent:main:x", "global")]).unwrap();
        assert_eq!(lifted[0].cursor, None);
    });
}

#[test]
fn delete_removes_what_the_session_watches_its_marks_its_link_and_own_turns() {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        save_cursors(store, vec![live(A, B, 0, 0), mark(A, W), live(W, A, 0, 0)]);
        store.save_upstream(&adopted(A), 0).unwrap();
        store.save_upstream(&adopted(B), 0).unwrap();
        assert_eq!(store.delete(&session(A), 1).unwrap(), Removal { cursors: 2, events: 0 });
        let pairs = store.pairs(&[pair(A, B), pair(A, W), pair(W, A)]).unwrap();
        assert!(pairs.iter().all(|state| state.cursor.is_none()));
        assert_eq!(store.upstream_of(&session(A)).unwrap(), nothing(session(A)));
        assert_eq!(store.upstream_of(&session(B)).unwrap(), adopted(B));
    });
}

#[test]
fn a_deleted_session_leaves_a_tombstone_with_the_watermark_at_its_version() {
    let mut store = six_events();
    write(&mut store, |store| {
        store.delete(&session(A), 7_000).unwrap();
        let tombstone = Head { version: 0, watermark: 5, notifying: None, moved_at: 7_000 };
        assert_eq!(head_of(store, A), Some(tombstone.clone()));
        store.delete(&session(A), 8_000).unwrap();
        assert_eq!(head_of(store, A), Some(Head { moved_at: 8_000, ..tombstone }));
        store.delete(&session("agent:main:never"), 8_000).unwrap();
        assert_eq!(head_of(store, "agent:main:never"), None);
    });
}

#[test]
fn pruning_by_age_is_strict_and_raises_each_sessions_watermark() {
    let mut store = six_events();
    let request = PruneRequest { occurred_before: Some(4), ..NOTHING_DUE };
    let done = write(&mut store, |store| store.prune(&request).unwrap());
    assert_eq!(done, Pruning { events: 3, cursors: 0, more: false });
    read(&mut store, |store| {
        assert_eq!((numbers(store, A), numbers(store, B)), (vec![5], vec![4, 6]));
        assert_eq!((watermark(store, A), watermark(store, B)), (3, 2));
        assert_eq!(head_of(store, A).unwrap().version, 5);
    });
}

#[test]
fn pruning_by_count_keeps_the_newest_of_the_whole_store() {
    let mut store = six_events();
    let request = PruneRequest { keep_rows: 2, ..NOTHING_DUE };
    let done = write(&mut store, |store| store.prune(&request).unwrap());
    assert_eq!(done, Pruning { events: 4, cursors: 0, more: false });
    let left = read(&mut store, |store| (numbers(store, A), numbers(store, B)));
    assert_eq!(left, (vec![5], vec![6]));
    let again = write(&mut store, |store| store.prune(&request).unwrap());
    assert_eq!(again, Pruning { events: 0, cursors: 0, more: false });
}

#[test]
fn pruning_goes_oldest_first_in_batches_and_says_whether_more_are_due() {
    let mut store = six_events();
    // The last recorded occurred first, by its producer's clock.
    write(&mut store, |store| record(store, Entry { occurred_at: 0, ..entry(A) }));
    let request =
        PruneRequest { occurred_before: Some(3), keep_rows: 4, at_most: 2, ..NOTHING_DUE };
    let mut batches = Vec::new();
    loop {
        let done = write(&mut store, |store| store.prune(&request).unwrap());
        let left = read(&mut store, |store| [numbers(store, A), numbers(store, B)].concat());
        batches.push((done.events, left));
        if !done.more {
            break;
        }
    }
    assert_eq!(batches, [(2, vec![3, 5, 7, 4, 6]), (2, vec![5, 4, 6])]);
    assert_eq!(read(&mut store, |store| watermark(store, A)), 7);
    let none_allowed = PruneRequest { keep_rows: 0, at_most: 0, ..NOTHING_DUE };
    let done = write(&mut store, |store| store.prune(&none_allowed).unwrap());
    assert_eq!(done, Pruning { events: 0, cursors: 0, more: true });
}

#[test]
fn pruning_lets_nothing_go_that_is_not_due() {
    let mut store = six_events();
    write(&mut store, |store| {
        save_cursors(store, vec![live(W, A, 0, 1), mark(W, B)]);
        let done = store.prune(&NOTHING_DUE).unwrap();
        assert_eq!(done, Pruning { events: 0, cursors: 0, more: false });
        let by_age =
            PruneRequest { occurred_before: Some(1), moved_before: Some(1_000), ..NOTHING_DUE };
        let done = store.prune(&by_age).unwrap();
        assert_eq!(done, Pruning { events: 0, cursors: 0, more: false });
    });
}

#[test]
fn a_cursor_expires_by_the_later_of_its_own_and_its_targets_last_move() {
    let mut store = Store::in_memory().unwrap();
    let at = |moved_at, cursor: Cursor| Cursor { moved_at, ..cursor };
    write(&mut store, |store| {
        let heads = [(A, 10), (B, 90)].map(|(key, moved_at)| HeadChange {
            session: session(key),
            head: Head { moved_at, ..head(1) },
        });
        save_heads(store, heads.into());
        let cursors = [
            at(10, live("agent:main:both-old", A, 0, 1)),
            at(90, live("agent:main:moved", A, 0, 1)),
            at(10, live("agent:main:target-moved", B, 0, 0)),
            at(10, mark("agent:main:old-mark", A)),
            at(49, live("agent:main:no-head", "agent:main:c", 0, 0)),
            at(50, live("agent:main:on-the-line", "agent:main:c", 0, 0)),
        ];
        save_cursors(store, cursors.to_vec());
        let request = PruneRequest { moved_before: Some(50), ..NOTHING_DUE };
        let done = store.prune(&request).unwrap();
        assert_eq!(done, Pruning { events: 0, cursors: 3, more: false });
        let pairs = cursors.map(|cursor| cursor.pair);
        let left = store.pairs(&pairs).unwrap().into_iter().map(|state| state.cursor.is_some());
        assert_eq!(left.collect::<Vec<_>>(), [false, true, true, false, false, true]);
    });
}

#[test]
fn old_tombstones_go_and_heads_of_living_sessions_stay() {
    let mut store = six_events();
    write(&mut store, |store| {
        store.delete(&session(A), 40).unwrap();
        let request = PruneRequest { moved_before: Some(40), ..NOTHING_DUE };
        store.prune(&request).unwrap();
        assert_eq!(watermark(store, A), 5);
        store.prune(&PruneRequest { moved_before: Some(5_000), ..request }).unwrap();
        assert_eq!(head_of(store, A), None);
        assert_eq!(head_of(store, B), Some(head(6)));
    });
}

#[test]
fn own_turns_go_that_moved_strictly_before_the_cutoff_and_links_stay() {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        store.save_upstream(&adopted(A), 49).unwrap();
        store.save_upstream(&adopted(B), 50).unwrap();
        store.prune(&NOTHING_DUE).unwrap();
        assert_eq!(store.upstream_of(&session(A)).unwrap(), adopted(A));
        store.prune(&PruneRequest { moved_before: Some(50), ..NOTHING_DUE }).unwrap();
        let link_alone = Upstream { link: adopted(A).link, ..nothing(session(A)) };
        assert_eq!(store.upstream_of(&session(A)).unwrap(), link_alone);
        assert_eq!(store.upstream_of(&session(B)).unwrap(), adopted(B));
    });
}

#[test]
fn a_restored_store_raises_its_series_and_every_head_but_versions_of_tombstones() {
    let mut store = six_events();
    let by = 1 << 32;
    write(&mut store, |store| {
        store.delete(&session(B), 40).unwrap();
        assert_eq!(store.restored(by).unwrap(), by + 6);
        let raised = head_of(store, A).unwrap();
        assert_eq!((raised.version, raised.watermark), (by + 6, by + 6));
        let tombstone = head_of(store, B).unwrap();
        assert_eq!((tombstone.version, tombstone.watermark), (0, by + 6));
        let page = store.history(&session("agent:main:never"), 0, 1).unwrap();
        assert_eq!((page.head, page.restored_at), (None, by + 6));
        assert_eq!(record(store, entry(A)), by + 7);
        assert_eq!(store.restored(by).unwrap(), 2 * by + 7);
    });
}

#[test]
fn an_empty_store_is_restored_too_even_if_its_counter_was_removed() {
    for counter in ["", "DELETE FROM sqlite_sequence"] {
        let mut store = Store::in_memory().unwrap();
        store.connection.execute_batch(counter).unwrap();
        write(&mut store, |store| {
            assert_eq!(store.restored(100).unwrap(), 100);
            assert_eq!(record(store, entry(A)), 101);
        });
    }
}

#[test]
fn a_series_does_not_pass_what_every_language_can_hold() {
    let mut store = six_events();
    store.begin_write().unwrap();
    for by in [(1 << 53) - 6, u64::MAX] {
        assert_eq!(store.restored(by).unwrap_err().fault, StorageFault::Failed);
    }
    assert_eq!(store.restored((1 << 53) - 7).unwrap(), (1 << 53) - 1);
    let failure = store.append(&request(entry(A))).unwrap_err();
    assert!(failure.message.contains("come to its end"), "{}", failure.message);
}

#[test]
fn settings_answer_in_the_order_asked_and_the_hosts_own_are_out_of_reach() {
    let mut store = Store::in_memory().unwrap();
    let set = |name: &str, value: &str| Setting { name: name.into(), value: value.into() };
    write(&mut store, |store| {
        store.restored(5).unwrap();
        store.set(&[set("a", "1"), set("b", ""), set("a", "2"), set("restored-at", "9")]).unwrap();
        let asked = ["b", "c", "a", "restored-at"];
        let expected = [Some(""), None, Some("2"), Some("9")].map(|v| v.map(str::to_owned));
        assert_eq!(store.settings(&asked).unwrap(), expected);
        assert_eq!(store.history(&session(A), 0, 1).unwrap().restored_at, 5);
        assert!(store.set(&[set("a", &"x".repeat(4_097))]).is_err());
    });
}
