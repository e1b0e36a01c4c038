//! `log`, `watches`, `notices`, `stats` and `restored`: what they show, and that looking changes
//! nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

#[cfg(unix)]
use crate::binary::as_another_than_the_superuser;
use crate::binary::{Ended, Running, headsup, request, run_with, serve, text};

const CHILD: &str = "agent:main:subagent:child";
const MAIN: &str = "agent:main:main";

/// A store with a child that a human jumped into, and a bare session.
fn store() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let db = folder.path().join("store.db");
    let spawned = json!({
        "session": CHILD, "kind": "child_spawned", "runId": "r1", "watchers": [MAIN],
        "actor": {"type": "agent", "id": MAIN},
    });
    let message = json!({
        "session": CHILD, "kind": "human_direct_message", "channel": "telegram",
        "actor": {"type": "human", "id": "ana"}, "occurredAt": 0,
    });
    let global = json!({
        "session": {"key": "global", "agent": "main"}, "kind": "goal_changed",
        "change": "created", "actor": {"type": "human"},
    });
    let requests = [spawned, message, global].map(|signal| request(1, "record", &signal));
    serve(&db, &requests);
    (folder, db)
}

fn look(db: &Path, arguments: &[&str]) -> Ended {
    run_with([arguments, &["--db", text(db)]].concat())
}

fn as_json(db: &Path, arguments: &[&str]) -> Value {
    let ended = look(db, &[arguments, &["--json"]].concat());
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{arguments:?}");
    assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Everything in a folder: bytes and times.
fn footprint(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            (path.clone(), (fs::read(&path).unwrap(), modified))
        })
        .collect()
}

const LOOKS: [&[&str]; 7] = [
    &["log", CHILD],
    &["log", "global", "--agent", "main"],
    &["watches", MAIN],
    &["notices"],
    &["notices", MAIN],
    &["stats"],
    &["doctor"],
];

#[test]
fn looking_creates_nothing_and_changes_no_byte_and_no_time() {
    let (folder, db) = store();
    let before = footprint(folder.path());
    for arguments in LOOKS {
        let ended = look(&db, arguments);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{arguments:?}");
        as_json(&db, arguments);
    }
    assert_eq!(footprint(folder.path()), before);
}

#[test]
fn commits_beside_the_file_of_a_killed_server_are_seen_and_left_there() {
    let (folder, db) = store();
    let mut running = Running::start(&mut headsup(["serve", "--stdio", "--db", text(&db)]));
    let signal = json!({"session": CHILD, "kind": "created", "actor": {"type": "system"}});
    running.next();
    running.next();
    running.send(&request(1, "record", &signal));
    running.next();
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    let wal = folder.path().join("store.db-wal");
    let before = (fs::read(&db).unwrap(), fs::read(&wal).unwrap());
    assert!(!before.1.is_empty());
    assert_eq!(as_json(&db, &["log", CHILD])["stateVersion"], 4);
    for arguments in LOOKS {
        assert_eq!(look(&db, arguments).status, 0, "{arguments:?}");
    }
    assert_eq!((fs::read(&db).unwrap(), fs::read(&wal).unwrap()), before);
}

/// Somebody who may read the store and write in its folder, but not write the store.
#[cfg(unix)]
fn as_a_reader_of(db: &Path, arguments: &[&str]) -> Ended {
    use std::os::unix::fs::PermissionsExt as _;
    let set_mode = |mode| fs::set_permissions(db, fs::Permissions::from_mode(mode)).unwrap();
    let mut command = headsup([arguments, &["--db", text(db)]].concat());
    let another = as_another_than_the_superuser(&mut command, db.parent().unwrap());
    set_mode(if another { 0o644 } else { 0o444 });
    let ended = crate::binary::run(&mut command);
    set_mode(0o644);
    ended
}

#[cfg(unix)]
#[test]
fn looking_as_somebody_who_may_not_write_the_store_leaves_nothing_that_its_owner_cannot_write() {
    let (folder, db) = store();
    let beside = ["-wal", "-shm"].map(|end| folder.path().join(format!("store.db{end}")));
    for arguments in LOOKS {
        let ended = as_a_reader_of(&db, arguments);
        assert_eq!(ended.status, 0, "{arguments:?}: {ended:?}");
        for path in &beside {
            assert!(!path.exists(), "{arguments:?} left {}", path.display());
        }
    }
    let signal = json!({"session": CHILD, "kind": "created", "actor": {"type": "system"}});
    let answer = serve(&db, &[request(1, "record", &signal)]);
    assert_eq!(answer.last().unwrap()["result"]["outcome"], "recorded");
}

