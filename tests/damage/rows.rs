//! Rows that break the protocol's order or types, written around the constraints: they are reported
//! as corruption, not served, and `doctor` names them.

use headsup::storage::{Store, StoreOptions};
use headsup::{
    AdoptionRequest, Awareness, Error, Plan, Policy, Reader, Recording, Selection, Source,
};
use rusqlite::Connection;

use super::{Sound, builder, goal};
use harness::{CHILD, MAIN, OPS};

fn write(path: &std::path::Path, sql: &str) {
    let file = Connection::open(path).unwrap();
    file.pragma_update(None, "ignore_check_constraints", true).unwrap();
    file.pragma_update(None, "writable_schema", true).unwrap();
    assert_eq!(file.execute(sql, []), Ok(1), "{sql}");
}

fn rules(path: &std::path::Path) -> Vec<&'static str> {
    let mut store = Store::inspect(&StoreOptions::new(path)).unwrap();
    store.begin_read().unwrap();
    let found = store.doctor().unwrap();
    store.rollback();
    found.iter().map(|violation| violation.rule).collect()
}

/// Breaks a row, asks, and wants this rule of `doctor`.
fn is_corrupt<T: std::fmt::Debug>(
    sql: &str,
    rule: &str,
    ask: impl Fn(&Awareness) -> Result<T, Error>,
) {
    let sound = Sound::new();
    let path = sound.copy("row", &sound.database, Some(&sound.log), None);
    write(&path, sql);
    let awareness = builder(&path).open().unwrap();
    assert_eq!(ask(&awareness).unwrap_err().reason(), "store-corrupt", "{sql}");
    assert!(rules(&path).contains(&rule), "{sql}: {:?}", rules(&path));
}

#[test]
fn a_cursor_out_of_order_is_corruption_for_whoever_takes_or_lists() {
    let here = format!("WHERE watcher_key = '{OPS}'");
    for change in ["last_seen = notified + 5", "last_seen = -1", "provenance = 'x'"] {
        let sql = format!("UPDATE session_watch_cursors SET {change} {here}");
        is_corrupt(&sql, "cursor-order", |awareness| awareness.take(OPS));
        is_corrupt(&sql, "cursor-order", |awareness| awareness.drain(OPS));
        is_corrupt(&sql, "cursor-order", |awareness| awareness.watches_of(OPS));
        is_corrupt(&sql, "cursor-order", |awareness| awareness.watchers_of(CHILD));
    }
}

#[test]
fn a_head_out_of_order_is_corruption_for_whoever_asks_for_versions_or_changes() {
    let here = format!("WHERE session_key = '{CHILD}'");
    for change in ["version = -1", "notifying_other = notifying_newest", "watermark = -1"] {
        let sql = format!("UPDATE session_state_heads SET {change} {here}");
        is_corrupt(&sql, "head-order", |awareness| awareness.versions([CHILD]));
        is_corrupt(&sql, "head-order", |awareness| awareness.changes_since(CHILD, 0, None));
        is_corrupt(&sql, "head-order", |awareness| awareness.drain(OPS));
    }
}

#[test]
fn an_event_that_the_protocol_does_not_know_is_corruption_for_whoever_catches_up() {
    let here = format!(
        "WHERE sequence = (SELECT max(sequence) FROM session_state_events WHERE session_key = '{CHILD}')"
    );
    for change in ["kind = 'x'", "actor_type = 'x'", "occurred_at = -1"] {
        let sql = format!("UPDATE session_state_events SET {change} {here}");
        is_corrupt(&sql, "event-words", |awareness| awareness.changes_since(CHILD, 0, None));
    }
}

#[test]
fn a_row_that_is_broken_costs_nobody_else_anything() {
    let sound = Sound::new();
    let path = sound.copy("row", &sound.database, Some(&sound.log), None);
    write(
        &path,
        &format!(
            "UPDATE session_watch_cursors SET last_seen = notified + 5 WHERE watcher_key = '{OPS}'"
        ),
    );
    let awareness = builder(&path).open().unwrap();
    assert_eq!(awareness.take(MAIN).unwrap().len(), 40);
    assert!(!awareness.changes_since(CHILD, 0, None).unwrap().events.is_empty());
}

