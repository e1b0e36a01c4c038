//! Any line at all: what is JSON, and what of it counts.
#![allow(clippy::unwrap_used)]

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::*;
use crate::json::tests::SCRAPS;

/// Whether an independent reader finds one JSON object. Like ours it does not look at how large a
/// number is, nor whether surrogates are pairs.
fn is_object(line: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(line).is_ok_and(|value| value.get().starts_with('{'))
}

/// Asserts that a line is a row for both readers or for neither.
fn agrees(line: &[u8]) {
    let given = String::from_utf8_lossy(line);
    assert_eq!(read(line).is_some(), is_object(line), "{given}");
}

#[test]
fn the_grammar_is_kept_to_the_letter() {
    for value in SCRAPS {
        agrees(value.as_bytes());
        // As a member that nobody knows, and as each of those that mean something.
        for name in
            ["x", "type", "timestamp", "isMeta", "toolUseResult", "origin", "message", "content"]
        {
            agrees(format!("{{\"{name}\":{value}}}").as_bytes());
        }
        for member in ["content", "role"] {
            agrees(format!("{{\"message\":{{\"{member}\":{value}}}}}").as_bytes());
        }
        agrees(format!("{{\"message\":{{\"content\":[{value}]}}}}").as_bytes());
        agrees(format!("{{\"message\":{{\"content\":[{{\"text\":{value}}}]}}}}").as_bytes());
        agrees(format!("{{\"message\":{{\"content\":[{{\"type\":{value}}}]}}}}").as_bytes());
        agrees(format!("{{\"payload\":{{\"source\":{value}}}}}").as_bytes());
        agrees(format!("{{\"payload\":{{\"source\":{{\"a\":{value}}}}}}}").as_bytes());
        agrees(format!("{{\"payload\":{{\"images\":{value}}}}}").as_bytes());
        agrees(format!("{{\"payload\":{{\"images\":[{value}]}}}}").as_bytes());
    }
}

