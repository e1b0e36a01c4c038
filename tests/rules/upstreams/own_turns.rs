//! Section 9: what the gateway itself sent, and prompts that were queued.

use harness::{CHILD, HOUR};
use serde_json::json;

use super::transcript::{ACTIVE, QUIET, Transcript, typed};

fn blocks(texts: &[&str]) -> String {
    let content: Vec<_> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
    json!({"type": "user", "message": {"role": "user", "content": content}}).to_string()
}

fn enqueued(text: &str) -> String {
    json!({"type": "queue-operation", "operation": "enqueue", "content": text}).to_string()
}

fn command(text: &str) -> String {
    let attachment = json!({"type": "queued_command", "prompt": text, "commandMode": "prompt"});
    json!({"type": "attachment", "attachment": attachment}).to_string()
}

#[test]
fn a_text_that_the_gateway_sent_is_no_human_turn() {
    let transcript = Transcript::adopted(&[]);
    transcript.gateway.sent(CHILD, "Please  run\tthe tests.\n").unwrap();
    transcript.appends(&[typed(" Please run the \u{a0}tests.", 1)]);
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[typed("Please run the tests!", 2)]);
    assert_eq!(transcript.checks(), ACTIVE);
}

#[test]
fn a_match_uses_nothing_up() {
    let transcript = Transcript::adopted(&[]);
    transcript.gateway.sent(CHILD, "again").unwrap();
    for second in 1..4 {
        transcript.appends(&[typed("again", second)]);
        assert_eq!(transcript.checks(), QUIET);
    }
}

#[test]
fn the_last_ten_texts_of_a_session_are_known() {
    let transcript = Transcript::adopted(&[]);
    for number in 0..11 {
        transcript.gateway.sent(CHILD, &format!("text {number}")).unwrap();
    }
    let rows: Vec<String> = (1..11).map(|number| typed(&format!("text {number}"), 1)).collect();
    transcript.appends(&rows);
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[typed("text 0", 2)]);
    assert_eq!(transcript.checks(), ACTIVE, "the eleventh from behind is forgotten");
}

#[test]
fn text_blocks_are_joined_by_newlines() {
    let transcript = Transcript::adopted(&[]);
    transcript.gateway.sent(CHILD, "one\ntwo").unwrap();
    transcript.appends(&[blocks(&["one", "two"])]);
    assert_eq!(transcript.checks(), QUIET);
}

#[test]
fn a_reminder_before_the_gateways_text_hides_no_echo() {
    let transcript = Transcript::adopted(&[]);
    transcript.gateway.sent(CHILD, "one").unwrap();
    transcript.appends(&[blocks(&["<system-reminder>be good</system-reminder>", "one"])]);
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[blocks(&["<system-reminder>be good</system-reminder>", "two"])]);
    assert_eq!(transcript.checks(), ACTIVE);
}

#[test]
fn a_text_sent_before_the_adoption_is_an_echo_and_one_sent_elsewhere_is_not() {
    let transcript = Transcript::new(&[]);
    transcript.gateway.sent(CHILD, "before").unwrap();
    transcript.gateway.sent("agent:main:other", "elsewhere").unwrap();
    transcript.gateway.watches(harness::MAIN, CHILD);
    transcript.adopts();
    transcript.appends(&[typed("before", 1)]);
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[typed("elsewhere", 2)]);
    assert_eq!(transcript.checks(), ACTIVE);
}

#[test]
fn an_empty_text_that_was_sent_hides_no_picture() {
    let transcript = Transcript::adopted(&[]);
    transcript.gateway.sent(CHILD, " \n").unwrap();
    let picture = json!({"type": "image", "source": {"type": "base64", "data": "aGk="}});
    let row = json!({"type": "user", "message": {"role": "user", "content": [picture]}});
    transcript.appends(&[row.to_string()]);
    assert_eq!(transcript.checks(), ACTIVE);
}

#[test]
fn a_queued_prompt_counts_once_however_often_it_is_written() {
    let (queue, command, turn) = (enqueued("go on"), command("go on"), typed("go on", 2));
    // The rows of one prompt, and how many of two more like it still repeat the same.
    for (rows, repeats) in [
        (vec![&queue], 1),
        (vec![&command], 1),
        (vec![&queue, &turn], 0),
        (vec![&command, &turn], 0),
        (vec![&queue, &command], 1),
        (vec![&queue, &command, &turn], 0),
    ] {
        let transcript = Transcript::adopted(&[]);
        for row in &rows {
            transcript.appends(&[(*row).clone()]);
            transcript.checks();
        }
        assert_eq!(transcript.turns(), [1], "{rows:?}");
        transcript.appends(&[typed("go on", 3), typed("go on", 4)]);
        transcript.checks();
        assert_eq!(transcript.turns(), [1, 2 - repeats], "{rows:?}");
    }
}

#[test]
fn a_prompt_that_was_in_the_queue_at_the_adoption_is_history_and_so_are_its_repeats() {
    let rows = [enqueued("taken back"), typed("ordinary", 1), enqueued("go on")];
    let transcript = Transcript::adopted(&rows);
    transcript.appends(&[command("go on"), typed("go on", 2)]);
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[typed("go on", 3), typed("taken back", 4)]);
    assert_eq!(transcript.checks(), ACTIVE);
    assert_eq!(transcript.turns(), [2]);
}

#[test]
fn a_running_turn_counts_for_an_hour_so_that_a_gateway_that_died_blocks_nothing() {
    let transcript = Transcript::adopted(&[]);
    transcript.gateway.busy(CHILD, true).unwrap();
    transcript.appends(&[typed("hello", 1)]);
    assert_eq!(transcript.checks().checked, 0);
    transcript.gateway.passes(HOUR);
    assert_eq!(transcript.checks(), ACTIVE);
}