#[cfg(unix)]
#[test]
fn commits_beside_a_store_that_may_not_be_written_and_nobody_serves_are_out_of_reach() {
    let (folder, db) = store();
    let mut running = Running::start(&mut headsup(["serve", "--stdio", "--db", text(&db)]));
    running.next();
    let copy = folder.path().join("copy.db");
    let beside = |path: &Path, end| path.with_extension(format!("db{end}"));
    running.send(&request(1, "reset", &json!({"session": MAIN})));
    running.next();
    running.next();
    fs::copy(&db, &copy).unwrap();
    fs::copy(beside(&db, "-wal"), beside(&copy, "-wal")).unwrap();
    let ended = as_a_reader_of(&copy, &["stats"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{ended:?}");
    assert!(ended.stderr.contains("its folder to be writable"), "{}", ended.stderr);
    assert!(!beside(&copy, "-shm").exists());
}

#[test]
fn a_store_that_is_not_there_is_an_error_and_is_not_made() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("deeper").join("none.db");
    for arguments in LOOKS.into_iter().chain([&["restored"][..]]) {
        let ended = look(&db, arguments);
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{arguments:?}");
        assert!(ended.stderr.contains("there is no store at"), "{}", ended.stderr);
        assert!(ended.stderr.contains(text(&db)), "{}", ended.stderr);
    }
    assert!(footprint(folder.path()).is_empty());
}

#[test]
fn looking_does_not_disturb_a_server() {
    let (_folder, db) = store();
    let mut running = Running::start(&mut headsup(["serve", "--stdio", "--db", text(&db)]));
    // The notice that recovery tells of, and its wake.
    running.next();
    running.next();
    for arguments in LOOKS {
        assert_eq!(look(&db, arguments).status, 0, "{arguments:?}");
    }
    running.send(&request(7, "drain", &json!({"watcher": MAIN})));
    assert_eq!(running.next()["result"]["notices"].as_array().map(Vec::len), Some(1));
}

#[test]
fn log_shows_each_event_of_that_session_alone() {
    let (_folder, db) = store();
    let shown = look(&db, &["log", CHILD]).stdout;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert!(lines[0].starts_with("VERSION"), "{shown}");
    assert!(lines[1].contains("child session spawned") && lines[1].contains("r1"), "{shown}");
    assert!(
        lines[2].contains("human message via telegram") && lines[2].contains("human ana"),
        "{shown}"
    );
    assert_eq!(lines[3], "state version 2");
    let status = as_json(&db, &["log", CHILD, "--since", "1"]);
    assert_eq!(status["stateVersion"], 2);
    assert_eq!(status["stateChanges"]["events"][0]["sequence"], 2);
    assert_eq!(look(&db, &["log", "agent:main:unheard-of"]).stdout, "nothing was recorded\n");
}

#[test]
fn a_bare_key_needs_its_agent_and_a_wrong_key_is_wrong_usage() {
    let (_folder, db) = store();
    for command in ["log", "watches"] {
        let ended = look(&db, &[command, "global"]);
        assert_eq!(ended.status, 2);
        assert!(ended.stderr.contains("--agent"), "{}", ended.stderr);
        assert_eq!(look(&db, &[command, "global", "--agent", "main"]).status, 0);
        assert_eq!(look(&db, &[command, "agent:main"]).status, 2);
        assert_eq!(look(&db, &[command, CHILD, "--agent", "other"]).status, 2);
    }
}

#[test]
fn log_pages_through_everything_and_stops_at_its_limit() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("store.db");
    let signal = json!({"session": CHILD, "kind": "created", "actor": {"type": "system"}});
    let signals = vec![signal; 450];
    serve(&db, &[request(1, "recordMany", &json!({ "signals": signals }))]);
    let sequences = |arguments: &[&str]| -> Vec<u64> {
        let events = as_json(&db, arguments)["stateChanges"]["events"].clone();
        events.as_array().unwrap().iter().map(|event| event["sequence"].as_u64().unwrap()).collect()
    };
    assert_eq!(sequences(&["log", CHILD]), (1..=450).collect::<Vec<_>>());
    assert_eq!(sequences(&["log", CHILD, "--since", "440"]), (441..=450).collect::<Vec<_>>());
    assert_eq!(sequences(&["log", CHILD, "--limit", "250"]), (1..=250).collect::<Vec<_>>());
    assert_eq!(as_json(&db, &["log", CHILD, "--limit", "250"])["stateChanges"]["truncated"], true);
    assert_eq!(as_json(&db, &["log", CHILD, "--limit", "450"])["stateChanges"]["truncated"], false);
    assert!(look(&db, &["log", CHILD, "--limit", "2"]).stdout.contains("there are more events"));
}

#[test]
fn log_says_where_history_is_missing() {
    let (_folder, db) = store();
    let shown = look(&db, &["log", CHILD, "--since", "99"]).stdout;
    assert!(shown.contains("history gap"), "{shown}");
    assert_eq!(as_json(&db, &["log", CHILD, "--since", "99"])["stateChanges"]["historyGap"], true);
    assert!(!look(&db, &["log", CHILD]).stdout.contains("history gap"));
}

#[test]
fn watches_shows_both_directions() {
    let (_folder, db) = store();
    let of_main = as_json(&db, &["watches", MAIN]);
    assert_eq!(of_main["watches"][0]["target"], CHILD);
    assert_eq!(of_main["watchedBy"], json!([]));
    let of_child = as_json(&db, &["watches", CHILD]);
    assert_eq!(of_child["watchedBy"], of_main["watches"]);
    let shown = look(&db, &["watches", CHILD]).stdout;
    assert!(shown.contains("is watched by") && shown.contains("pending"), "{shown}");
}

