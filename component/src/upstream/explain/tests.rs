//! The transcripts in `tests/transcripts`: each has beside it, line by line, whether its rows are
//! human turns and which shape they have.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::upstream::digest::Digest;

/// A transcript and what its rows are.
struct Transcript {
    name: String,
    kind: &'static str,
    bytes: Vec<u8>,
    shapes: String,
}

fn transcripts() -> Vec<Transcript> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/transcripts");
    let mut transcripts = Vec::new();
    for (folder, kind) in
        [(folder.join("claude"), "claude-jsonl"), (folder.join("codex"), "codex-jsonl")]
    {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths.into_iter().filter(|path| path.extension().unwrap() == "jsonl") {
            transcripts.push(Transcript {
                name: path.display().to_string(),
                kind,
                bytes: fs::read(&path).unwrap(),
                shapes: fs::read_to_string(path.with_extension("shapes")).unwrap(),
            });
        }
    }
    assert!(transcripts.len() >= 10);
    transcripts
}

fn shapes(rows: &[ExplainedRow]) -> String {
    rows.iter().fold(String::new(), |mut lines, row| {
        writeln!(lines, "{} {}", if row.human { "yes" } else { "no" }, row.shape).unwrap();
        lines
    })
}

fn whole(kind: &str, bytes: &[u8]) -> Explanation {
    explain(kind, "", bytes, true).unwrap()
}

/// Explains bytes in two parts, as a host does: what the first did not consume is given again.
fn in_two(kind: &str, bytes: &[u8], cut: usize) -> Vec<ExplainedRow> {
    let first = explain(kind, "", &bytes[..cut], false).unwrap();
    let consumed = usize::try_from(first.consumed).unwrap();
    let second = explain(kind, &first.state, &bytes[consumed..], true).unwrap();
    let mut rows = first.rows;
    for mut row in second.rows {
        row.start += first.consumed;
        rows.push(row);
    }
    rows
}

#[test]
fn every_row_of_the_transcripts_is_taken_for_what_it_is() {
    for transcript in transcripts() {
        let Transcript { name, kind, bytes, shapes: expected } = transcript;
        let explanation = whole(kind, &bytes);
        let found = shapes(&explanation.rows);
        for (nth, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
            assert_eq!(found, expected, "row {} of {name}", nth + 1);
        }
        assert_eq!(found, expected, "{name}");
        assert_eq!(explanation.consumed, bytes.len() as u64);
    }
}

#[test]
fn every_shape_has_a_row_in_the_transcripts() {
    let transcripts = transcripts();
    for (kind, shapes) in [("claude-jsonl", claude_shapes()), ("codex-jsonl", codex_shapes())] {
        let mut shown = BTreeSet::new();
        for transcript in transcripts.iter().filter(|transcript| transcript.kind == kind) {
            for row in whole(kind, &transcript.bytes).rows {
                shown.insert((row.shape, row.reason));
            }
        }
        for shape in shapes {
            let shape = (shape.name.to_string(), shape.reason.to_string());
            assert!(shown.contains(&shape), "{kind}: {shape:?}");
        }
    }
}

fn claude_shapes() -> &'static [Shape] {
    Kind::of("claude-jsonl").unwrap().shapes
}

fn codex_shapes() -> &'static [Shape] {
    Kind::of("codex-jsonl").unwrap().shapes
}

#[test]
fn the_last_shape_of_a_table_matches_every_row() {
    for kind in KINDS {
        assert!(kind.shapes.last().unwrap().when.is_empty(), "{}", kind.word);
    }
}

#[test]
fn names_are_kebab_case_and_reasons_plain() {
    for shape in claude_shapes().iter().chain(codex_shapes()) {
        assert!(
            shape.name.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase()),
            "{}",
            shape.name
        );
        assert!(!shape.reason.is_empty() && !shape.reason.ends_with('.'), "{}", shape.reason);
    }
}

#[test]
fn rows_of_a_node_are_those_of_a_file() {
    for transcript in transcripts().iter().filter(|transcript| transcript.kind == "claude-jsonl") {
        assert_eq!(
            whole("claude-node", &transcript.bytes),
            whole("claude-jsonl", &transcript.bytes)
        );
    }
}

