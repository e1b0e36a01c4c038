//! `doctor` and `stats`.

use super::upstream::{adopted, link, nothing};
use super::*;
use crate::contract::{Link, Source, StorageFault, Upstream};
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
        store.save_upstream(&adopted(A), 0).unwrap();
        for path in ["/home/u/t.jsonl", "C:\\u\\t.jsonl", "d:/t.jsonl", "\\\\share\\t.jsonl"] {
            let source = Source { kind: "codex-jsonl".into(), place: path.into(), thread: None };
            let link = Some(Link { source, ..link() });
            store.save_upstream(&Upstream { link, ..nothing(session(path)) }, 0).unwrap();
        }
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

/// Breaks a healthy store, and wants the rule, the subject and the words.
fn assert_found(sql: &str, rule: &str, subject: &str, words: &str) {
    let mut store = healthy();
    assert_eq!(store.connection.execute(sql, []), Ok(1), "{sql}");
    let found = found(&mut store);
    let named = found.iter().find(|violation| violation.rule == rule);
    let named = named.unwrap_or_else(|| panic!("{sql}: {found:?}")).to_string();
    assert!(named.starts_with(&format!("{rule}: {subject}")), "{named}");
    assert!(named.contains(words), "{named}");
}

#[test]
fn a_broken_cursor_is_named_with_its_watcher_and_target() {
    let cases = [
        ("last_seen = 1, notified = 0", "cursor-order", "last_seen 1 after notified 0"),
        ("notified = 1 << 53", "cursor-order", "out of range"),
        ("provenance = 'x'", "cursor-order", "provenance"),
        ("notified = NULL", "cursor-order", "lacks a position"),
        ("state = 'x'", "cursor-order", "state"),
        ("state = 'unwatched'", "cursor-order", "mark"),
        ("notified = 0", "cursor-notice", "no notice open"),
        ("last_seen = 3, notified = 3", "cursor-ahead", "stands at 3"),
    ];
    let subject = r#"the cursor of "agent:main:w" on "agent:main:a" (agent "main")"#;
    let here = format!("WHERE watcher_key = '{W}' AND target_key = '{A}'");
    for (change, rule, words) in cases {
        let sql = format!("UPDATE session_watch_cursors SET {change} {here}");
        assert_found(&sql, rule, subject, words);
    }
    let own =
        format!("UPDATE session_state_heads SET notifying_actor = '{W}' WHERE session_key = '{A}'");
    assert_found(&own, "cursor-notice", subject, "was notified of 1");
    for (watcher, words) in [("global", "qualified"), (A, "itself")] {
        let sql = format!("UPDATE session_watch_cursors SET watcher_key = '{watcher}' {here}");
        assert_found(&sql, "cursor-keys", &format!("the cursor of {watcher:?}"), words);
    }
}

#[test]
fn a_broken_head_is_named_with_its_session() {
    let cases = [
        ("version = 0, watermark = 0", "head-behind-log", "rows up to 1"),
        ("watermark = 2", "head-order", "watermark at 2"),
        ("version = 0", "head-order", "tombstone"),
        ("notifying_other = 1", "head-order", "out of order"),
        ("watermark = -1", "head-order", "out of range"),
    ];
    let subject = r#"session "agent:main:a" (agent "main")"#;
    for (change, rule, words) in cases {
        let sql = format!("UPDATE session_state_heads SET {change} WHERE session_key = '{A}'");
        assert_found(&sql, rule, subject, words);
    }
    let sql = format!("DELETE FROM session_state_heads WHERE session_key = '{A}'");
    assert_found(&sql, "head-behind-log", subject, "no head");
}

