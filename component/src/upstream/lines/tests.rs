#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

fn texts(bytes: &[u8]) -> Vec<&[u8]> {
    Lines::new(bytes, true).map(|line| line.text).collect()
}

#[test]
fn a_line_ends_at_a_line_feed_and_nowhere_else() {
    let text = "a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f\rg\n";
    assert_eq!(texts(text.as_bytes()), [text.trim_end_matches('\n').as_bytes()]);
}

#[test]
fn one_carriage_return_before_the_line_feed_is_stripped() {
    assert_eq!(texts(b"a\r\nb\r\r\n\r\nc\n"), [&b"a"[..], b"b\r", b"", b"c"]);
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_start_of_a_file_alone() {
    let bytes = b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n";
    assert_eq!(texts(bytes), [&b"a"[..], b"\xef\xbb\xbfb"]);
    let inside: Vec<_> = Lines::new(bytes, false).map(|line| line.text).collect();
    assert_eq!(inside[0], b"\xef\xbb\xbfa");
}

#[test]
fn what_stands_behind_the_last_line_feed_is_no_line_yet() {
    let mut lines = Lines::new(b"a\nbc", true);
    assert_eq!(lines.next(), Some(Line { start: 0, end: 2, text: b"a" }));
    assert_eq!(lines.next(), None);
    assert_eq!(lines.rest(), Some(Line { start: 2, end: 4, text: b"bc" }));
    assert_eq!((lines.next(), lines.rest()), (None, None));

    let mut lines = Lines::new(b"a\n", true);
    assert_eq!(lines.by_ref().count(), 1);
    assert_eq!(lines.rest(), None);
    assert_eq!(Lines::new(b"", true).rest(), None);
}

#[test]
fn a_line_of_json_white_space_is_blank() {
    for (line, is_blank) in [
        (&b"\n"[..], true),
        (b" \t\r\r\n", true),
        (b"\xef\xbb\xbf\n", true),
        (b"\x0b\n", false),
        (b"\xc2\xa0\n", false),
        (b"null\n", false),
    ] {
        assert_eq!(Lines::new(line, true).next().unwrap().is_blank(), is_blank, "{line:?}");
    }
}

proptest! {
    #[test]
    fn lines_and_the_rest_are_all_of_the_bytes(bytes: Vec<u8>, file_start: bool) {
        let mut lines = Lines::new(&bytes, file_start);
        let mut end = 0;
        for line in lines.by_ref() {
            prop_assert_eq!(line.start, end);
            prop_assert_eq!(bytes[line.end - 1], b'\n');
            prop_assert!(!line.text.contains(&b'\n'));
            end = line.end;
        }
        let rest = lines.rest().map_or(end, |rest| rest.end);
        prop_assert_eq!(rest, bytes.len());
        prop_assert!(!bytes[end..].contains(&b'\n'));
    }

    #[test]
    fn a_file_that_grows_has_the_lines_that_it_has_in_the_end(
        bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..60),
    ) {
        let all: Vec<_> = texts(&bytes);
        let (mut grown, mut at) = (Vec::new(), 0);
        for end in 0..=bytes.len() {
            for line in Lines::new(&bytes[at..end], at == 0).collect::<Vec<_>>() {
                grown.push(line.text);
                at += line.end - line.start;
            }
        }
        prop_assert_eq!(grown, all);
    }
}
