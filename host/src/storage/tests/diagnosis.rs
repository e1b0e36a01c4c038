//! `doctor` and `stats`.

use super::*;
use crate::storage::Violation;

const W: &str = "agent:main:w";
const A: &str = "agent:main:a";
const B: &str = "agent:main:b";

/// A healthy store with something of everything.
fn healthy() -> Store {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        record(store, Entry { occurred_at: 10, ..entry(A) });
        record(store, Entry { occurred_at: 5, payload: None, ..entry(B) });
        record(store, entry("agent:main:gone"));
        store.delete(&session("agent:main:gone"), 9).unwrap();
        let positions = Positions { last_seen: 2, notified: 2, provenance: Provenance::Ambient };
        let ambient = Cursor { state: CursorState::Live(positions), ..live(W, B, 0, 0) };
        let cursors =
            [live(W, A, 0, 1), ambient, live("agent:main:x", A, 1, 1), mark("agent:main:y", A)];
        save_cursors(store, cursors.to_vec());
        store.connection.pragma_update(None, "ignore_check_constraints", true).unwrap();
    });
    store
}

fn found(store: &mut Store) -> Vec<Violation> {
    read(store, |store| store.doctor().unwrap())
}

#[test]
fn a_healthy_store_has_no_violations_nor_has_a_restored_or_pruned_one() {
    let mut store = healthy();
    assert_eq!(found(&mut store), []);
    write(&mut store, |store| store.restored(1 << 32).unwrap());
    assert_eq!(found(&mut store), []);
    let request = crate::contract::PruneRequest {
        occurred_before: Some(6),
        keep_rows: 1,
        moved_before: Some(10),
        at_most: 100,
    };
    write(&mut store, |store| store.prune(&request).unwrap());
    assert_eq!(found(&mut store), []);
    assert_eq!(found(&mut Store::in_memory().unwrap()), []);
}

#[test]
fn each_broken_invariant_is_named_with_whom_it_concerns() {
    let cursor = "UPDATE session_watch_cursors SET";
    let here = "WHERE watcher_key = 'agent:main:w' AND target_key = 'agent:main:a'";
    let cursor_on_a = r#"the cursor of "agent:main:w" on "agent:main:a" (agent "main")"#;
    let session_a = r#"session "agent:main:a" (agent "main")"#;
    let head = "UPDATE session_state_heads SET";
    let on_a = "WHERE session_key = 'agent:main:a'";
    let cases = [
        (
            format!("{cursor} last_seen = 1, notified = 0 {here}"),
            "cursor-order",
            cursor_on_a,
            "last_seen 1 after notified 0",
        ),
        (format!("{cursor} provenance = 'x' {here}"), "cursor-order", cursor_on_a, "provenance"),
        (
            format!("{cursor} notified = NULL {here}"),
            "cursor-order",
            cursor_on_a,
            "lacks a position",
        ),
        (format!("{cursor} state = 'x' {here}"), "cursor-order", cursor_on_a, "state"),
        (format!("{cursor} state = 'unwatched' {here}"), "cursor-order", cursor_on_a, "mark"),
        (format!("{cursor} notified = 0 {here}"), "cursor-notice", cursor_on_a, "no notice open"),
        (
            format!("{head} notifying_actor = 'agent:main:w' {on_a}"),
            "cursor-notice",
            cursor_on_a,
            "was notified of 1",
        ),
        (
            format!("{cursor} last_seen = 3, notified = 3 {here}"),
            "cursor-ahead",
            cursor_on_a,
            "stands at 3",
        ),
        (
            format!("{cursor} watcher_key = 'global' {here}"),
            "cursor-keys",
            r#"the cursor of "global""#,
            "qualified",
        ),
        (
            format!("{cursor} watcher_key = 'agent:main:a' {here}"),
            "cursor-keys",
            r#"the cursor of "agent:main:a""#,
            "itself",
        ),
        (
            format!("{head} version = 0, watermark = 0 {on_a}"),
            "head-behind-log",
            session_a,
            "rows up to 1",
        ),
        (
            format!("DELETE FROM session_state_heads {on_a}"),
            "head-behind-log",
            session_a,
            "no head",
        ),
        (format!("{head} watermark = 2 {on_a}"), "head-order", session_a, "watermark at 2"),
        (format!("{head} version = 0 {on_a}"), "head-order", session_a, "tombstone"),
        (format!("{head} notifying_other = 1 {on_a}"), "head-order", session_a, "out of order"),
        (format!("{head} watermark = -1 {on_a}"), "head-order", session_a, "out of range"),
        (
            format!("UPDATE session_state_events SET kind = 'x' {on_a}"),
            "event-words",
            session_a,
            "event 1 of an unknown kind",
        ),
        (
            format!("UPDATE session_state_events SET actor_type = 'x' {on_a}"),
            "event-words",
            session_a,
            "actor",
        ),
        (
            format!("UPDATE session_state_events SET occurred_at = -1 {on_a}"),
            "event-words",
            session_a,
            "time",
        ),
        (
            format!("UPDATE session_state_events SET payload_json = '[1]' {on_a}"),
            "event-words",
            session_a,
            "payload",
        ),
        (
            format!("UPDATE session_state_events SET payload_json = '{{' {on_a}"),
            "event-words",
            session_a,
            "payload",
        ),
        (
            format!("UPDATE session_state_events SET session_key = '' {on_a}"),
            "session-names",
            r#"session "" (agent "main")"#,
            "empty key",
        ),
        (
            format!("UPDATE session_state_events SET agent_id = 'x' {on_a}"),
            "session-names",
            r#"session "agent:main:a" (agent "x")"#,
            "another agent",
        ),
        ("UPDATE sqlite_sequence SET seq = 2".into(), "series", "the series", "3 was given"),
    ];
    for (sql, rule, subject, words) in cases {
        let mut store = healthy();
        assert_eq!(store.connection.execute(&sql, []), Ok(1), "{sql}");
        let found = found(&mut store);
        let named = found.iter().find(|violation| violation.rule == rule);
        let named = named.unwrap_or_else(|| panic!("{sql}: {found:?}")).to_string();
        assert!(named.starts_with(&format!("{rule}: {subject}")), "{named}");
        assert!(named.contains(words), "{named}");
    }
}

