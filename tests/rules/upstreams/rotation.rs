//! Section 9: files that shrink, are replaced or rewritten.

use harness::{CHILD, DAY, NOON, SECOND};
use headsup::Tally;

use super::transcript::{ACTIVE, QUIET, Transcript, said, typed};

fn history() -> Vec<String> {
    vec![typed("one", 1), said("two", 2), typed("three", 3)]
}

fn with(rows: &[String], more: &[String]) -> Vec<String> {
    [rows, more].concat()
}

#[test]
fn a_file_rewritten_in_place_reports_nothing_again() {
    let transcript = Transcript::adopted(&history());
    let shorter = [said("summary", 3), typed("three", 3)];
    for rows in [history(), shorter.to_vec(), with(&history(), &shorter)] {
        transcript.rewrites(&rows);
        assert_eq!(transcript.checks(), QUIET);
    }
    assert_eq!(transcript.turns(), [0; 0]);
}

#[test]
fn new_turns_of_a_rewritten_file_are_reported() {
    let transcript = Transcript::adopted(&history());
    transcript.rewrites(&[said("compacted", 3), typed("four", 4)]);
    assert_eq!(transcript.checks(), ACTIVE, "noticed and read in one check");
    assert_eq!(transcript.turns(), [1]);
    assert_eq!(transcript.checks(), QUIET);
}

#[test]
fn a_file_that_took_anothers_place_reports_its_new_turns_whatever_its_size() {
    let smaller = vec![typed("four", 4)];
    let larger = with(&history(), &[said("more", 3), typed("four", 4), said("five", 5)]);
    let mut equal = history();
    equal[2] = typed("three", 4).replace("u-4", "u-3");
    assert_eq!(equal[2].len(), history()[2].len());
    for rows in [smaller, equal, larger] {
        let transcript = Transcript::adopted(&history());
        transcript.replaces(&rows);
        assert_eq!(transcript.checks(), ACTIVE, "{rows:?}");
        assert_eq!(transcript.turns(), [1], "{rows:?}");
        assert_eq!(transcript.checks(), QUIET);
    }
}

#[test]
fn a_file_that_took_anothers_place_with_the_same_rows_reports_nothing() {
    let transcript = Transcript::adopted(&history());
    transcript.replaces(&history());
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[typed("four", 4)]);
    assert_eq!(transcript.checks(), ACTIVE);
    assert_eq!(transcript.turns(), [1]);
}

#[test]
fn a_file_that_was_cut_is_read_from_its_start_and_reports_nothing_again() {
    let transcript = Transcript::adopted(&history());
    transcript.rewrites(&[]);
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&history());
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[typed("four", 4)]);
    assert_eq!(transcript.checks(), ACTIVE);
    assert_eq!(transcript.turns(), [1]);
}

