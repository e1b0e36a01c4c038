//! Adopted sessions from end to end, over real files and planted ones: rounds, the monitor, the
//! methods of the JSON surface that the host acts on.

mod stage;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use self::stage::{Planted, SHORT, Scene, row};
use super::{CHILD, CORE, Heard, MAIN, builder};
use crate::{
    AdoptionRequest, Awareness, Builder, FileRead, FolderFiles, Found, Source, SourceFiles,
};

#[test]
fn what_a_person_types_into_an_adopted_session_is_told_once() {
    let scene = Scene::new(|builder| builder);
    assert_eq!(scene.check(), [2, 0, 0, 0]);
    scene.types("child.jsonl", "hello");
    scene.types("child.jsonl", "and then");
    assert_eq!(scene.check(), [2, 1, 0, 0]);
    assert_eq!(scene.check(), [2, 0, 0, 0]);
    let expected = ["session adopted from claude", "human message via claude"];
    assert_eq!(scene.summaries(CHILD), expected);
    assert_eq!(scene.awareness.take(MAIN).unwrap().len(), 1);
    assert_eq!(scene.said(), [""; 0]);
}

#[test]
fn a_file_that_was_replaced_is_read_from_its_start_in_the_same_round() {
    let scene = Scene::new(|builder| builder);
    for turn in 0..20 {
        scene.types("child.jsonl", &format!("turn {turn}"));
    }
    assert_eq!(scene.check(), [2, 1, 0, 0]);
    fs::remove_file(scene.path("child.jsonl")).unwrap();
    fs::write(scene.path("new"), format!("{}\n", timed_row("2099-01-01T00:00:00.000Z"))).unwrap();
    fs::rename(scene.path("new"), scene.path("child.jsonl")).unwrap();
    assert_eq!(scene.check()[0], 2);
    let link = &scene.awareness.links().unwrap()[0];
    let size = fs::metadata(scene.path("child.jsonl")).unwrap().len();
    assert_eq!((link.rotations, link.at), (Some(1), Some(size)));
}

fn timed_row(at: &str) -> String {
    let mut row: Value = serde_json::from_str(&row("hello")).unwrap();
    row["timestamp"] = at.into();
    row.to_string()
}

#[test]
fn a_source_that_is_not_there_three_times_in_a_row_is_gone() {
    let scene = Scene::new(|builder| builder);
    fs::remove_file(scene.path("child.jsonl")).unwrap();
    for _ in 0..3 {
        assert_eq!(scene.check(), [2, 0, 1, 0]);
    }
    assert_eq!(scene.check(), [1, 0, 0, 0]);
    assert_eq!(scene.summaries(CHILD).last().unwrap(), "upstream missing via claude");
    assert_eq!(scene.awareness.links().unwrap().len(), 1);
}

#[test]
fn a_source_that_cannot_be_read_is_logged_once_and_counts_as_no_miss() {
    let scene = Scene::new(|builder| builder);
    scene.planted.plant("child.jsonl", Some(Found::Unavailable("Input/output error".into())));
    for _ in 0..4 {
        assert_eq!(scene.check(), [2, 0, 0, 1]);
    }
    let said = scene.said();
    assert_eq!(said, [format!("log the source of {CHILD} cannot be read: Input/output error")]);
    let link = &scene.awareness.links().unwrap()[0];
    assert_eq!((link.misses, link.trouble.as_deref()), (0, Some("Input/output error")));
    scene.planted.heal();
    assert_eq!(scene.check(), [2, 0, 0, 0]);
    assert_eq!(scene.said(), [format!("log the source of {CHILD} can be read again")]);
    assert_eq!(scene.awareness.links().unwrap()[0].trouble, None);
}

#[test]
fn a_source_that_hangs_stops_neither_the_others_nor_the_next_check() {
    let scene = Scene::new(|builder| builder.source_deadline(SHORT));
    scene.planted.plant("child.jsonl", None);
    for turn in 0..3 {
        scene.types("other.jsonl", &format!("turn {turn}"));
        assert_eq!(scene.check(), [2, 1, 0, 1]);
    }
    assert_eq!(scene.said().len(), 1);
    scene.types("child.jsonl", "meanwhile");
    scene.planted.heal();
    // The read that hung ends now, on a thread that nobody waits for.
    while scene.check() != [2, 1, 0, 0] {
        std::thread::yield_now();
    }
    assert_eq!(scene.summaries(CHILD).len(), 2);
}

/// Locks the store for everybody else as soon as a source is read.
struct Locking {
    store: Mutex<rusqlite::Connection>,
    files: FolderFiles,
}

impl SourceFiles for Arc<Locking> {
    fn read_on(&self, read: &FileRead) -> Found {
        // Again at the second source: it is locked then.
        let _ = self.store.lock().unwrap().execute_batch("BEGIN IMMEDIATE");
        self.files.read_on(read)
    }

    fn read_ends(&self, path: &str) -> Found {
        self.files.read_ends(path)
    }
}

