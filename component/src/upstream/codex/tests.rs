use super::*;

const NAME: &str = "rollout-2026-03-04T10-00-00-019c2f00.jsonl";

#[test]
fn a_rollout_may_have_moved_to_the_archive_and_back() {
    let live = format!("/home/ada/.codex/sessions/2026/03/04/{NAME}");
    let archived = format!("/home/ada/.codex/archived_sessions/{NAME}");
    assert_eq!(places(&live), [live.clone(), archived.clone()]);
    assert_eq!(places(&archived), [archived, live]);
}

#[test]
fn other_files_stay_where_they_are() {
    for path in [
        "/home/ada/.codex/sessions/2026/03/05/rollout-2026-03-04T10-00-00-019c2f00.jsonl",
        "/home/ada/.codex/sessions/2026/03/rollout-2026-03-04T10-00-00-019c2f00.jsonl",
        "/home/ada/.codex/sessions/2026/03/04/notes.jsonl",
        "/home/ada/elsewhere/rollout-2026-03-04T10-00-00-019c2f00.jsonl",
        "/home/ada/.codex/archived_sessions/rollout-2026.jsonl",
        "/home/ada/.codex/archived_sessions/rollout-..../../..T.jsonl",
        "/home/ada/.codex/archived_sessions/rollout-a026-03-04T.jsonl",
        "/home/ada/.codex/archived_sessions/rollout-éé-03-04T.jsonl",
        "/home/ada/.codex/archived_sessions/sub/rollout-2026-03-04T10-00-00-019c2f00.jsonl",
        "archived_sessions",
        "",
    ] {
        assert_eq!(places(path), [path], "{path}");
    }
}

#[test]
fn the_first_row_says_that_nobody_types() {
    for (payload, nobody_types) in [
        (r#"{"source":"cli"}"#, false),
        (r#"{"source":"vscode"}"#, false),
        (r#"{"source":"unknown"}"#, false),
        (r#"{"source":null}"#, false),
        (r#"{"source":["subagent"]}"#, false),
        (r#"{"source":{}}"#, false),
        (r#"{"source":{"custom":"chat"}}"#, false),
        (r#"{"originator":"subagent"}"#, false),
        (r"{}", false),
        (r#""subagent""#, false),
        (r#"{"source":"exec"}"#, true),
        (r#"{"source":"mcp"}"#, true),
        (r#"{"source":"subagent"}"#, true),
        (r#"{"source":"subagent_review"}"#, true),
        (r#"{"source":{"subagent":"review"}}"#, true),
        (r#"{"source":{"subAgent":{"threadSpawn":{}}}}"#, true),
        (r#"{"source":{"sub_agent":null}}"#, true),
        (r#"{"source":"cli","thread_source":"subagent"}"#, true),
        (r#"{"source":"cli","source":"exec"}"#, true),
        (r#"{"source":"exec","source":"cli"}"#, false),
    ] {
        let line = format!(r#"{{"type":"session_meta","payload":{payload}}}"#);
        let facts = crate::upstream::row::read(line.as_bytes());
        assert_eq!(facts.as_ref().map(headless), Some(nobody_types), "{payload}");
        let line = line.replace("session_meta", "turn_context");
        let facts = crate::upstream::row::read(line.as_bytes());
        assert_eq!(facts.as_ref().map(headless), Some(false), "not of another type: {payload}");
    }
}