#[test]
fn transcripts_of_one_kind_have_no_human_rows_in_the_eyes_of_the_other() {
    for transcript in transcripts() {
        if transcript.kind == "codex-jsonl" {
            let rows = whole("claude-jsonl", &transcript.bytes).rows;
            assert!(rows.iter().all(|row| !row.human), "{}", transcript.name);
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_and_continued_has_the_same_rows() {
    for transcript in transcripts() {
        let expected = whole(transcript.kind, &transcript.bytes).rows;
        let step = if transcript.bytes.len() < 4_000 { 1 } else { 211 };
        for cut in (0..=transcript.bytes.len()).step_by(step) {
            let rows = in_two(transcript.kind, &transcript.bytes, cut);
            assert!(rows == expected, "cut at byte {cut} of {}", transcript.name);
        }
    }
}

#[test]
fn rows_stand_one_behind_the_other_with_their_line_ends() {
    let part = b"\xef\xbb\xbfnull\n\n{}\r\n[]";
    let explanation = explain("claude-jsonl", "", part, false).unwrap();
    let places: Vec<_> = explanation.rows.iter().map(|row| (row.start, row.bytes)).collect();
    assert_eq!(places, [(0, 8), (9, 4)]);
    assert_eq!(explanation.consumed, 13);
    let explanation = explain("claude-jsonl", "", part, true).unwrap();
    assert_eq!((explanation.rows[2].start, explanation.rows[2].bytes), (13, 2));
    assert_eq!(explanation.consumed, 15);
}

#[test]
fn a_row_has_its_time_only_if_that_is_usable() {
    let part = br#"{"timestamp":"2026-11-30T19:35:29.123Z"}
{"timestamp":"2026"}
{"timestamp":1796067329123}
{"timestamp":"2026-11-30T19:35:29.123Z","timestamp":null}
"#;
    let times: Vec<_> = whole("claude-jsonl", part).rows.iter().map(|row| row.at).collect();
    assert_eq!(times, [Some(1_796_067_329_123), None, None, None]);
}

#[test]
fn nothing_of_a_text_is_in_the_state() {
    let part = br#"{"type":"queue-operation","operation":"enqueue","content":"secret"}
{"type":"attachment","attachment":{"type":"queued_command","prompt":"hidden"}}
"#;
    let state = whole("claude-jsonl", part).state;
    assert!(state.contains(&Digest::of_text("secret").hex()), "{state}");
    assert!(!state.contains("secret") && !state.contains("hidden"), "{state}");
}

#[test]
fn long_rows_and_deep_ones_are_read() {
    let row = r#"{"type":"user","message":{"content":"A person."}}"#;
    for length in [(1 << 20) - 1, 1 << 20, (1 << 20) + 1, 15 << 20] {
        let frame =
            r#"{"type":"user","message":{"content":[{"type":"tool_result","content":""}]}}"#;
        let long = frame.replace(r#""""#, &format!("\"{}\"", "x".repeat(length - frame.len())));
        assert_eq!(long.len(), length);
        let rows = whole("claude-jsonl", format!("{long}\n{row}\n").as_bytes()).rows;
        assert_eq!(shapes(&rows), "no tool-result\nyes typed-prompt\n");
    }
    for depth in [127, 128, 129, 1_000_000] {
        let (open, close) = ("[{\"a\":".repeat(depth), "}]".repeat(depth));
        let deep = format!("{{\"deep\":{open}1{close},{}", &row[1..]);
        assert_eq!(shapes(&whole("claude-jsonl", deep.as_bytes()).rows), "yes typed-prompt\n");
        let broken = deep.replacen("}]", "]}", 1);
        assert_eq!(shapes(&whole("claude-jsonl", broken.as_bytes()).rows), "no not-a-row\n");
    }
}

#[test]
fn an_unknown_kind_is_refused_with_those_that_there_are() {
    let Err(Error::Invalid(refusal)) = explain("cursor", "", b"", true) else { panic!("accepted") };
    assert_eq!((refusal.reason, refusal.field.as_str()), (InvalidReason::UnknownValue, "kind"));
    for kind in KINDS {
        assert!(refusal.message.contains(kind.word), "{}", refusal.message);
    }
}

#[test]
fn a_state_that_no_part_returned_is_refused() {
    for state in ["{}", "[]", "x", r#"{"queued":{}}"#, r#"{"queued":[],"headless":1}"#] {
        let Err(Error::Invalid(refusal)) = explain("claude-jsonl", state, b"", true) else {
            panic!("accepted: {state}");
        };
        assert_eq!(refusal.field, "state");
    }
}

proptest! {
    #[test]
    fn any_bytes_are_explained(bytes: Vec<u8>, last: bool, codex: bool) {
        let kind = if codex { "codex-jsonl" } else { "claude-jsonl" };
        let explanation = explain(kind, "", &bytes, last).unwrap();
        let lines = bytes.split(|byte| *byte == b'\n').count();
        prop_assert!(explanation.rows.len() <= lines);
        prop_assert!(explanation.consumed <= bytes.len() as u64);
    }
}