#[test]
fn a_broken_event_is_named_with_its_session_and_number() {
    let cases = [
        ("kind = 'x'", "event 1 of an unknown kind"),
        ("actor_type = 'x'", "event 1 of an unknown type of actor"),
        ("occurred_at = -1", "event 1 with a time"),
        ("payload_json = '[1]'", "event 1 with a payload"),
        ("payload_json = '{'", "event 1 with a payload"),
    ];
    let update = |change| format!("UPDATE session_state_events SET {change} WHERE sequence = 1");
    for (change, words) in cases {
        let subject = r#"session "agent:main:a" (agent "main")"#;
        assert_found(&update(change), "event-words", subject, words);
    }
    let names = [
        ("session_key = ''", r#"session "" (agent "main")"#, "an empty key"),
        ("agent_id = ''", r#"session "agent:main:a" (agent "")"#, "an empty agent id"),
        ("agent_id = 'x'", r#"session "agent:main:a" (agent "x")"#, "another agent"),
    ];
    for (change, subject, words) in names {
        assert_found(&update(change), "session-names", subject, words);
    }
}

#[test]
fn a_broken_link_is_named_with_its_session() {
    let subject = r#"session "agent:main:a" (agent "main")"#;
    let file = "source_kind = 'claude-jsonl', source_thread = NULL";
    let relative = format!("{file}, source_place = 't.jsonl'");
    let with_thread = "source_kind = 'codex-jsonl', source_place = '/t'";
    let cases = [
        ("state_json = '[1]'", "state is no JSON object"),
        ("state_json = '{'", "state is no JSON object"),
        ("source_kind = 'Claude'", "kind of source is no word"),
        ("source_kind = 'x' || char(0)", "kind of source is no word"),
        (&relative, "without an absolute path"),
        (with_thread, "names a thread on a node"),
        ("source_thread = NULL", "names no thread"),
        ("generation = 0", "out of range"),
        ("revision = 1 << 53", "out of range"),
        ("misses = -1", "out of range"),
        ("checked_at = 1 << 53", "time out of range"),
        ("claimed_until = -1", "time out of range"),
    ];
    let here = format!("WHERE session_key = '{A}'");
    for (change, words) in cases {
        let sql = format!("UPDATE session_upstream_links SET {change} {here}");
        assert_found(&sql, "link-values", subject, words);
    }
    let names = format!("UPDATE session_upstream_links SET agent_id = 'x' {here}");
    let subject = r#"session "agent:main:a" (agent "x")"#;
    assert_found(&names, "session-names", subject, "another agent");
}

#[test]
fn broken_own_turns_are_named_with_their_session() {
    let subject = r#"session "agent:main:a" (agent "main")"#;
    let long = format!("sent = '{}'", "x".repeat(1_001));
    let cases = [
        (&long[..], "more than 1,000 bytes"),
        ("running_until = -1", "time out of range"),
        ("moved_at = 1 << 53", "time out of range"),
    ];
    for (change, words) in cases {
        let sql = format!("UPDATE headsup_own_turns SET {change}");
        assert_found(&sql, "own-turns", subject, words);
    }
    let subject = r#"session "" (agent "main")"#;
    let names = "UPDATE headsup_own_turns SET session_key = ''";
    assert_found(names, "session-names", subject, "an empty key");
}

#[test]
fn a_source_that_another_core_knows_is_sound() {
    let mut store = healthy();
    let link = Link {
        source: Source { kind: "other-tool".into(), place: "anything".into(), thread: None },
        ..link()
    };
    let upstream = Upstream { link: Some(link), ..adopted(B) };
    write(&mut store, |store| store.save_upstream(&upstream, 0).unwrap());
    assert_eq!(found(&mut store), []);
}

#[test]
fn a_counter_that_would_give_a_number_again_is_named() {
    let sql = "UPDATE sqlite_sequence SET seq = 2";
    assert_found(sql, "series", "the series", "stands at 2, but 3 was given");
}

#[test]
fn a_series_that_has_come_to_its_end_is_named_and_recording_says_so_too() {
    for last in [(1_i64 << 53) - 1, 1 << 53, i64::MAX] {
        let sql = format!("UPDATE sqlite_sequence SET seq = {last}");
        assert_found(&sql, "series", "the series", "no number");
        let mut store = Store::in_memory().unwrap();
        store.connection.execute(&sql, []).unwrap();
        store.begin_write().unwrap();
        let failure = store.append(&request(entry(A))).unwrap_err();
        store.rollback();
        assert_eq!(failure.fault, StorageFault::Failed, "{last}");
        assert!(failure.message.contains("series"), "{}", failure.message);
    }
}

#[test]
fn a_count_of_open_notices_that_is_none_is_named() {
    let mut store = healthy();
    let wrong = "INSERT INTO headsup_open_counts VALUES ('agent:main:nobody', 3)";
    store.connection.execute_batch(wrong).unwrap();
    let found = found(&mut store);
    let [violation] = &found[..] else { panic!("{found:?}") };
    assert_eq!(violation.rule, "open-counts");
    assert!(violation.problem.contains("agent:main:nobody"), "{violation}");
}

#[test]
fn a_setting_that_no_call_would_have_set_is_named() {
    let numbers = [
        ("core", "retention.history-days", &["", "0", "36501", "x", "-1", "1.5"][..]),
        ("core", "retention.history-rows", &["5e4", "0", "1000000001", " 1"][..]),
        ("core", "retention.cursor-days", &["0", "1\0", "00000000000000001"][..]),
        ("core", "retention.pruned-at", &["x", "9007199254740992"][..]),
        ("core", "retention.clock-doubted-since", &["x"][..]),
        ("host", "restored-at", &["x", ""][..]),
    ];
    let long = format!("{{call}}{}", "x".repeat(1_000));
    let templates =
        ["look", "{call", "{call}\n", "{call}\0", "{call}\u{2028}", "{call}\u{85}", &long];
    let all = numbers.into_iter().chain([("core", "notice.template", &templates[..])]);
    for (owner, name, values) in all {
        for value in values {
            let mut store = healthy();
            put_setting(&store, owner, name, value);
            let found = found(&mut store);
            let [violation] = &found[..] else { panic!("{name} {value:?}: {found:?}") };
            assert_eq!(violation.rule, "setting-values");
            assert!(violation.problem.contains(name), "{violation}");
        }
    }
}

#[test]
fn settings_that_calls_set_and_those_of_other_cores_are_sound() {
    for (owner, name, value) in [
        ("core", "retention.history-days", "36500"),
        ("core", "retention.history-rows", "1000000000"),
        ("core", "retention.cursor-days", "1"),
        ("core", "retention.pruned-at", ""),
        ("core", "retention.pruned-at", "1700000000000"),
        ("core", "retention.clock-doubted-since", "0"),
        ("core", "notice.template", ""),
        ("core", "notice.template", "Sieh nach, für {session}: {call} — jetzt"),
        ("core", "another.core's", "anything\n"),
    ] {
        let mut store = healthy();
        put_setting(&store, owner, name, value);
        assert_eq!(found(&mut store), [], "{name} {value:?}");
    }
}

fn put_setting(store: &Store, owner: &str, name: &str, value: &str) {
    let sql = "INSERT INTO headsup_settings (owner, name, value) VALUES (?1, ?2, ?3)";
    store.connection.execute(sql, [owner, name, value]).unwrap();
}

#[test]
fn a_text_that_is_not_utf_8_is_a_violation_and_no_failure_of_the_check() {
    let mut store = healthy();
    let sql = "UPDATE session_state_events
        SET kind = 'x', session_key = CAST(x'6167656e743aff' AS TEXT) WHERE sequence = 1";
    store.connection.execute(sql, []).unwrap();
    let found = found(&mut store);
    let named = found.iter().find(|violation| violation.problem.contains("UTF-8"));
    assert!(named.is_some(), "{found:?}");
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
    assert_eq!((stats.marks, stats.open_notices, stats.upstream_links), (1, 1, 5));
    assert_eq!((stats.oldest_event_at, stats.newest_event_at), (Some(5), Some(10)));
    assert_eq!((stats.last_sequence, stats.restored_at, stats.schema_version), (3, 0, 2));
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

#[test]
fn a_gateways_table_that_only_the_gateway_can_check_hides_nothing_of_ours() {
    let (_folder, options) = on_disk();
    let mut store = Store::open(&options).unwrap();
    write(&mut store, |store| record(store, entry(A)));
    let needs_a_function = "CREATE TABLE sessions (x);
        INSERT INTO sessions VALUES (1);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE TABLE sessions (x CHECK (only_the_gateway(x)))'
          WHERE name = 'sessions';
        PRAGMA writable_schema = OFF;
        PRAGMA ignore_check_constraints = ON;
        UPDATE session_state_events SET kind = 'x';";
    store.connection.execute_batch(needs_a_function).unwrap();
    drop(store);
    let mut store = Store::inspect(&options).unwrap();
    let found = found(&mut store);
    let rules: Vec<_> = found.iter().map(|violation| violation.rule).collect();
    assert_eq!(rules, ["sqlite-integrity", "event-words"], "{found:?}");
    assert!(found[0].problem.contains("session_state_events"), "{found:?}");
}
