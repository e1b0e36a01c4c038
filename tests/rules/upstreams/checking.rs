//! Section 9: bytes, lines and rows; what is recorded, once.

use harness::{CHILD, MAIN, MINUTE};
use serde_json::{Value, json};

use super::transcript::{ACTIVE, QUIET, Transcript, said, typed};

const MIB: usize = 1 << 20;

/// A row by a person whose line, line feed included, has exactly so many bytes.
fn typed_in(bytes: usize, seconds: u64) -> String {
    let empty = typed("", seconds).len() + 1;
    typed(&"x".repeat(bytes - empty), seconds)
}

#[test]
fn a_person_at_the_source_is_a_direct_message_with_the_catalog_as_its_channel() {
    let transcript = Transcript::adopted(&[]);
    transcript.appends(&[typed("hello", 1)]);
    assert_eq!(transcript.checks(), ACTIVE);
    transcript
        .gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 0..2", "wake agent:main:main"]);
    let delta = transcript.gateway.changes_since(CHILD, 1, None).unwrap();
    let event = &delta.events[0];
    assert_eq!(event.summary, "human message via claude");
    assert_eq!(event.payload.as_deref(), Some(r#"{"channel":"claude"}"#));
    assert_eq!(event.actor.id, None);
    assert_eq!(event.occurred_at, harness::NOON + 1_000, "when the row says it was typed");
}

#[test]
fn several_turns_of_one_check_are_one_event() {
    let transcript = Transcript::adopted(&[]);
    transcript.appends(&[typed("one", 1), said("two", 2), typed("three", 3), typed("four", 4)]);
    assert_eq!(transcript.checks(), ACTIVE);
    assert_eq!(transcript.turns(), [3]);
    assert_eq!(transcript.checks(), QUIET);
    assert_eq!(transcript.turns(), [3], "nothing twice");
}

#[test]
fn what_the_assistant_does_is_quiet() {
    let transcript = Transcript::adopted(&[]);
    transcript.appends(&[said("one", 1), said("two", 2)]);
    assert_eq!(transcript.checks(), QUIET);
    assert_eq!(transcript.turns(), [0; 0]);
}

#[test]
fn a_line_counts_once_it_has_its_end_wherever_it_was_cut() {
    let transcript = Transcript::adopted(&[]);
    let row = typed("h\u{e9}llo \u{2028} w\u{1f600}rld\u{85}", 1) + "\n";
    for byte in row.as_bytes() {
        assert_eq!(transcript.turns(), [0; 0]);
        transcript.appends_bytes(&[*byte]);
        transcript.gateway.passes(MINUTE);
        transcript.gateway.check_upstreams().unwrap();
    }
    assert_eq!(transcript.turns(), [1]);
}

#[test]
fn lines_end_at_a_line_feed_alone() {
    let transcript = Transcript::adopted(&[]);
    let row = typed("a\u{2028}b\u{85}c\u{b}d", 1);
    transcript.appends_bytes(format!("{row}\r\n\r\n\n").as_bytes());
    assert_eq!(transcript.checks(), ACTIVE);
    assert_eq!(transcript.turns(), [1]);
}

#[test]
fn what_is_no_json_object_is_passed_over() {
    let transcript = Transcript::adopted(&[]);
    let glued = typed("one", 1) + &typed("two", 2);
    let garbage = ["null", "17", "[]", "{", "\u{feff}{}", "not json", &glued];
    transcript.appends(&garbage.map(str::to_owned));
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[typed("three", 3)]);
    assert_eq!(transcript.checks(), ACTIVE);
    assert_eq!(transcript.turns(), [1]);
}

#[test]
fn a_byte_order_mark_before_the_first_row_is_passed_over() {
    let transcript = Transcript::adopted(&[]);
    transcript.appends_bytes(format!("\u{feff}{}\n", typed("one", 1)).as_bytes());
    assert_eq!(transcript.checks(), ACTIVE);
}

#[test]
fn a_check_reads_a_mib_and_the_next_goes_on() {
    let transcript = Transcript::adopted(&[]);
    for part in 0..3 {
        transcript.appends(&[typed_in(MIB / 2, part), said(&"y".repeat(MIB / 2 - 400), part)]);
    }
    let mut checks = 0;
    while transcript.turns().iter().sum::<u32>() < 3 {
        transcript.checks();
        checks += 1;
        assert!(checks <= 4, "{:?}", transcript.turns());
    }
    assert!(checks >= 3, "3 MiB are not read in {checks} checks of 1 MiB");
}

#[test]
fn lines_around_a_mib_are_classified_as_soon_as_they_fit() {
    for (bytes, quiet) in [(MIB - 1, 0), (MIB, 0), (MIB + 1, 1)] {
        let transcript = Transcript::adopted(&[]);
        transcript.appends(&[typed_in(bytes, 1), typed("after", 2)]);
        for _ in 0..quiet {
            assert_eq!(transcript.checks(), QUIET, "{bytes}");
        }
        assert_eq!(transcript.checks(), ACTIVE, "{bytes}");
        transcript.checks();
        assert_eq!(transcript.turns().iter().sum::<u32>(), 2, "{bytes}");
    }
}

#[test]
fn the_window_doubles_until_a_long_line_fits_and_nothing_behind_it_is_lost() {
    let transcript = Transcript::adopted(&[]);
    transcript.appends(&[said(&"x".repeat(15 * MIB), 1), typed("after", 2)]);
    let mut checks = 1;
    while transcript.checks() == QUIET {
        checks += 1;
        assert!(checks < 10);
    }
    // 1, 2, 4, 8 and 16 MiB.
    assert_eq!(checks, 5);
    assert_eq!(transcript.turns(), [1]);
}

#[test]
fn a_line_of_64_mib_behind_history_fits_into_the_least_memory_that_may_be_set() {
    let transcript =
        Transcript::with(&[typed("history", 1)], |builder| builder.memory_limit(192 << 20));
    transcript.gateway.watches(MAIN, CHILD);
    transcript.adopts();
    transcript.appends(&[typed_in(64 * MIB, 2), typed("after", 3)]);
    let mut checks = 0;
    while transcript.turns().iter().sum::<u32>() < 2 {
        let tally = transcript.checks();
        assert_eq!(tally.failed, 0);
        checks += 1;
        assert!(checks < 12);
    }
}

#[test]
fn a_line_of_over_64_mib_is_reported_and_passed_over() {
    let transcript = Transcript::adopted(&[]);
    transcript.appends(&[typed_in(65 * MIB, 1), typed("after", 2)]);
    let mut checks = 0;
    while transcript.checks() == QUIET {
        checks += 1;
        assert!(checks < 12);
    }
    assert_eq!(transcript.turns(), [1], "the row behind it");
    let news = transcript.gateway.news();
    let logged = news.iter().any(|news| format!("{news:?}").contains("over 64 MiB"));
    assert!(logged, "{news:?}");
}

#[test]
fn links_without_a_watcher_are_not_read() {
    let transcript = Transcript::adopted(&[]);
    transcript.gateway.unwatch(MAIN, CHILD).unwrap();
    transcript.appends(&[typed("hello", 1)]);
    assert_eq!(transcript.checks().checked, 0);
    transcript.gateway.watches(MAIN, CHILD);
    assert_eq!(transcript.checks(), ACTIVE);
}

#[test]
fn nothing_of_a_transcripts_text_reaches_the_store() {
    let broken = "{broken secret".to_owned();
    let claude = [
        typed("the secret that was sent", 2),
        typed("the secret of a person", 3),
        said("the secret of an assistant", 4),
        broken.clone(),
    ];
    let history = [typed("the secret in history", 1)];
    keeps_no_text(|path| headsup::Source::claude_file(path), &history, &claude);

    let event = |what: Value, seconds| rollout_row("event_msg", &what, seconds);
    let prompt = |text: &str, seconds| {
        event(json!({"type": "user_message", "message": text, "images": []}), seconds)
    };
    let item = json!({
        "type": "message", "role": "user",
        "content": [{"type": "input_text", "text": "the secret of a person"}],
    });
    let codex = [
        prompt("the secret that was sent", 2),
        rollout_row("response_item", &item, 3),
        prompt("the secret of a person", 4),
        event(json!({"type": "agent_message", "message": "the secret of an agent"}), 5),
        event(json!({"type": "user_message", "message": "", "local_images": ["/secret"]}), 6),
        broken,
    ];
    let meta = json!({"id": "x", "source": "cli", "cwd": "/secret"});
    let history = [rollout_row("session_meta", &meta, 0), prompt("the secret in history", 1)];
    keeps_no_text(|path| headsup::Source::codex_file(path), &history, &codex);
}

/// Adopts a transcript with this history, sends a text, and checks with these rows more: a person's
/// turn is found, and the word is nowhere.
#[track_caller]
fn keeps_no_text(source: fn(&str) -> headsup::Source, history: &[String], rows: &[String]) {
    let folder = tempfile::TempDir::new().unwrap();
    let store = folder.path().join("a.db");
    let path = folder.path().join("x.jsonl");
    std::fs::write(&path, history.join("\n") + "\n").unwrap();
    let builder = headsup::Awareness::builder(&store).manual_clock(harness::NOON);
    let gateway = harness::Gateway::with(builder.source_folders([folder.path()]));
    gateway.watches(MAIN, CHILD);
    let source = source(path.to_str().unwrap());
    gateway.adopt(headsup::AdoptionRequest::new(CHILD, source, "catalog")).unwrap();
    gateway.sent(CHILD, "the secret that was sent").unwrap();
    std::fs::write(&path, [history, rows].concat().join("\n") + "\n").unwrap();
    gateway.passes(MINUTE);
    assert_eq!(gateway.check_upstreams().unwrap(), ACTIVE);
    let heard = format!("{:?}", gateway.news());
    assert!(!heard.contains("secret"), "{heard}");
    let keeps_nothing = || {
        for entry in std::fs::read_dir(folder.path()).unwrap() {
            let file = entry.unwrap().path();
            if file.extension().is_some_and(|extension| extension != "jsonl") {
                let bytes = std::fs::read(&file).unwrap();
                let found = bytes.windows(6).any(|window| window == b"secret");
                assert!(!found, "{}", file.display());
            }
        }
    };
    keeps_nothing();
    drop(gateway);
    keeps_nothing();
}

/// A row of a rollout, so many seconds after noon.
fn rollout_row(kind: &str, payload: &Value, seconds: u64) -> String {
    let timestamp = format!("1972-09-27T00:00:{seconds:02}.000Z");
    json!({"timestamp": timestamp, "type": kind, "payload": payload}).to_string()
}
