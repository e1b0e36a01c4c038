//! `adopt`, `upstreams` and `upstreams explain`, and the monitor of `serve`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use harness::Home;
use serde_json::{Value, json};

use crate::binary::{Ended, Running, request, run, text};

const MAIN: &str = "agent:main:main";
const CHILD: &str = "agent:main:subagent:child";

/// What a person typed, and nothing else may ever show.
const SECRET: &str = "xyzzy-secret-words";

/// A person who typed before anybody looked, and what commands on their store say.
struct Person {
    home: Home,
}

impl Person {
    fn new() -> Self {
        let person = Self { home: Home::new() };
        person.types("history");
        person.home.command(&["serve", "--stdio"]).output().unwrap();
        person
    }

    fn types(&self, what: &str) {
        self.home.types(&format!("{SECRET} {what}"));
    }

    fn transcript(&self) -> &Path {
        &self.home.transcript
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let ended = run(&mut self.home.command(arguments));
        assert!(!ended.stdout.contains(SECRET) && !ended.stderr.contains(SECRET), "{ended:?}");
        ended
    }

    fn as_json(&self, arguments: &[&str]) -> Value {
        let ended = self.run(&[arguments, &["--json"]].concat());
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{arguments:?}");
        serde_json::from_str(&ended.stdout).unwrap()
    }

    fn adopt(&self) -> Value {
        self.as_json(&["adopt", CHILD, text(self.transcript())])
    }
}

#[test]
fn an_adopted_session_is_watched_by_a_server_and_its_watcher_is_told() {
    let person = Person::new();
    assert_eq!(person.adopt(), json!({"adopted": true, "stateVersion": 1}));
    assert_eq!(person.adopt(), json!({"adopted": false, "stateVersion": 1}));
    let mut server =
        Running::start(&mut person.home.command(&["serve", "--stdio", "--manual-clock"]));
    server.send(&request(1, "watch", &json!({"watcher": MAIN, "target": CHILD})));
    assert_eq!(server.next()["result"]["watched"], true);
    person.types("hello");
    server.send(&request(2, "clock", &json!({"now": 14_999})));
    assert_eq!(server.next()["result"]["now"], 14_999);
    server.send(&request(3, "clock", &json!({"now": 15_000})));
    let notice = server.next();
    assert_eq!((&notice["method"], &notice["params"]["target"]), (&json!("notice"), &json!(CHILD)));
    assert_eq!(server.next()["method"], "wake");
    assert_eq!(server.next()["result"]["now"], 15_000);
    let changes = person.as_json(&["log", CHILD, "--since", "1"]);
    let event = &changes["stateChanges"]["events"][0];
    assert_eq!(event["summary"], "human message via claude");
}

#[test]
fn what_may_not_be_adopted_says_why_and_changes_nothing() {
    let person = Person::new();
    fs::write(person.path("outside.jsonl"), "").unwrap();
    let (outside, none) =
        (person.path("outside.jsonl"), person.transcript().with_file_name("none"));
    let refused = [
        (vec!["adopt", CHILD, text(&outside)], 1, "source-refused"),
        (vec!["adopt", CHILD, text(&none)], 1, "source-missing"),
        (vec!["adopt", "global", text(person.transcript())], 2, "--agent"),
        (vec!["adopt", CHILD, text(person.transcript()), "--catalog", " "], 2, "catalog"),
    ];
    for (arguments, status, word) in refused {
        let ended = person.run(&arguments);
        assert_eq!((ended.status, ended.stdout.as_str()), (status, ""), "{ended:?}");
        assert!(ended.stderr.contains(word), "{ended:?}");
    }
    assert_eq!(person.as_json(&["upstreams"]), json!({"links": []}));
}

