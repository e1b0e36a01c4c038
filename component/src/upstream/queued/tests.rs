#![allow(clippy::unwrap_used)]

use super::*;
use crate::json;
use crate::upstream::row;

fn enqueue(text: &str) -> Facts {
    fact(&format!(r#"{{"type":"queue-operation","operation":"enqueue","content":"{text}"}}"#))
}

fn command(text: &str) -> Facts {
    fact(&format!(
        r#"{{"type":"attachment","attachment":{{"type":"queued_command","prompt":"{text}"}}}}"#
    ))
}

fn turn(text: &str) -> Facts {
    fact(&format!(r#"{{"type":"user","message":{{"content":"{text}"}}}}"#))
}

fn fact(line: &str) -> Facts {
    row::read(line.as_bytes()).unwrap()
}

/// Which of these rows repeat one before.
fn repeats(rows: &[Facts]) -> Vec<bool> {
    let mut queued = Queued::default();
    rows.iter().map(|row| queued.absorb(row)).collect()
}

#[test]
fn an_enqueue_absorbs_one_command_and_one_turn() {
    let rows = [enqueue("a"), command("a"), turn("a"), command("a"), turn("a"), turn("a")];
    assert_eq!(repeats(&rows), [false, true, true, false, true, false]);
    let rows = [enqueue("a"), turn("a"), command("a"), turn("a")];
    assert_eq!(repeats(&rows), [false, true, true, false]);
}

#[test]
fn a_command_that_repeats_none_absorbs_one_turn() {
    assert_eq!(repeats(&[command("a"), turn("a"), turn("a")]), [false, true, false]);
    assert_eq!(
        repeats(&[command("a"), command("a"), turn("a"), turn("a")]),
        [false, false, true, true]
    );
}

#[test]
fn a_turn_absorbs_nothing_and_nothing_absorbs_an_enqueue() {
    assert_eq!(repeats(&[turn("a"), turn("a"), enqueue("a")]), [false, false, false]);
    assert_eq!(repeats(&[command("a"), enqueue("a")]), [false, false]);
}

#[test]
fn texts_are_the_same_whatever_their_white_space_and_reminders() {
    let reminded = turn("<system-reminder>x</system-reminder>\\n a  b ");
    assert_eq!(repeats(&[enqueue(" a\\nb"), reminded]), [false, true]);
    assert_eq!(repeats(&[enqueue("a b"), turn("A b"), turn("a b")]), [false, false, true]);
}

#[test]
fn the_newest_32_are_remembered() {
    let mut queued = Queued::default();
    for nth in 0..33 {
        assert!(!queued.absorb(&enqueue(&nth.to_string())));
    }
    assert!(!queued.absorb(&turn("0")));
    for nth in 1..33 {
        assert!(queued.absorb(&turn(&nth.to_string())), "{nth}");
    }
}

#[test]
fn what_was_written_is_read() {
    let mut queued = Queued::default();
    for row in
        [enqueue("both"), enqueue("turn"), command("turn"), enqueue("command"), turn("command")]
    {
        queued.absorb(&row);
    }
    let text = json::object(|out| queued.write(out.name("queued")));
    let Ok(Value::Object(members)) = json::read(&text) else { panic!("{text}") };
    assert_eq!(Queued::read(members.get("queued").unwrap()), Some(queued));
    assert!(!text.contains("both"), "no text of a prompt: {text}");
}

#[test]
fn anything_else_is_not_read() {
    let digest = "0".repeat(32);
    let many = vec![format!("\"{digest}b\""); 33].join(",");
    for text in [
        "{}",
        "null",
        "[1]",
        r#"[""]"#,
        r#"["b"]"#,
        &format!("[\"{digest}x\"]"),
        &format!("[\"{digest}\"]"),
        r#"["é"]"#,
        &format!("[{many}]"),
    ] {
        assert_eq!(Queued::read(&json::read(text).unwrap()), None, "{text}");
    }
}