/// A store with a link, own turns and settings besides.
fn with_links() -> (Sound, std::path::PathBuf) {
    let sound = Sound::new();
    let path = sound.copy("row", &sound.database, Some(&sound.log), None);
    let awareness = builder(&path).open().unwrap();
    awareness.watch(MAIN, OPS, false).unwrap();
    let source = Source::claude_node("n1", "t1");
    assert!(awareness.adopt(AdoptionRequest::new(OPS, source, "claude")).unwrap().adopted);
    awareness.sent(OPS, "hello").unwrap();
    let policy = awareness.policy().unwrap();
    let notice_template = "See {call}".into();
    awareness.set_policy(Policy { history_days: 20, notice_template, ..policy }).unwrap();
    (sound, path)
}

/// Breaks such a row; `doctor` names it, what rests on it is refused with one of these words, if with
/// any, and all else is as it was.
fn is_named<T: std::fmt::Debug>(
    sql: &str,
    rule: &str,
    words: &[&str],
    ask: impl Fn(&Awareness) -> Result<T, Error>,
) {
    let (_sound, path) = with_links();
    write(&path, sql);
    assert!(rules(&path).contains(&rule), "{sql}: {:?}", rules(&path));
    let awareness = builder(&path).open().unwrap();
    let answer = ask(&awareness).map_err(|error| error.reason().to_owned());
    let refused = answer.as_ref().err().map(String::as_str);
    assert_eq!(refused.is_some(), !words.is_empty(), "{sql}: {answer:?}");
    assert!(refused.is_none_or(|word| words.contains(&word)), "{sql}: {answer:?}");
    assert!(matches!(awareness.record(goal(CHILD)), Ok(Recording::Recorded(_))), "{sql}");
    assert_eq!(awareness.take(MAIN).unwrap().len(), 40, "{sql}");
    assert!(!awareness.changes_since(CHILD, 0, None).unwrap().events.is_empty(), "{sql}");
}

#[test]
fn a_link_out_of_its_bounds_is_corruption_for_whoever_checks_it() {
    let sent = |awareness: &Awareness| awareness.sent(OPS, "again");
    // Whoever saves the link breaks a bound of the table.
    let claimed = "UPDATE session_upstream_links SET claimed_until = -1";
    is_named(claimed, "link-values", &["store-corrupt", "store-failed"], sent);
    for change in ["generation = -1", "revision = -1", "misses = -1"] {
        let sql = format!("UPDATE session_upstream_links SET {change}");
        is_named(&sql, "link-values", &["store-corrupt"], sent);
        is_named(&sql, "link-values", &["store-corrupt"], plans);
    }
}

#[test]
fn a_link_that_no_core_would_have_saved_is_named_and_hurts_nobody() {
    for change in [
        "state_json = 'x'",
        r#"state_json = '{"x":[}'"#,
        "source_kind = 'A b'",
        "source_thread = NULL",
    ] {
        let sql = format!("UPDATE session_upstream_links SET {change}");
        is_named(&sql, "link-values", &[], plans);
    }
}

#[test]
fn own_turns_out_of_their_bounds_are_refused_to_whoever_adds_to_them() {
    let sent = |awareness: &Awareness| awareness.sent(OPS, "again");
    let sql = |change| format!("UPDATE headsup_own_turns SET {change}");
    is_named(&sql("running_until = -1"), "own-turns", &["store-corrupt"], sent);
    // Adding to them breaks a bound of the table.
    let long = sql("sent = hex(zeroblob(1001))");
    is_named(&long, "own-turns", &["store-corrupt", "store-failed"], sent);
    // The next turn sets it anew.
    is_named(&sql("moved_at = -1"), "own-turns", &[], sent);
}

#[test]
fn a_setting_that_no_call_would_have_set_is_named_and_refused_where_it_cannot_be_read() {
    let sql = |name, value| {
        format!("UPDATE headsup_settings SET value = '{value}' WHERE name = '{name}'")
    };
    let days = sql("retention.history-days", "x");
    is_named(&days, "setting-values", &["store-corrupt"], Awareness::policy);
    is_named(&days, "setting-values", &["store-corrupt"], Awareness::recover);
    is_named(&sql("notice.template", "no call"), "setting-values", &[], Awareness::policy);
    // Pruning sets it anew.
    is_named(&sql("retention.pruned-at", "-5"), "setting-values", &[], Awareness::recover);
}

/// What the gateway itself has to read.
fn plans(awareness: &Awareness) -> Result<Vec<Plan>, Error> {
    awareness.plan_checks(Selection::All, Reader::Gateway)
}