/// The digest of what a row of this content says.
fn text_of(content: &str) -> Digest {
    let line = format!(r#"{{"type":"user","message":{{"content":{content}}}}}"#);
    read(line.as_bytes()).unwrap().text
}

#[test]
fn text_blocks_are_joined_by_line_feeds() {
    let blocks = r#"[{"type":"text","text":"a"},{"type":"image"},null,{"type":"text","text":"b"}]"#;
    assert_eq!(text_of(blocks), Digest::of_text("a\nb"));
    assert_ne!(text_of(blocks), Digest::of_text("ab"));
    assert_eq!(text_of(r#""a\nb""#), Digest::of_text("a b"));
    let others = r#"[{"type":"thinking","text":"x"},{"text":"x"},{"text":"a","type":"text"}]"#;
    assert_eq!(text_of(others), Digest::of_text("a"));
}

#[test]
fn characters_that_are_damaged_stand_for_one_that_says_so() {
    let expected = Digest::of_text("a\u{fffd}b");
    for content in [r#""a\ud83db""#, r#""a\ude00b""#, "\"a\u{fffd}b\""] {
        assert_eq!(text_of(content), expected, "{content}");
    }
    assert_eq!(text_of(r#""\ud83d\ud83d\ude00""#), Digest::of_text("\u{fffd}😀"));
    assert_eq!(text_of(r#""\ud83d\u0041\ud83d\n""#), Digest::of_text("\u{fffd}A\u{fffd}"));
    let bytes = b"{\"type\":\"user\",\"message\":{\"content\":\"a\xffb\"}}";
    assert_eq!(read(bytes).unwrap().text, expected);
    assert_eq!(text_of(r#""a\u0000b""#), Digest::of_text("a\u{0}b"));
}

#[test]
fn the_text_without_reminders_is_known_beside_the_whole() {
    let reminder = "<system-reminder>r</system-reminder>";
    let line = |content: &str| format!(r#"{{"type":"user","message":{{"content":{content}}}}}"#);
    for (content, bare) in [
        (format!(r#""{reminder} a""#), "a"),
        (format!(r#"[{{"type":"text","text":"{reminder}"}},{{"type":"text","text":"a"}}]"#), "a"),
        (format!(r#""{reminder}{reminder}""#), ""),
        (format!(r#""a {reminder}""#), "a <system-reminder>r</system-reminder>"),
        (r#""<system-reminder>r""#.to_string(), "<system-reminder>r"),
    ] {
        let facts = read(line(&content).as_bytes()).unwrap();
        assert_eq!(facts.bare, Digest::of_text(bare), "{content}");
    }
    let facts = read(line(&format!(r#""{reminder} a""#)).as_bytes()).unwrap();
    assert_eq!(facts.text, Digest::of_text("<system-reminder>r</system-reminder> a"));
    let plain = read(line(r#"" a""#).as_bytes()).unwrap();
    assert_eq!(plain.text, plain.bare);
}

#[test]
fn a_command_that_ran_is_known_as_it_was_typed() {
    let typed = |content: &str| {
        let line = format!(r#"{{"type":"user","message":{{"content":"{content}"}}}}"#);
        read(line.as_bytes()).unwrap().bare
    };
    let (name, message) =
        ("<command-name>/deploy</command-name>", "<command-message>x</command-message>");
    let args = "<command-args>to  staging </command-args>";
    for content in [format!("{message}\\n{name}\\n{args}"), format!("{name}{message}{args}")] {
        assert_eq!(typed(&content), Digest::of_text("/deploy to staging"), "{content}");
    }
    assert_eq!(typed(name), Digest::of_text("/deploy"));
    assert_eq!(typed("<command-name>deploy</command-name>"), Digest::of_text("/deploy"));
    let long = format!("{name}<command-args>{}</command-args>", "x".repeat(300));
    for as_it_stands in ["<command-name>/deploy", &long, "x <command-name>/deploy</command-name>"] {
        assert_eq!(typed(as_it_stands), Digest::of_text(as_it_stands));
    }
}

#[test]
fn a_reminder_is_found_however_its_marks_are_written() {
    let escaped: String = "<system-reminder>r</system-reminder>"
        .bytes()
        .flat_map(|byte| format!("\\u{byte:04x}").into_bytes())
        .map(char::from)
        .collect();
    let line = format!(r#"{{"type":"user","message":{{"content":"{escaped}a"}}}}"#);
    assert_eq!(read(line.as_bytes()).unwrap().bare, Digest::of_text("a"));
}

#[test]
fn words_too_long_to_mean_anything_are_none_that_is_known() {
    let long = "user".to_string() + &"x".repeat(100);
    let facts =
        read(format!(r#"{{"type":"{long}","entrypoint":"sdk-{long}"}}"#).as_bytes()).unwrap();
    assert!(!facts.is(Field::Type, "user") && !facts.is(Field::Type, &long));
    assert!(facts.begins(Field::Entrypoint, "sdk-"));
    let name = "x".repeat(1_000);
    assert!(
        read(format!(r#"{{"{name}":1,"type":"user"}}"#).as_bytes())
            .unwrap()
            .is(Field::Type, "user")
    );
}

#[test]
fn a_row_is_known_by_its_uuid() {
    let uuid = |line: &str| read(line.as_bytes()).unwrap().uuid;
    assert_eq!(uuid(r#"{"uuid":"a"}"#), Some(Digest::of_bytes(b"a")));
    assert_eq!(uuid(r#"{"uuid":"a","uuid":"b"}"#), Some(Digest::of_bytes(b"b")));
    for none in [r#"{"uuid":null}"#, r#"{"uuid":5}"#, r#"{"uuid":"a","uuid":[]}"#, "{}"] {
        assert_eq!(uuid(none), None, "{none}");
    }
}

/// JSON of any shape, with the names that mean something among others.
fn json() -> impl Strategy<Value = Json> {
    let name = prop_oneof![
        Just("type"),
        Just("message"),
        Just("content"),
        Just("text"),
        Just("isMeta"),
        Just("payload"),
        Just("attachment"),
        Just("prompt"),
        Just("origin"),
        Just("kind"),
        Just("source"),
        Just("images"),
        Just("timestamp"),
        Just("uuid"),
        Just("x"),
        Just("é\"\\"),
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        Just(Json::from("text")),
        Just(Json::from("user")),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Json::from),
            vec((name.clone(), inner), 0..6).prop_map(|members| {
                Json::from(
                    members.into_iter().map(|(n, v)| (n.to_string(), v)).collect::<Map<_, _>>(),
                )
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_a_row_or_none(bytes: Vec<u8>) {
        let _ = read(&bytes);
    }

    #[test]
    fn any_json_is_a_row_exactly_if_it_is_an_object(value in json()) {
        agrees(value.to_string().as_bytes());
        agrees(serde_json::to_string_pretty(&value).unwrap().as_bytes());
    }

    #[test]
    fn json_that_was_damaged_is_judged_as_the_independent_reader_does(
        value in json(),
        at: prop::sample::Index,
        with in r#"[\[\]{}",:\\u0-9a-fntr.eE+\- ]{0,3}"#,
    ) {
        let mut text: Vec<char> = format!("{{\"message\":{value}}}").chars().collect();
        let at = at.index(text.len());
        text.splice(at..=at, with.chars());
        agrees(text.into_iter().collect::<String>().as_bytes());
    }

    #[test]
    fn any_text_is_known_again(text: String) {
        prop_assert_eq!(text_of(&Json::from(text.as_str()).to_string()), Digest::of_text(&text));
        let blocks = serde_json::json!([{"text": text, "type": "text"}]);
        prop_assert_eq!(text_of(&blocks.to_string()), Digest::of_text(&text));
    }

    #[test]
    fn a_text_that_is_not_utf_8_is_the_one_that_people_see(bytes: Vec<u8>) {
        let bytes: Vec<u8> =
            bytes.into_iter().filter(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1f)).collect();
        let line = [&br#"{"type":"user","message":{"content":""#[..], &bytes, br#""}}"#].concat();
        let facts = read(&line).unwrap();
        prop_assert_eq!(facts.text, Digest::of_text(&String::from_utf8_lossy(&bytes)));
    }

    #[test]
    fn a_cut_row_is_none(value in json(), cut: prop::sample::Index) {
        let text = format!("{{\"message\":{value}}}");
        prop_assert!(read(&text.as_bytes()[..cut.index(text.len())]).is_none());
    }
}
