//! `replay`: stories, kills, announced and unannounced errors.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::binary::{Ended, headsup, run, run_with, text};

const SPAWN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"record","params":{"session":"agent:main:subagent:w","kind":"child_spawned","actor":{"type":"agent","id":"agent:main:main"},"runId":"r"}}"#;
const MESSAGE: &str = r#"{"jsonrpc":"2.0","id":2,"method":"record","params":{"session":"agent:main:subagent:w","kind":"human_direct_message","actor":{"type":"human","id":"ana"},"channel":"slack"}}"#;
const DRAIN: &str =
    r#"{"jsonrpc":"2.0","id":3,"method":"drain","params":{"watcher":"agent:main:main"}}"#;
const CLOCK: &str = r#"{"jsonrpc":"2.0","id":4,"method":"clock","params":{"now":90000}}"#;
const BAD: &str = r#"{"jsonrpc":"2.0","id":5,"method":"take","params":{"watcher":""}}"#;

fn scenario(lines: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let file = folder.path().join("story.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    (folder, file)
}

fn replay(lines: &[&str], options: &[&str]) -> Ended {
    let (_folder, file) = scenario(lines);
    run_with([&["replay", text(&file)], options].concat())
}

fn told(lines: &[&str]) -> String {
    let ended = replay(lines, &[]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
    ended.stdout
}

#[test]
fn a_story_shows_who_did_what_and_below_it_what_others_see() {
    let story = told(&["# A human steps in", SPAWN, "# behind its back", MESSAGE, DRAIN]);
    let notice = r#"Session "agent:main:subagent:w" was changed by someone else. Catch up before acting: session_status {"sessionKey":"agent:main:subagent:w","changesSince":1}"#;
    assert_eq!(
        story,
        format!(
            "\
A human steps in
  agent:main:main spawns agent:main:subagent:w for run r  → version 1
behind its back
  ana writes to agent:main:subagent:w via slack  → version 2
      notice for agent:main:main: {notice}
      wake   for agent:main:main
  agent:main:main takes its notices into its turn
      {notice}
"
        )
    );
}

#[test]
fn json_is_the_raw_lines_and_nothing_else() {
    let ended = replay(&["# words", SPAWN, MESSAGE], &["--json"]);
    let kinds: Vec<String> = ended
        .lines()
        .iter()
        .map(|line| line["method"].as_str().map_or_else(|| line["id"].to_string(), Into::into))
        .collect();
    assert_eq!(kinds, ["1", "notice", "wake", "2"]);
}

#[test]
fn a_killed_server_comes_back_with_its_store_and_its_clock() {
    let ended = replay(&[CLOCK, SPAWN, MESSAGE, "#! kill", MESSAGE, DRAIN], &["--json"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let lines = ended.lines();
    let notices: Vec<&Value> = lines.iter().filter(|line| line["method"] == "notice").collect();
    // Told, told again by the recovery, and one more for what the drain did not stand for.
    assert_eq!(notices.len(), 3);
    assert_eq!(notices[0], notices[1]);
    let status = r#"{"jsonrpc":"2.0","id":9,"method":"status","params":{"session":"agent:main:subagent:w","changesSince":2}}"#;
    let lines = replay(&[CLOCK, SPAWN, MESSAGE, "#! kill", MESSAGE, status], &["--json"]).lines();
    let event = &lines.last().unwrap()["result"]["stateChanges"]["events"][0];
    assert_eq!(event["occurredAt"], 90_000);
    assert!(told(&[SPAWN, MESSAGE, "#! kill", DRAIN]).contains("killed and started again"));
}

#[test]
fn an_error_that_nobody_announced_is_exit_status_1_with_its_line() {
    let ended = replay(&[SPAWN, "", BAD, MESSAGE], &[]);
    assert_eq!(ended.status, 1);
    assert!(
        ended.stderr.contains("line 3") && ended.stderr.contains("invalid-key"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("error: invalid-key"), "{}", ended.stdout);
    assert!(ended.stdout.contains("version 2"), "the story goes on: {}", ended.stdout);
}

#[test]
fn an_announced_error_is_part_of_the_story_and_has_to_come() {
    assert!(told(&["#! expect-error", BAD]).contains("refused: invalid-key"));
    assert!(told(&["#! expect-error invalid-key", BAD]).contains("refused: invalid-key"));
    assert!(told(&["#! expect-error malformed-json", "{"]).contains("refused: malformed-json"));
    for lines in [["#! expect-error", SPAWN], ["#! expect-error too-long", BAD]] {
        let ended = replay(&lines, &[]);
        assert_eq!(ended.status, 1, "{lines:?}");
        assert!(ended.stderr.contains("line 2"), "{}", ended.stderr);
    }
}

#[test]
fn a_line_that_is_no_request_is_an_error_with_its_number_before_anything_is_done() {
    for (bad, words) in
        [("{\"id\":", "is no JSON"), ("17", "is no request"), ("#! explode", "no directive")]
    {
        let ended = replay(&[SPAWN, bad], &[]);
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{bad}");
        assert!(
            ended.stderr.contains("line 2") && ended.stderr.contains(words),
            "{}",
            ended.stderr
        );
    }
    let ended = run_with(["replay", "no-such-story.jsonl"]);
    assert_eq!(ended.status, 1);
    assert!(ended.stderr.contains("no-such-story.jsonl"), "{}", ended.stderr);
}

#[test]
fn a_batch_and_requests_without_an_id_are_told_too() {
    let quiet = MESSAGE.replace("\"id\":2,", "");
    let batch = format!("[{SPAWN},{quiet},{DRAIN}]");
    let story = told(&[&batch]);
    let lines: Vec<&str> = story.lines().map(str::trim).collect();
    assert_eq!(lines[0], "in one batch");
    assert!(lines[1].starts_with("agent:main:main spawns"), "{story}");
    assert!(lines[2].starts_with("ana writes") && !lines[2].contains('→'), "{story}");
    assert!(lines[3].starts_with("agent:main:main takes"), "{story}");
}

#[test]
fn the_environments_store_is_not_touched_and_a_given_one_is_kept() {
    let (folder, file) = scenario(&[SPAWN]);
    let (mine, given) = (folder.path().join("mine.db"), folder.path().join("given.db"));
    run(headsup(["replay", text(&file)]).env("HEADSUP_DB", &mine));
    assert!(!mine.exists());
    run_with(["replay", text(&file), "--db", text(&given)]);
    assert_eq!(run_with(["log", "agent:main:subagent:w", "--db", text(&given)]).status, 0);
}

#[test]
fn a_store_in_memory_is_refused_where_the_server_is_killed() {
    let (_folder, file) = scenario(&[SPAWN, "#! kill", MESSAGE]);
    let ended = run_with(["replay", text(&file), "--db", ":memory:"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("#! kill"), "{}", ended.stderr);
    assert_eq!(replay(&[SPAWN, MESSAGE], &["--db", ":memory:"]).status, 0);
}

#[test]
fn a_batch_that_is_refused_as_a_whole_shows_its_error() {
    let story = told(&["#! expect-error invalid-request", "[]"]);
    assert!(story.contains("refused: invalid-request"), "{story}");
}

#[test]
fn a_server_that_cannot_start_is_exit_status_1() {
    let (_folder, file) = scenario(&[SPAWN]);
    let ended = run_with(["replay", text(&file), "--plugin", "no-such-core.wasm"]);
    assert_eq!(ended.status, 1);
    assert!(ended.stderr.contains("no-such-core.wasm"), "{}", ended.stderr);
}

/// The stories of `tests/scenarios`, each beside the text that it prints. With `BLESS=1` in the
/// environment the texts are written anew.
#[test]
fn every_scenario_tells_its_story_the_same_each_time() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut told = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let ended = run_with(["replay", text(&file)]);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{}", file.display());
        let golden = file.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&golden, &ended.stdout).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(ended.stdout, expected, "{} (write it anew with BLESS=1)", golden.display());
        told += 1;
    }
    assert!(told >= 4);
}