#[test]
fn what_the_store_does_not_take_in_is_said_in_one_line_and_found_by_the_next_check() {
    let scene = Scene::new(|builder| builder);
    for name in ["child.jsonl", "other.jsonl"] {
        scene.types(name, "hello");
    }
    let store = Mutex::new(rusqlite::Connection::open(scene.path("store.db")).unwrap());
    let files = FolderFiles::inside([scene.folder.path()]);
    let locking = Arc::new(Locking { store, files });
    let heard = Heard::default();
    let builder = builder(scene.path("store.db")).recover_on_open(false).listener(heard.clone());
    let builder = builder.source_files(Arc::clone(&locking));
    let impatient = builder.busy_timeout(Duration::from_millis(100)).open().unwrap();
    assert_eq!(impatient.check_upstreams().unwrap().failed, 2);
    let said = heard.take();
    assert!(said.len() == 1 && said[0].contains("2 checks of adopted sessions"), "{said:?}");
    assert!(said[0].contains("(store-busy)"), "{said:?}");
    locking.store.lock().unwrap().execute_batch("ROLLBACK").unwrap();
    assert_eq!(scene.check(), [2, 2, 0, 0]);
}

#[test]
fn by_a_manual_clock_the_monitor_looks_after_15_s_and_then_once_a_minute() {
    let scene = Scene::new(Builder::monitor_upstreams);
    let start = scene.awareness.now();
    let after = |ms: u64| {
        let before = scene.planted.begun();
        scene.awareness.set_clock(start + ms).unwrap();
        scene.planted.begun() - before
    };
    assert_eq!(after(14_999), 0);
    assert_eq!(after(15_000), 2);
    assert_eq!(after(15_000), 0);
    assert_eq!(after(74_999), 0);
    assert_eq!(after(75_000), 2);
    assert_eq!(after(10_000_000), 2);
    scene.types("child.jsonl", "hello");
    assert_eq!(scene.awareness.take(MAIN).unwrap(), []);
    assert_eq!(after(10_060_000), 2);
    assert_eq!(scene.awareness.take(MAIN).unwrap().len(), 1);
}

#[test]
fn of_two_processes_one_checks() {
    let scene = Scene::new(Builder::monitor_upstreams);
    let planted = Planted::new(scene.folder.path());
    let other = builder(scene.path("store.db")).source_files(planted.clone()).monitor_upstreams();
    let other = other.open().unwrap();
    let start = scene.awareness.now();
    for minute in 0..5 {
        let now = start + 15_000 + minute * 60_000;
        let before = scene.planted.begun() + planted.begun();
        for awareness in [&scene.awareness, &other] {
            awareness.set_clock(now).unwrap();
        }
        assert_eq!(scene.planted.begun() + planted.begun() - before, 2, "in minute {minute}");
    }
}

#[test]
fn nobody_takes_the_write_lock_to_check_where_nothing_is_adopted() {
    let folder = tempfile::tempdir().unwrap();
    let (path, heard) = (folder.path().join("store.db"), Heard::default());
    let builder = builder(&path).monitor_upstreams().listener(heard.clone());
    let awareness = builder.busy_timeout(Duration::from_millis(100)).open().unwrap();
    let locking = rusqlite::Connection::open(&path).unwrap();
    locking.execute_batch("BEGIN IMMEDIATE").unwrap();
    for minute in 1..4 {
        awareness.set_clock(awareness.now() + minute * 60_000).unwrap();
    }
    assert_eq!(heard.take(), [""; 0]);
}

#[test]
fn a_store_that_cannot_be_written_is_said_once_and_checked_once_it_can() {
    let scene =
        Scene::new(|builder| builder.monitor_upstreams().busy_timeout(Duration::from_millis(100)));
    let start = scene.awareness.now();
    let locking = rusqlite::Connection::open(scene.path("store.db")).unwrap();
    locking.execute_batch("BEGIN IMMEDIATE").unwrap();
    for minute in 1..4 {
        scene.awareness.set_clock(start + minute * 60_000).unwrap();
    }
    let said = scene.said();
    assert!(said.len() == 1 && said[0].contains("was checked (store-busy)"), "{said:?}");
    locking.execute_batch("ROLLBACK").unwrap();
    scene.awareness.set_clock(start + 4 * 60_000).unwrap();
    assert_eq!(scene.planted.begun(), 2 + 2);
}

#[test]
fn by_the_systems_clock_the_monitor_looks_by_itself_and_ends_with_the_last_clone() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("a.jsonl");
    fs::write(&transcript, "").unwrap();
    let planted = Planted::new(folder.path());
    let awareness = Awareness::builder(folder.path().join("store.db"))
        .plugin(CORE.clone())
        .source_files(planted.clone())
        .monitor_upstreams()
        .first_check(Duration::from_millis(1))
        .check_interval(Duration::from_millis(1))
        .open()
        .unwrap();
    awareness.watch(MAIN, CHILD, false).unwrap();
    let source = Source::claude_file(transcript.to_str().unwrap());
    fs::write(&transcript, format!("{}\n", row("history"))).unwrap();
    awareness.adopt(AdoptionRequest::new(CHILD, source, "claude")).unwrap();
    while planted.begun() < 2 {
        std::thread::yield_now();
    }
    let inner = Arc::downgrade(&awareness.inner);
    drop(awareness);
    while inner.upgrade().is_some() {
        std::thread::yield_now();
    }
}