#[test]
fn a_row_without_a_usable_time_follows_the_row_before_it() {
    let untimed = typed("untimed", 0).replace(r#""timestamp""#, r#""time""#);
    let far = typed("far", 0).replace("1972", "9972");
    let transcript = Transcript::adopted(&history());
    let rows = with(&history(), &[untimed.clone(), far.clone(), typed("four", 4), untimed, far]);
    transcript.replaces(&rows);
    assert_eq!(transcript.checks(), ACTIVE);
    assert_eq!(transcript.turns(), [3], "those behind the old row are old, the others new");
}

#[test]
fn a_time_of_a_row_is_usable_up_to_24_h_past_the_files_own() {
    for (seconds, expected) in [(10, ACTIVE), (11, QUIET)] {
        let transcript = Transcript::adopted(&history());
        transcript.replaces(&with(&history(), &[typed("by a clock that was ahead", seconds)]));
        transcript.is_modified_at(NOON - DAY + 10 * SECOND);
        assert_eq!(transcript.checks(), expected, "{seconds} s");
    }
}

#[test]
fn what_is_appended_once_a_replaced_file_was_read_is_new_whatever_its_time() {
    for ahead in [false, true] {
        let mut rows = history();
        if ahead {
            rows.push(typed("by a clock that was ahead", 3_000));
        }
        let transcript = Transcript::adopted(&rows);
        transcript.replaces(&rows);
        assert_eq!(transcript.checks(), QUIET);
        transcript.appends(&[typed("by a clock that went back", 2)]);
        assert_eq!(transcript.checks(), ACTIVE);
        assert_eq!(transcript.turns(), [1]);
    }
}

#[test]
fn where_no_time_was_known_the_adoption_is_what_history_is_older_than() {
    let untimed = [r#"{"type":"summary","summary":"x"}"#.to_owned()];
    let yesterday = typed("yesterday", 1).replace("1972-09-27", "1972-09-26");
    let transcript = Transcript::adopted(&untimed);
    transcript.replaces(&with(&untimed, &[yesterday.clone(), yesterday]));
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[typed("today", 1)]);
    assert_eq!(transcript.checks(), ACTIVE);
    assert_eq!(transcript.turns(), [1]);
}

#[test]
fn a_transcript_without_times_that_was_cut_is_heard_again() {
    let untimed = |text: &str| typed(text, 0).replace(r#""timestamp""#, r#""time""#);
    let transcript = Transcript::adopted(&[untimed("one"), untimed("two")]);
    transcript.rewrites(&[]);
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[untimed("three")]);
    assert_eq!(transcript.checks(), ACTIVE);
}

#[test]
fn a_replaced_file_that_was_empty_reports_everything() {
    let transcript = Transcript::adopted(&[]);
    transcript.replaces(&history());
    assert_eq!(transcript.checks(), ACTIVE);
    assert_eq!(transcript.turns(), [2]);
}

#[test]
fn each_rotation_is_counted_for_operators() {
    let transcript = Transcript::adopted(&history());
    transcript.replaces(&history());
    transcript.checks();
    transcript.replaces(&history());
    transcript.checks();
    let link = transcript.gateway.links().unwrap().remove(0);
    assert_eq!(link.session, CHILD);
    assert_eq!(link.rotations, Some(2));
}

#[test]
fn a_file_that_is_replaced_again_and_again_blocks_no_check() {
    let transcript = Transcript::adopted(&history());
    for second in 4..20 {
        transcript.replaces(&[typed("again", second)]);
        let tally: Tally = transcript.checks();
        assert_eq!(tally, ACTIVE);
    }
    assert_eq!(transcript.turns(), [1; 16]);
}

#[test]
fn a_codex_rollout_that_moved_to_the_archive_is_the_same_thread() {
    let home = tempfile::TempDir::new().unwrap();
    let name = "rollout-2026-11-30T10-00-00-0a1b.jsonl";
    let (day, archive) =
        (home.path().join("sessions/2026/11/30"), home.path().join("archived_sessions"));
    std::fs::create_dir_all(&day).unwrap();
    std::fs::create_dir_all(&archive).unwrap();
    let row = |kind: &str, payload: &str, second: u32| {
        format!(
            "{{\"timestamp\":\"1972-09-27T00:00:{second:02}.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
        )
    };
    let human = |second| row("event_msg", r#"{"type":"user_message","message":"hi"}"#, second);
    let path = day.join(name);
    std::fs::write(&path, row("session_meta", r#"{"id":"x","source":"cli"}"#, 0) + &human(1))
        .unwrap();
    let builder = headsup::Awareness::builder(":memory:").manual_clock(NOON);
    let gateway = harness::Gateway::with(builder.source_folders([home.path()]));
    gateway.watches(harness::MAIN, CHILD);
    let request = |path: &std::path::Path| {
        let source = headsup::Source::codex_file(path.to_str().unwrap());
        headsup::AdoptionRequest::new(CHILD, source, "codex")
    };
    assert!(gateway.adopt(request(&path)).unwrap().adopted);
    std::fs::rename(&path, archive.join(name)).unwrap();
    gateway.passes(harness::MINUTE);
    assert_eq!(gateway.check_upstreams().unwrap(), QUIET, "neither missing nor new");
    assert!(!gateway.adopt(request(&archive.join(name))).unwrap().adopted, "the same source");
    let mut text = std::fs::read_to_string(archive.join(name)).unwrap();
    text += &human(2);
    std::fs::write(archive.join(name), text).unwrap();
    gateway.passes(harness::MINUTE);
    assert_eq!(gateway.check_upstreams().unwrap(), ACTIVE);
    assert_eq!(super::transcript::turns_of(&gateway), [1]);
    drop(gateway.news());
}
