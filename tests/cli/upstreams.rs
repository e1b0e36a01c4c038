//! `adopt`, `upstreams` and `upstreams explain`, and the monitor of `serve`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::binary::{Ended, Running, headsup, request, run, text};

const MAIN: &str = "agent:main:main";
const CHILD: &str = "agent:main:subagent:child";

/// What a person typed, and nothing else may ever show.
const SECRET: &str = "xyzzy-secret-words";

/// A user with a Claude folder that holds one transcript, and a store.
struct Home {
    folder: TempDir,
    transcript: PathBuf,
}

impl Home {
    fn new() -> Self {
        let folder = tempdir().unwrap();
        let project = folder.path().join("claude/projects/app");
        fs::create_dir_all(&project).unwrap();
        let home = Self { transcript: project.join("3f2a.jsonl"), folder };
        home.types("history");
        home.command(&["serve", "--stdio"]).output().unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let db = self.path("store.db");
        let mut command = headsup([arguments, &["--db", text(&db)]].concat());
        command.env("CLAUDE_CONFIG_DIR", self.path("claude")).env("CODEX_HOME", self.path("codex"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let ended = run(&mut self.command(arguments));
        assert!(!ended.stdout.contains(SECRET) && !ended.stderr.contains(SECRET), "{ended:?}");
        ended
    }

    fn as_json(&self, arguments: &[&str]) -> Value {
        let ended = self.run(&[arguments, &["--json"]].concat());
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{arguments:?}");
        serde_json::from_str(&ended.stdout).unwrap()
    }

    /// A person types into the transcript; somebody answers.
    fn types(&self, what: &str) {
        let mut file =
            fs::OpenOptions::new().create(true).append(true).open(&self.transcript).unwrap();
        let words = format!("{SECRET} {what}");
        let row = json!({
            "type": "user", "message": {"role": "user", "content": words},
            "timestamp": "2026-11-30T10:00:00.000Z",
        });
        let answer = json!({"type": "assistant", "message": {"role": "assistant"}});
        write!(file, "{row}\n\n{answer}\n").unwrap();
    }

    fn adopt(&self) -> Value {
        self.as_json(&["adopt", CHILD, text(&self.transcript)])
    }
}

#[test]
fn an_adopted_session_is_watched_by_a_server_and_its_watcher_is_told() {
    let home = Home::new();
    assert_eq!(home.adopt(), json!({"adopted": true, "stateVersion": 1}));
    assert_eq!(home.adopt(), json!({"adopted": false, "stateVersion": 1}));
    let mut server = Running::start(&mut home.command(&["serve", "--stdio", "--manual-clock"]));
    server.send(&request(1, "watch", &json!({"watcher": MAIN, "target": CHILD})));
    assert_eq!(server.next()["result"]["watched"], true);
    home.types("hello");
    server.send(&request(2, "clock", &json!({"now": 14_999})));
    assert_eq!(server.next()["result"]["now"], 14_999);
    server.send(&request(3, "clock", &json!({"now": 15_000})));
    let notice = server.next();
    assert_eq!((&notice["method"], &notice["params"]["target"]), (&json!("notice"), &json!(CHILD)));
    assert_eq!(server.next()["method"], "wake");
    assert_eq!(server.next()["result"]["now"], 15_000);
    let changes = home.as_json(&["log", CHILD, "--since", "1"]);
    let event = &changes["stateChanges"]["events"][0];
    assert_eq!(event["summary"], "human message via claude");
}

#[test]
fn what_may_not_be_adopted_says_why_and_changes_nothing() {
    let home = Home::new();
    fs::write(home.path("outside.jsonl"), "").unwrap();
    let (outside, none) = (home.path("outside.jsonl"), home.transcript.with_file_name("none"));
    let refused = [
        (vec!["adopt", CHILD, text(&outside)], 1, "source-refused"),
        (vec!["adopt", CHILD, text(&none)], 1, "source-missing"),
        (vec!["adopt", "global", text(&home.transcript)], 2, "--agent"),
        (vec!["adopt", CHILD, text(&home.transcript), "--catalog", " "], 2, "catalog"),
    ];
    for (arguments, status, word) in refused {
        let ended = home.run(&arguments);
        assert_eq!((ended.status, ended.stdout.as_str()), (status, ""), "{ended:?}");
        assert!(ended.stderr.contains(word), "{ended:?}");
    }
    assert_eq!(home.as_json(&["upstreams"]), json!({"links": []}));
}

#[test]
fn folders_that_are_configured_stand_in_place_of_the_users() {
    let home = Home::new();
    fs::create_dir(home.path("elsewhere")).unwrap();
    let transcript = home.path("elsewhere/rollout-1.jsonl");
    fs::write(&transcript, "").unwrap();
    let config = home.path("headsup.toml");
    let folder = home.path("elsewhere");
    fs::write(&config, format!("[upstreams]\nfolders = [{:?}]\n", text(&folder))).unwrap();
    let adopt = |path: &Path| home.run(&["adopt", CHILD, text(path), "--config", text(&config)]);
    assert_eq!(adopt(&home.transcript).status, 1);
    assert_eq!(adopt(&transcript).status, 0);
    let links = home.as_json(&["upstreams"]);
    assert_eq!(links["links"][0]["kind"], "codex-jsonl");
    assert_eq!(links["links"][0]["catalog"], "codex");
}

#[test]
fn upstreams_shows_where_sessions_live_and_how_far_that_was_read() {
    let home = Home::new();
    assert!(home.run(&["upstreams"]).stdout.contains("no session is adopted"));
    home.adopt();
    let size = fs::metadata(&home.transcript).unwrap().len();
    home.types("hello");
    let grown = fs::metadata(&home.transcript).unwrap().len();
    let shown = home.as_json(&["upstreams", CHILD]);
    let link = &shown["links"][0];
    assert_eq!((&link["session"], &link["agent"]), (&json!(CHILD), &json!("main")));
    assert_eq!((&link["kind"], &link["place"]), (&json!("claude-jsonl"), &json!(home.transcript)));
    assert_eq!((&link["at"], &link["size"]), (&json!(size), &json!(size)));
    assert_eq!((&link["behind"], &link["misses"]), (&json!(grown - size), &json!(0)));
    assert_eq!((&link["watched"], &link["checkedAt"]), (&json!(false), &Value::Null));
    let table = home.run(&["upstreams"]).stdout;
    for word in ["BEHIND", "3f2a.jsonl", "never", "nobody watches"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    assert!(home.run(&["upstreams", MAIN]).stdout.contains("the session is not adopted"));
}

#[test]
fn explain_says_line_by_line_what_a_row_is_taken_for_and_none_of_its_text() {
    let home = Home::new();
    home.types("again");
    let shown = home.as_json(&["upstreams", "explain", text(&home.transcript)]);
    let lines: Vec<_> = shown["rows"].as_array().unwrap().iter().collect();
    let of = |name: &str| lines.iter().map(|row| row[name].clone()).collect::<Vec<_>>();
    // Blank lines count.
    assert_eq!(of("line"), [1, 3, 4, 6]);
    assert_eq!(of("human"), [true, false, true, false]);
    assert_eq!((&shown["explained"], &shown["human"]), (&json!(4), &json!(2)));
    let human = home.as_json(&["upstreams", "explain", "--human", text(&home.transcript)]);
    assert_eq!(human["rows"].as_array().unwrap().len(), 2);
    let table = home.run(&["upstreams", "explain", text(&home.transcript)]).stdout;
    for word in ["LINE", "turn", "2026-11-30 10:00:00.000Z", "4 rows, 2 of them a person's turn"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let ended = home.run(&["upstreams", "explain", text(&home.path("none"))]);
    assert!(ended.status == 1 && ended.stderr.contains("none cannot be read"), "{ended:?}");
}

/// Opening a pipe would wait for somebody to write into it.
#[cfg(unix)]
#[test]
fn explain_refuses_what_is_no_regular_file() {
    let home = Home::new();
    let pipe = home.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for place in [pipe.as_path(), home.folder.path(), Path::new("/dev/zero")] {
        let ended = home.run(&["upstreams", "explain", text(place)]);
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{ended:?}");
        assert!(ended.stderr.contains("no regular file"), "{ended:?}");
    }
}

#[test]
fn an_empty_transcript_is_read_to_its_byte_0() {
    let home = Home::new();
    fs::write(&home.transcript, "").unwrap();
    home.adopt();
    let link = &home.as_json(&["upstreams"])["links"][0];
    assert_eq!((&link["at"], &link["size"], &link["behind"]), (&json!(0), &json!(0), &json!(0)));
}
