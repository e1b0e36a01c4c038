#![allow(clippy::unwrap_used)]

use super::*;
use crate::upstream::{row, shape};

fn shape_of(line: &str) -> &'static str {
    shape::of(SHAPES, &row::read(line.as_bytes()).unwrap()).name
}

fn said(content: &str) -> &'static str {
    shape_of(&format!(r#"{{"type":"user","message":{{"role":"user","content":"{content}"}}}}"#))
}

fn queued(content: &str) -> &'static str {
    shape_of(&format!(
        r#"{{"type":"queue-operation","operation":"enqueue","content":"{content}"}}"#
    ))
}

#[test]
fn a_transcript_stays_where_it_is() {
    let path = "/home/ada/.claude/projects/-home-ada-shop/7d1f2c90.jsonl";
    assert_eq!((FILE.places)(path), [path]);
    assert_eq!(NODE.word, "claude-node");
    assert_eq!(NODE.reader, Reader::Gateway);
}

#[test]
fn a_command_is_known_by_its_whole_name() {
    for (content, name) in [
        ("<command-name>/model</command-name>", "built-in-command"),
        ("<command-name>model</command-name>", "built-in-command"),
        ("<command-name> /model </command-name>", "built-in-command"),
        ("<command-name>/model", "built-in-command"),
        ("<command-message>model</command-message>", "built-in-command"),
        ("<command-message>model is running…</command-message>", "built-in-command"),
        (
            "<command-message>m</command-message><command-name>/model</command-name>",
            "built-in-command",
        ),
        ("<command-message>model</command-message><command-name>/m</command-name>", "command"),
        ("<command-name>/models</command-name>", "command"),
        ("<command-name>/mode</command-name>", "command"),
        ("<command-name>/shop:model</command-name>", "command"),
        ("<command-name>/</command-name>", "command"),
        ("<command-name></command-name>", "command"),
        ("<command-name>", "command"),
        ("<command-message>", "command"),
        ("<command-args>x</command-args><command-name>/model</command-name>", "typed-prompt"),
    ] {
        assert_eq!(said(content), name, "{content}");
    }
}

#[test]
fn commands_that_start_a_run_are_turns() {
    for name in ["init", "review", "security-review", "pr-comments", "statusline", "insights"] {
        assert_eq!(said(&format!("<command-name>/{name}</command-name>")), "command", "{name}");
    }
}

#[test]
fn a_command_in_the_queue_stands_as_it_was_typed() {
    assert_eq!(queued("/compact"), "built-in-command");
    assert_eq!(queued("/compact keep the plan"), "built-in-command");
    assert_eq!(queued("/compacted"), "queued-prompt");
    assert_eq!(queued("/home/ada/model is wrong"), "queued-prompt");
    assert_eq!(queued("compact"), "queued-prompt");
    assert_eq!(said("/compact"), "typed-prompt");
}

#[test]
fn reminders_before_a_text_are_looked_through() {
    let reminder = "<system-reminder>x</system-reminder>";
    for (content, name) in [
        (format!("{reminder}text"), "reminder-then-prompt"),
        (format!("\\u00a0{reminder} {reminder}\\n text"), "reminder-then-prompt"),
        (format!("{reminder} "), "system-reminder"),
        ("<system-reminder></system-reminder>".to_string(), "system-reminder"),
        (
            "<system-reminder>a <b </system </system-reminder>text".to_string(),
            "reminder-then-prompt",
        ),
        ("<system-reminder>a</system-reminder".to_string(), "system-reminder"),
        ("<system-reminder>a <</system-reminder>text".to_string(), "reminder-then-prompt"),
        (format!("{reminder}<system-reminder>open"), "system-reminder"),
        (format!("{reminder}<bash-stdout>x"), "bash-output"),
        (format!("{reminder}<command-name>/model</command-name>"), "built-in-command"),
        (format!("text {reminder}"), "typed-prompt"),
        ("<system-remind".to_string(), "typed-prompt"),
        ("<system-reminders>".to_string(), "typed-prompt"),
        ("<".to_string(), "typed-prompt"),
    ] {
        assert_eq!(said(&content), name, "{content}");
    }
}

#[test]
fn built_in_commands_are_sorted_and_there_once() {
    assert!(STARTS_NO_RUN.is_sorted_by(|one, next| one < next));
}