#[test]
fn closing_waits_for_no_source_that_hangs() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), "").unwrap();
    let planted = Planted::new(folder.path());
    let awareness = Awareness::builder(folder.path().join("store.db"))
        .plugin(CORE.clone())
        .source_files(planted.clone())
        .source_deadline(Duration::from_hours(1))
        .monitor_upstreams()
        .first_check(Duration::ZERO)
        .check_interval(Duration::from_millis(1))
        .open()
        .unwrap();
    let path = folder.path().join("a.jsonl");
    let source = Source::claude_file(path.to_str().unwrap());
    awareness.adopt(AdoptionRequest::new(CHILD, source, "claude")).unwrap();
    planted.plant("a.jsonl", None);
    awareness.watch(MAIN, CHILD, false).unwrap();
    while planted.begun() < 2 {
        std::thread::yield_now();
    }
    let inner = Arc::downgrade(&awareness.inner);
    drop(awareness);
    while inner.upgrade().is_some() {
        std::thread::yield_now();
    }
    planted.heal();
}

#[test]
fn the_methods_that_the_host_acts_on_answer_over_json() {
    let scene = Scene::new(|builder| builder);
    scene.types("child.jsonl", "hello");
    let checked = scene.call("checkUpstreams", &json!({}));
    assert_eq!(checked["result"], json!({"checked": 2, "activity": 1, "missing": 0, "failed": 0}));
    let source = json!({"kind": "claude-jsonl", "path": scene.path("child.jsonl")});
    let adopt = json!({"session": CHILD, "source": source, "catalog": "claude"});
    assert_eq!(scene.call("adopt", &adopt)["result"], json!({"adopted": false, "stateVersion": 3}));
    let moved = scene.call("clock", &json!({"now": 2_000_000}));
    assert_eq!(moved["result"], json!({"now": 2_000_000}));
    assert_eq!(scene.awareness.now(), 2_000_000);
}

#[test]
fn a_source_that_cannot_be_adopted_says_why() {
    let scene = Scene::new(|builder| builder);
    let outside = tempfile::NamedTempFile::new().unwrap();
    let reason = |path: &Path| {
        let source = Source::claude_file(path.to_str().unwrap());
        scene.awareness.adopt(AdoptionRequest::new(MAIN, source, "claude")).unwrap_err().reason()
    };
    assert_eq!(reason(&scene.path("none.jsonl")), "source-missing");
    assert_eq!(reason(outside.path()), "source-refused");
    assert_eq!(reason(Path::new("relative.jsonl")), "invalid-path");
    scene.planted.plant("torn.jsonl", Some(Found::Unavailable("Input/output error".into())));
    assert_eq!(reason(&scene.path("torn.jsonl")), "source-unavailable");
    assert_eq!(scene.awareness.links().unwrap().len(), 2);
}

#[test]
fn a_request_of_such_a_method_is_checked_before_anything_is_done() {
    let scene = Scene::new(|builder| builder);
    let before = (scene.awareness.now(), scene.planted.begun());
    for (method, params) in [
        ("clock", json!({"now": -1})),
        ("clock", json!({"now": 5, "then": 6})),
        ("adopt", json!({"session": "agent:main:x", "catalog": "c"})),
        ("checkUpstreams", json!({"all": true})),
    ] {
        let response = scene.call(method, &params);
        assert_eq!(response["error"]["code"], -32_602, "{method}: {response}");
    }
    assert_eq!((scene.awareness.now(), scene.planted.begun()), before);
    let notification = json!({"jsonrpc": "2.0", "method": "clock", "params": {"now": 77}});
    assert_eq!(scene.awareness.call(&notification.to_string()), None);
    assert_eq!(scene.awareness.now(), 77);
}

#[test]
fn a_store_that_is_only_looked_at_is_neither_adopted_into_nor_checked() {
    let scene = Scene::new(|builder| builder);
    let looking = builder(scene.path("store.db"))
        .source_files(scene.planted.clone())
        .monitor_upstreams()
        .read_only()
        .open()
        .unwrap();
    assert_eq!(looking.links().unwrap().len(), 2);
    let adoption = looking.adopt(scene.request(MAIN, "child.jsonl"));
    assert_eq!(adoption.unwrap_err().reason(), "store-read-only");
    assert_eq!(looking.check_upstreams().unwrap_err().reason(), "store-read-only");
    looking.set_clock(99_000_000).unwrap();
}
