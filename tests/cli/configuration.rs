//! `--config`, the environment, and which of them wins.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::binary::{Ended, as_lines, headsup, request, run, run_on, run_with, text};

fn config(toml: &str) -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let file = folder.path().join("headsup.toml");
    fs::write(&file, toml).unwrap();
    (folder, file)
}

fn serve(file: &Path, db: &str, requests: &[Value]) -> Ended {
    let arguments = ["serve", "--stdio", "--db", db, "--config", text(file)];
    run_on(&mut headsup(arguments), as_lines(requests))
}

fn notifying() -> [Value; 2] {
    let signal = json!({
        "session": "agent:main:w", "kind": "goal_changed", "change": "created",
        "actor": {"type": "human"}, "watchers": ["agent:main:main"],
    });
    [request(1, "record", &signal), request(2, "take", &json!({"watcher": "agent:main:main"}))]
}

#[test]
fn the_example_is_a_valid_configuration() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../host/headsup.example.toml");
    let ended = serve(Path::new(example), ":memory:", &notifying());
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
}

#[test]
fn an_unknown_key_and_a_bad_value_are_named_with_the_file() {
    for (toml, word) in [
        ("[store]\nbusy_timout_ms = 1\n", "busy_timout_ms"),
        ("[store]\nreaders = 0\n", "store.readers"),
        ("[store\n", "not valid"),
        ("[core]\nmemory_mib = 1\n", "core.memory_mib"),
        ("[policy]\nhistory_days = 0\n", "policy.history_days"),
        ("[policy]\nhistory_rows = 0\n", "policy.history_rows"),
        ("[policy]\ncursor_days = 0\n", "policy.cursor_days"),
        ("[policy]\nnotice_template = \"no call\"\n", "policy.notice_template"),
    ] {
        let (_folder, file) = config(toml);
        let ended = serve(&file, ":memory:", &[]);
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{toml}");
        assert!(ended.stderr.contains(word), "{toml}: {}", ended.stderr);
        assert!(ended.stderr.contains(text(&file)), "{toml}: {}", ended.stderr);
    }
    let ended = run_with(["stats", "--config", "no-such.toml"]);
    assert_eq!(ended.status, 1);
    assert!(ended.stderr.contains("no-such.toml"), "{}", ended.stderr);
}

#[test]
fn the_least_memory_that_is_allowed_is_enough_to_work_with() {
    let (_folder, file) = config(
        "[core]\nmemory_mib = 192\ndeadline_ms = 30000\n[store]\nbusy_timeout_ms = 120000\n",
    );
    // A thousand signals for nine watchers in almost the longest request.
    let watchers: Vec<String> =
        (0..9).map(|n| format!("agent:main:w{n}-{}", "z".repeat(300))).collect();
    let signals: Vec<Value> = (0..1_000)
        .map(|n| {
            json!({
                "session": format!("agent:main:{n}-{}", "y".repeat(400)), "kind": "goal_changed",
                "change": "updated", "actor": {"type": "human", "id": "x".repeat(250)},
                "dedupeKey": format!("{n}-{}", "k".repeat(240)), "watchers": watchers,
            })
        })
        .collect();
    let requests = [
        request(1, "recordMany", &json!({ "signals": signals })),
        request(2, "drain", &json!({"watcher": watchers[0]})),
    ];
    let ended = serve(&file, ":memory:", &requests);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let notices = ended.lines().last().unwrap()["result"]["notices"].as_array().map(Vec::len);
    assert_eq!(notices, Some(1_000));
}

#[test]
fn the_notice_template_goes_into_the_store_and_stays_there() {
    let folder = tempdir().unwrap();
    let db = folder.path().join("store.db");
    let (_config, german) = config("[policy]\nnotice_template = \"Neu in {session}: {call}\"\n");
    let lines = serve(&german, text(&db), &notifying()).lines();
    let shown = &lines.last().unwrap()["result"]["notices"][0]["text"];
    assert_eq!(
        *shown,
        r#"Neu in "agent:main:w": session_status {"sessionKey":"agent:main:w","changesSince":0}"#
    );
    // Another process without that setting has the same text; one setting leaves the others alone.
    let (_other, days) = config("[policy]\nhistory_days = 7\n");
    let [_, take] = notifying();
    let lines = serve(&days, text(&db), &[take]).lines();
    assert_eq!(lines.last().unwrap()["result"]["notices"][0]["text"], *shown);
}

#[test]
fn limits_of_requests_and_batches_are_those_configured() {
    let (_folder, file) = config("[serve]\nrequest_bytes = 2000\nbatch_requests = 3\n");
    let pending = request(1, "pending", &json!({}));
    let long = request(2, "take", &json!({"watcher": "x".repeat(2_000)}));
    let lines =
        serve(&file, ":memory:", &[json!([pending, pending, pending]), json!([1, 2, 3, 4]), long])
            .lines();
    assert_eq!(lines[0].as_array().map(Vec::len), Some(3));
    assert_eq!(lines[1]["error"]["data"]["reason"], "too-many");
    assert_eq!(lines[2]["error"]["data"]["reason"], "too-long");
}

#[test]
fn an_option_wins_over_the_environment_which_wins_over_the_file() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (_config, file) = config(&format!("[store]\npath = {:?}\n", text(&path("file.db"))));
    let mut command = headsup(["stats", "--config", text(&file)]);
    assert!(run(&mut command).stderr.contains("file.db"));
    command.env("HEADSUP_DB", path("environment.db"));
    assert!(run(&mut command).stderr.contains("environment.db"));
    command.arg("--db").arg(path("option.db"));
    assert!(run(&mut command).stderr.contains("option.db"));
}

#[test]
fn the_default_store_is_in_the_data_directory() {
    let folder = tempdir().unwrap();
    let mut command = headsup(["stats"]);
    let ended = run(command.env("XDG_DATA_HOME", folder.path()).env("HOME", folder.path()));
    assert_eq!(ended.status, 1);
    assert!(ended.stderr.contains("headsup.db"), "{}", ended.stderr);
}
