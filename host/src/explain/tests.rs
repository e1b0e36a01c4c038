//! Parts, line numbers and long lines. What a row is taken for is the core's business, tested there.

use super::*;
use crate::tests::CORE;

const TURN: &str = r#"{"type":"user","message":{"role":"user","content":"x"}}"#;

fn explain(text: impl Into<Vec<u8>>) -> Vec<ExplainedLine> {
    let input = io::Cursor::new(text.into());
    CORE.explain("claude-jsonl", input).collect::<Result<_, _>>().unwrap()
}

/// A turn whose line has so many bytes, its end included.
fn turn_of(bytes: usize) -> String {
    let text = "x".repeat(bytes - TURN.len());
    TURN.replace("\"x\"", &format!("\"{text}\"")) + "\n"
}

#[test]
fn lines_have_the_numbers_and_places_they_have_in_the_file() {
    let rest = format!("\n{TURN}\nnot json\n{TURN}");
    let found = explain(rest);
    let places: Vec<_> =
        found.iter().map(|found| (found.line, found.row.start, found.row.human)).collect();
    let turn = TURN.len() as u64;
    assert_eq!(places, [(2, 1, true), (3, turn + 2, false), (4, turn + 11, true)]);
    assert!(explain("").is_empty());
}

#[test]
fn parts_do_not_show_however_lines_lie_in_them() {
    for bytes in [PART - 1, PART, PART + 1, 3 * PART] {
        let found = explain(format!("{TURN}\n{}{TURN}\n", turn_of(bytes)).repeat(2));
        let lines: Vec<u64> = found.iter().map(|found| found.line).collect();
        assert_eq!(lines, [1, 2, 3, 4, 5, 6], "{bytes}");
        assert!(found.iter().all(|found| found.row.human), "{bytes}");
        let start = (2 * TURN.len() + 2 + bytes) as u64;
        assert_eq!(found[3].row.start, start, "{bytes}");
    }
}

#[test]
fn a_line_that_is_too_long_is_passed_over_and_said() {
    let longest = 3 * PART;
    let text = format!("{TURN}\n{}{TURN}\n", turn_of(longest + 1));
    let explained = CORE.explain("claude-jsonl", text.as_bytes());
    let explained = Explained { longest, ..explained };
    let found: Vec<_> = explained.collect::<Result<_, _>>().unwrap();
    let shapes: Vec<&str> = found.iter().map(|found| found.row.shape.as_str()).collect();
    assert_eq!((shapes.len(), shapes[1]), (3, "too-long"));
    assert_eq!((found[1].line, found[1].row.bytes as usize), (2, longest + 1));
    assert_eq!((found[2].line, found[2].row.human), (3, true));
}

/// Fails after its first line.
struct Torn(io::Cursor<Vec<u8>>);

impl Read for Torn {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self.0.read(bytes)? {
            0 => Err(ErrorKind::StorageFull.into()),
            read => Ok(read),
        }
    }
}

#[test]
fn what_cannot_be_read_or_explained_is_an_error_and_the_end() {
    let torn = Torn(io::Cursor::new(format!("{TURN}\n").into_bytes()));
    let mut torn = CORE.explain("claude-jsonl", torn);
    assert!(matches!(torn.next(), Some(Err(ExplainError::Read(_)))));
    assert!(torn.next().is_none());
    let mut unknown = CORE.explain("parchment", TURN.as_bytes());
    assert!(matches!(unknown.next(), Some(Err(ExplainError::Core(Error::Invalid(_))))));
    assert!(unknown.next().is_none());
}
