//! Rows read back: whatever stands in a column, calls answer or say that the store is damaged; and
//! `doctor` names what they trip over.

use std::fs;
use std::path::Path;

use harness::{CHILD, DAY, MAIN, NOON, OPS};
use headsup::storage::{Store, StoreOptions};
use headsup::{
    Actor, AdoptionRequest, Awareness, Durability, Error, GoalChange, Policy, Signal, Source,
    Urgency,
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::driver::{corpus, fuzz};
use crate::mutate::Chance;

const TABLES: [&str; 7] = [
    "session_state_events",
    "session_state_heads",
    "session_watch_cursors",
    "session_upstream_links",
    "headsup_own_turns",
    "headsup_open_counts",
    "headsup_settings",
];

/// Values as SQL that some column or other should not have.
const VALUES: [&str; 22] = [
    "NULL",
    "-1",
    "0",
    "1",
    "3",
    "9007199254740991",
    "9007199254740992",
    "9223372036854775807",
    "-9223372036854775808",
    "''",
    "'x'",
    "'agent:main:main'",
    "'agent:'",
    "'live'",
    "'unwatched'",
    "'{}'",
    "'{'",
    "'[1,{\"a\":null}]'",
    "CAST(x'ff00c3' AS TEXT)",
    "'a' || char(0) || char(10)",
    "replace(hex(zeroblob(300)), '00', 'ab')",
    "'1e3'",
];

fn builder(path: &Path) -> headsup::Builder {
    Awareness::builder(path)
        .plugin(harness::core())
        .durability(Durability::Normal)
        .manual_clock(NOON)
}

/// A store with something in every table, whole in one file.
fn sample(path: &Path) {
    let folder = path.parent().unwrap();
    let transcript = folder.join("a.jsonl");
    fs::write(&transcript, "{}\n").unwrap();
    let awareness = builder(path).source_folders([folder]).open().unwrap();
    awareness.set_policy(Policy { history_rows: 40, ..awareness.policy().unwrap() }).unwrap();
    awareness.watch(OPS, CHILD, true).unwrap();
    awareness.unwatch(MAIN, OPS).unwrap();
    awareness.record(Signal::child_spawned(CHILD, "r1", Actor::agent(MAIN))).unwrap();
    for _ in 0..3 {
        let change = Signal::goal_changed(CHILD, GoalChange::Updated, Actor::human());
        awareness.record(change).unwrap();
    }
    awareness.record(Signal::human_direct_message(CHILD, Actor::human()).channel("cli")).unwrap();
    let real = fs::canonicalize(&transcript).unwrap();
    let source = Source::claude_file(real.to_str().unwrap());
    awareness.adopt(AdoptionRequest::new(CHILD, source, "claude")).unwrap();
    awareness.sent(CHILD, "hello").unwrap();
    awareness.busy(CHILD, false).unwrap();
    drop(awareness);
    let store = Connection::open(path).unwrap();
    store.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    store.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(())).unwrap();
}

/// Puts values into columns as the input says: past constraints and triggers, as a damaged or edited
/// file has them. What was done, for people.
fn damage(store: &Connection, input: &[u8]) -> Vec<String> {
    let seed = input.iter().fold(1_u64, |sum, byte| sum.wrapping_mul(131) ^ u64::from(*byte));
    let mut chance = Chance::new(seed);
    store.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
    let mut done = Vec::new();
    for _ in 0..=chance.below(2) {
        let table = chance.of(&TABLES);
        let columns: Vec<String> = store
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let (column, value) = (chance.of(&columns), chance.of(&VALUES));
        // All rows, or some.
        let above = if chance.below(2) == 0 { "" } else { "5" };
        let sql = format!(
            "UPDATE OR IGNORE {table} SET {column} = {value} WHERE hex(coalesce({column}, '')) >= '{above}'"
        );
        // A type or a uniqueness that SQLite itself holds is not broken so.
        if store.execute(&sql, []).is_ok() {
            done.push(sql);
        }
    }
    done
}

/// A call on a damaged store answers, or says what is the matter with the store.
fn is_honest<T>(answer: Result<T, Error>) -> bool {
    match answer {
        Ok(_) => false,
        Err(error @ (Error::Storage(_) | Error::Invalid(_))) => error.reason() == "store-corrupt",
        Err(other) => panic!("{other}"),
    }
}

/// Calls whatever reads rows. Whether anything said that the store is damaged.
fn ask_everything(awareness: &Awareness) -> bool {
    let change = || Signal::goal_changed(CHILD, GoalChange::Updated, Actor::human());
    let mut damaged = false;
    for watcher in [MAIN, OPS] {
        damaged |= is_honest(awareness.watches_of(watcher));
        damaged |= is_honest(awareness.pending_of(watcher));
        damaged |= is_honest(awareness.take(watcher));
    }
    for session in [CHILD, OPS] {
        damaged |= is_honest(awareness.watchers_of(session));
        damaged |= is_honest(awareness.changes_since(session, 0, None));
        damaged |= is_honest(awareness.versions([session]));
    }
    damaged |= is_honest(awareness.pending());
    damaged |= is_honest(awareness.policy());
    damaged |= is_honest(awareness.links());
    damaged |= matches!(
        awareness.record(change()).unwrap(),
        headsup::Recording::Failed { reason: "store-corrupt", .. }
    );
    damaged |= is_honest(awareness.check_upstreams());
    damaged |= is_honest(awareness.sent(CHILD, "again"));
    damaged |= is_honest(awareness.drain(OPS));
    damaged |= is_honest(awareness.drain(MAIN));
    awareness.set_clock(NOON + 40 * DAY).unwrap();
    damaged |= is_honest(awareness.recover());
    damaged |= is_honest(awareness.prune(Urgency::AtStart));
    damaged |= is_honest(awareness.reset(MAIN));
    damaged |= is_honest(awareness.delete(CHILD));
    damaged
}

#[test]
fn damaged_rows_are_answered_or_named_and_never_trap() {
    let folder = TempDir::new().unwrap();
    let whole = folder.path().join("whole.db");
    sample(&whole);
    let path = folder.path().join("damaged.db");
    fuzz("rows", &corpus("rows"), |input| {
        for side in ["damaged.db-wal", "damaged.db-shm"] {
            let _ = fs::remove_file(folder.path().join(side));
        }
        fs::copy(&whole, &path).unwrap();
        let done = damage(&Connection::open(&path).unwrap(), input);
        let named = doctor(&path);
        let awareness = match builder(&path).recover_on_open(false).open() {
            Ok(awareness) => awareness,
            Err(error) => panic!("{done:?}: {error}"),
        };
        let damaged = ask_everything(&awareness);
        assert!(!damaged || !named.is_empty(), "doctor finds nothing after {done:?}");
    });
}

/// What `doctor` names.
fn doctor(path: &Path) -> Vec<String> {
    let options = StoreOptions::new(path);
    let found = Store::inspect(&options).and_then(|mut store| {
        store.begin_read()?;
        store.doctor()
    });
    match found {
        Ok(violations) => violations.iter().map(ToString::to_string).collect(),
        Err(failure) => vec![failure.message],
    }
}