#[test]
fn folders_that_are_configured_stand_in_place_of_the_users() {
    let person = Person::new();
    fs::create_dir(person.path("elsewhere")).unwrap();
    let transcript = person.path("elsewhere/rollout-1.jsonl");
    fs::write(&transcript, "").unwrap();
    let config = person.path("headsup.toml");
    let folder = person.path("elsewhere");
    fs::write(&config, format!("[upstreams]\nfolders = [{:?}]\n", text(&folder))).unwrap();
    let adopt = |path: &Path| person.run(&["adopt", CHILD, text(path), "--config", text(&config)]);
    assert_eq!(adopt(person.transcript()).status, 1);
    assert_eq!(adopt(&transcript).status, 0);
    let links = person.as_json(&["upstreams"]);
    assert_eq!(links["links"][0]["kind"], "codex-jsonl");
    assert_eq!(links["links"][0]["catalog"], "codex");
}

#[test]
fn upstreams_shows_where_sessions_live_and_how_far_that_was_read() {
    let person = Person::new();
    assert!(person.run(&["upstreams"]).stdout.contains("no session is adopted"));
    person.adopt();
    let size = fs::metadata(person.transcript()).unwrap().len();
    person.types("hello");
    let grown = fs::metadata(person.transcript()).unwrap().len();
    let shown = person.as_json(&["upstreams", CHILD]);
    let link = &shown["links"][0];
    assert_eq!((&link["session"], &link["agent"]), (&json!(CHILD), &json!("main")));
    assert_eq!(
        (&link["kind"], &link["place"]),
        (&json!("claude-jsonl"), &json!(person.transcript()))
    );
    assert_eq!((&link["at"], &link["size"]), (&json!(size), &json!(size)));
    assert_eq!((&link["behind"], &link["misses"]), (&json!(grown - size), &json!(0)));
    assert_eq!((&link["watched"], &link["checkedAt"]), (&json!(false), &Value::Null));
    let table = person.run(&["upstreams"]).stdout;
    for word in ["BEHIND", "3f2a.jsonl", "never", "nobody watches"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    assert!(person.run(&["upstreams", MAIN]).stdout.contains("the session is not adopted"));
}

#[test]
fn explain_says_line_by_line_what_a_row_is_taken_for_and_none_of_its_text() {
    let person = Person::new();
    person.types("again");
    let shown = person.as_json(&["upstreams", "explain", text(person.transcript())]);
    let lines: Vec<_> = shown["rows"].as_array().unwrap().iter().collect();
    let of = |name: &str| lines.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    // Blank lines count.
    assert_eq!(of("line"), [1, 3, 4, 6]);
    assert_eq!(of("human"), [true, false, true, false]);
    assert_eq!((&shown["explained"], &shown["human"]), (&json!(4), &json!(2)));
    let human = person.as_json(&["upstreams", "explain", "--human", text(person.transcript())]);
    assert_eq!(human["rows"].as_array().unwrap().len(), 2);
    let table = person.run(&["upstreams", "explain", text(person.transcript())]).stdout;
    for word in ["LINE", "turn", "2026-11-30 10:00:00.000Z", "4 rows, 2 of them a person's turn"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let ended = person.run(&["upstreams", "explain", text(&person.path("none"))]);
    assert!(ended.status == 1 && ended.stderr.contains("none cannot be read"), "{ended:?}");
}

/// Opening a pipe would wait for somebody to write into it.
#[cfg(unix)]
#[test]
fn explain_refuses_what_is_no_regular_file() {
    let person = Person::new();
    let pipe = person.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for place in [pipe.as_path(), person.home.path(), Path::new("/dev/zero")] {
        let ended = person.run(&["upstreams", "explain", text(place)]);
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{ended:?}");
        assert!(ended.stderr.contains("no regular file"), "{ended:?}");
    }
}

#[test]
fn an_empty_transcript_is_read_to_its_byte_0() {
    let person = Person::new();
    fs::write(person.transcript(), "").unwrap();
    person.adopt();
    let link = &person.as_json(&["upstreams"])["links"][0];
    assert_eq!((&link["at"], &link["size"], &link["behind"]), (&json!(0), &json!(0), &json!(0)));
}