#[test]
fn notices_shows_what_is_pending_and_leaves_it_so() {
    let (_folder, db) = store();
    for _ in 0..2 {
        assert_eq!(
            as_json(&db, &["notices"]),
            json!({"watchers": [{"watcher": MAIN, "notices": 1}]})
        );
        let taken = as_json(&db, &["notices", MAIN]);
        assert_eq!(
            (&taken["notices"][0]["since"], &taken["notices"][0]["upTo"]),
            (&json!(1), &json!(2))
        );
    }
    assert!(look(&db, &["notices", MAIN]).stdout.contains("changed by someone else"));
    assert_eq!(look(&db, &["notices", CHILD]).stdout, "nothing is pending\n");
}

#[test]
fn stats_count_what_is_there() {
    let (_folder, db) = store();
    let stats = as_json(&db, &["stats"]);
    for (name, value) in [
        ("events", 3),
        ("sessions", 2),
        ("spawnCursors", 1),
        ("openNotices", 1),
        ("lastSequence", 3),
    ] {
        assert_eq!(stats[name], value, "{name}");
    }
    assert!(look(&db, &["stats"]).stdout.contains("events kept"));
}

#[test]
fn restored_raises_the_series_and_every_version_from_before_has_a_gap() {
    let (_folder, db) = store();
    let position = 3 + (1_u64 << 32);
    assert_eq!(as_json(&db, &["restored"]), json!({ "position": position }));
    let status = as_json(&db, &["log", CHILD, "--since", "2"]);
    assert_eq!(status["stateChanges"]["historyGap"], true);
    let again = look(&db, &["restored"]).stdout;
    assert!(again.contains(&(position + (1 << 32)).to_string()), "{again}");
    assert_eq!(look(&db, &["doctor"]).status, 0);
}

#[test]
fn restored_runs_only_where_no_old_commits_would_be_replayed_over_the_backup() {
    let (folder, db) = store();
    let backup = folder.path().join("backup.db");
    fs::copy(&db, &backup).unwrap();
    let mut running = Running::start(&mut headsup(["serve", "--stdio", "--db", text(&db)]));
    running.next();
    running.next();
    let signal = json!({"session": CHILD, "kind": "created", "actor": {"type": "system"}});
    running.send(&request(1, "record", &signal));
    running.next();
    running.child.kill().unwrap();
    running.child.wait().unwrap();
    // As somebody does who forgets what is beside the file.
    fs::copy(&backup, &db).unwrap();
    let before = footprint(folder.path());
    let ended = look(&db, &["restored"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("-wal") && ended.stderr.contains("remove"), "{}", ended.stderr);
    assert_eq!(footprint(folder.path()), before);
    assert_eq!(as_json(&db, &["log", CHILD])["stateVersion"], 4, "they would be replayed");
    // By the book.
    for end in ["", "-wal", "-shm"] {
        fs::remove_file(folder.path().join(format!("store.db{end}"))).unwrap();
    }
    fs::copy(&backup, &db).unwrap();
    assert_eq!(as_json(&db, &["restored"]), json!({"position": 3 + (1_u64 << 32)}));
}

#[test]
fn restored_counts_the_commits_beside_a_file_if_they_are_said_to_be_its_own() {
    let (_folder, db) = store();
    let mut running = Running::start(&mut headsup(["serve", "--stdio", "--db", text(&db)]));
    running.next();
    running.next();
    let signal = json!({"session": CHILD, "kind": "created", "actor": {"type": "system"}});
    running.send(&request(1, "record", &signal));
    running.next();
    let position = 4 + (1_u64 << 32);
    assert_eq!(as_json(&db, &["restored", "--keep-wal"]), json!({ "position": position }));
}

#[test]
fn a_session_that_was_deleted_has_no_history_and_that_is_said() {
    let (_folder, db) = store();
    serve(&db, &[request(1, "delete", &json!({"session": CHILD}))]);
    let shown = look(&db, &["log", CHILD]).stdout;
    assert!(shown.contains("nothing is kept") && shown.contains("history gap"), "{shown}");
    assert!(!shown.contains("nothing was recorded"), "{shown}");
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let (_folder, db) = store();
    let mut running = Running::start(&mut headsup(["log", CHILD, "--db", text(&db)]));
    running.stdout = None;
    let status = running.child.wait().unwrap();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn colour_appears_only_where_it_is_asked_for() {
    let (_folder, db) = store();
    let mut plain = headsup(["watches", CHILD, "--db", text(&db)]);
    assert!(!crate::binary::run(&mut plain).stdout.contains('\u{1b}'));
    let mut forced = headsup(["watches", CHILD, "--db", text(&db)]);
    assert!(crate::binary::run(forced.env("CLICOLOR_FORCE", "1")).stdout.contains('\u{1b}'));
}
