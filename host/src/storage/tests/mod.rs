//! The guarantees of each verb and of opening, over real SQLite.

mod claims;
mod cursors;
mod diagnosis;
mod inspecting;
mod lifecycle;
mod log;
mod opening;
mod plans;
mod refusing;
mod transactions;
mod upstream;

use rusqlite::Connection;
use tempfile::TempDir;

use super::{Store, StoreOptions};
use crate::contract::{
    AppendOutcome, AppendRequest, Appended, Changes, Cursor, CursorState, Entry, Head, HeadChange,
    Notifying, Pair, Positions, Provenance, Session,
};

/// A session of the agent `main`.
fn session(key: &str) -> Session {
    Session { key: key.into(), agent: "main".into() }
}

fn entry(key: &str) -> Entry {
    Entry {
        session: session(key),
        kind: "goal_changed".into(),
        actor_type: "human".into(),
        actor_id: Some("u7".into()),
        occurred_at: 1_000,
        summary: "goal updated".into(),
        session_id: Some("s1".into()),
        run_id: Some("r1".into()),
        payload: Some("{\"turns\":2}".into()),
        dedupe_key: None,
    }
}

fn request(entry: Entry) -> AppendRequest {
    AppendRequest { entry, only_if_watched: false, settled: true, named: Vec::new() }
}

fn pair(watcher: &str, target: &str) -> Pair {
    Pair { watcher: watcher.into(), target: session(target) }
}

/// A live explicit cursor.
fn live(watcher: &str, target: &str, last_seen: u64, notified: u64) -> Cursor {
    let positions = Positions { last_seen, notified, provenance: Provenance::Explicit };
    Cursor { pair: pair(watcher, target), state: CursorState::Live(positions), moved_at: 1_000 }
}

fn mark(watcher: &str, target: &str) -> Cursor {
    Cursor { pair: pair(watcher, target), state: CursorState::Unwatched, moved_at: 1_000 }
}

fn head(version: u64) -> Head {
    let notifying = Notifying { newest: version, actor: Some("u7".into()), other: 0 };
    Head { version, watermark: 0, notifying: Some(notifying), moved_at: 1_000 }
}

/// Runs in a write transaction that is committed.
fn write<T>(store: &mut Store, verbs: impl FnOnce(&mut Store) -> T) -> T {
    store.begin_write().unwrap();
    let answer = verbs(store);
    store.commit().unwrap();
    answer
}

/// Runs in a read transaction.
fn read<T>(store: &mut Store, verbs: impl FnOnce(&mut Store) -> T) -> T {
    store.begin_read().unwrap();
    let answer = verbs(store);
    store.rollback();
    answer
}

fn appended(outcome: AppendOutcome) -> Appended {
    match outcome {
        AppendOutcome::Appended(appended) => appended,
        other => panic!("not appended: {other:?}"),
    }
}

/// Records an event with its head, as the core does.
fn record(store: &mut Store, entry: Entry) -> u64 {
    let session = entry.session.clone();
    let done = appended(store.append(&request(entry)).unwrap());
    let watermark = done.head.map_or(0, |head| head.watermark);
    let head = Head { watermark, ..head(done.sequence) };
    save_heads(store, vec![HeadChange { session, head }]);
    done.sequence
}

fn save_heads(store: &mut Store, heads: Vec<HeadChange>) {
    store.save(&Changes { heads, cursors: Vec::new() }).unwrap();
}

fn save_cursors(store: &mut Store, cursors: Vec<Cursor>) {
    store.save(&Changes { heads: Vec::new(), cursors }).unwrap();
}

/// A store in a folder that goes with it.
fn on_disk() -> (TempDir, StoreOptions) {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new(folder.path().join("made/on/demand/store.db"));
    (folder, options)
}

/// A file that holds somebody else's tables.
fn made_by_a_gateway(sql: &str) -> (TempDir, StoreOptions) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    (folder, StoreOptions::new(path))
}