#[test]
fn what_sqlite_itself_finds_is_reported_too() {
    let (_folder, options) = on_disk();
    let mut store = Store::open(&options).unwrap();
    write(&mut store, |store| {
        for n in 0..200 {
            record(store, Entry { dedupe_key: Some(format!("k{n}")), ..entry(A) });
        }
    });
    let index = "SELECT (rootpage - 1) * (SELECT page_size FROM pragma_page_size)
        FROM sqlite_schema WHERE name = 'session_state_events_dedupe'";
    let at: i64 = store.connection.query_row(index, [], |row| row.get(0)).unwrap();
    drop(store);
    let mut bytes = std::fs::read(&options.path).unwrap();
    let at = usize::try_from(at).unwrap();
    bytes[at..at + 4_096].fill(0);
    std::fs::write(&options.path, bytes).unwrap();
    let mut store = Store::inspect(&options).unwrap();
    assert!(found(&mut store).iter().any(|violation| violation.rule == "sqlite-integrity"));
}

#[test]
fn stats_count_everything_by_what_it_is() {
    let mut store = healthy();
    let stats = read(&mut store, |store| store.stats().unwrap());
    assert_eq!((stats.events, stats.sessions, stats.tombstones), (2, 2, 1));
    assert_eq!((stats.spawn_cursors, stats.explicit_cursors, stats.ambient_cursors), (0, 2, 1));
    assert_eq!((stats.marks, stats.open_notices, stats.upstream_links), (1, 1, 0));
    assert_eq!((stats.oldest_event_at, stats.newest_event_at), (Some(5), Some(10)));
    assert_eq!((stats.last_sequence, stats.restored_at, stats.schema_version), (3, 0, 1));
    assert_eq!(stats.wal_bytes, 0);
    let empty = read(&mut Store::in_memory().unwrap(), |store| store.stats().unwrap());
    assert_eq!((empty.oldest_event_at, empty.newest_event_at), (None, None));
}

#[test]
fn stats_tell_the_size_of_the_file_and_of_what_is_beside_it() {
    let (_folder, options) = on_disk();
    let mut store = Store::open(&options).unwrap();
    write(&mut store, |store| record(store, entry(A)));
    let stats = read(&mut store, |store| store.stats().unwrap());
    let wal = options.path.with_file_name("store.db-wal");
    assert_eq!(stats.wal_bytes, std::fs::metadata(wal).unwrap().len());
    assert!(stats.wal_bytes > 0 && stats.file_bytes > 0);
}
