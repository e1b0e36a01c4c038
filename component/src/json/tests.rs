#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use serde_json::Value as Reference;

use super::{Value, object, read, text};

/// Reads with an independent reader.
fn reference(text: &str) -> Result<Reference, serde_json::Error> {
    serde_json::from_str(text)
}

/// The same value as the independent reader has it.
fn translated(value: &Value<'_>) -> Reference {
    match value {
        Value::Null => Reference::Null,
        Value::Bool(flag) => Reference::from(*flag),
        Value::Number(number) => reference(number).expect("a number"),
        Value::Text(text) => Reference::from(text.as_ref()),
        Value::List(elements) => elements.iter().map(translated).collect(),
        Value::Object(members) => members
            .names()
            .map(|name| (name.to_string(), translated(members.get(name).expect("listed"))))
            .collect(),
    }
}

/// Asserts that text is read as the independent reader reads it, or refused as there.
fn agrees(text: &str) {
    match (read(text), reference(text)) {
        (Ok(ours), Ok(theirs)) => assert_eq!(translated(&ours), theirs, "{text}"),
        (Err(_), Err(_)) => {}
        (ours, theirs) => panic!("{text}: {ours:?} against {theirs:?}"),
    }
}

/// Scraps of text on either side of what the grammar of JSON allows.
pub const SCRAPS: &[&str] = &[
    "",
    " ",
    "nul",
    "nulll",
    "truefalse",
    "+1",
    "-",
    "-a",
    "01",
    "-01",
    "1.",
    ".5",
    "1.e1",
    "1e",
    "1e+",
    "1E-1",
    "-0",
    "-0.0e-0",
    "0x1",
    "Infinity",
    "[1,]",
    "[,1]",
    "[1 2]",
    "{,}",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{a:1}",
    "{1:1}",
    "[",
    "{",
    "\"",
    "\"\\",
    "\"\\u",
    "\"\\u12\"",
    "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\a\"",
    "\"\\/\\b\\f\\n\\r\\t\\\\\\\"\"",
    "\"\t\"",
    "\"\u{7f}\u{2028}\"",
    "\u{feff}1",
    "1\u{a0}",
    "\u{c}1",
    " \t\r\n1 \t\r\n",
    "// 1",
    "[1]]",
    "{\"a\":1,\"a\":2}",
    "\"\\u+123\"",
    "[]",
    "[[],[]]",
    "{}",
    "]",
    "[}",
    "{]",
    "\"\u{0}\"",
    "1,",
    "{\"a\":[{\"b\":[{}]}]}",
    "true",
    "false",
    "null",
    "tru",
    "\"a\":1",
    "[null,true,false,\"\",0]",
];

/// Halves of surrogate pairs, of which readers think differently.
const HALVES: &[&str] =
    &["\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\u0041\"", "\"\\ud83dx\"", "\"\\uD83D\\uDE00\""];

#[test]
fn the_grammar_is_kept_to_the_letter() {
    for text in SCRAPS.iter().chain(HALVES) {
        agrees(text);
    }
}

#[test]
fn nesting_ends_at_127_and_never_the_stack() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(read(&nested(127)).is_ok());
    assert!(read(&nested(128)).is_err());
    assert!(read(&"[".repeat(1_000_000)).is_err());
    assert!(read(&"{\"a\":".repeat(1_000_000)).is_err());
    let beside = format!("[{}]", vec![nested(126); 3].join(","));
    assert!(read(&beside).is_ok());
}

#[test]
fn no_number_is_too_large_to_be_read() {
    let digits = "9".repeat(100_000);
    for number in ["1e400", "-1e999999999999", "18446744073709551616", &digits] {
        assert_eq!(read(number), Ok(Value::Number(number)));
    }
    assert_eq!(read("18446744073709551615").unwrap().as_u64(), Some(u64::MAX));
    assert_eq!(read("18446744073709551616").unwrap().as_u64(), None);
    for no_integer in ["1.0", "1e3", "-1"] {
        assert_eq!(read(no_integer).unwrap().as_u64(), None);
    }
}

#[test]
fn taking_a_member_leaves_null_in_its_place() {
    let Ok(Value::Object(mut members)) = read(r#"{"a":1,"b":2,"a":3}"#) else {
        panic!("an object");
    };
    assert_eq!(members.take("a"), Some(Value::Number("3")));
    assert_eq!(members.get("a"), Some(&Value::Null));
    assert_eq!(members.take("b"), Some(Value::Number("2")));
    assert_eq!(members.take("c"), None);
}

#[test]
fn a_written_object_has_its_commas() {
    let line = object(|out| {
        out.name("list").open_list();
        out.number(1);
        out.open_object();
        out.close_object();
        out.text("a\nb");
        out.close_list();
        out.name("empty").open_list();
        out.close_list();
        out.name("flag").flag(true);
        out.name("raw").json("null");
    });
    assert_eq!(line, r#"{"list":[1,{},"a\nb"],"empty":[],"flag":true,"raw":null}"#);
}

#[test]
fn controls_and_line_separators_are_escaped_and_no_other_character_but_quote_and_backslash() {
    for c in '\0'..='\u{ffff}' {
        let line = text(&format!("a{c}b"));
        let escaped = c.is_control() || matches!(c, '"' | '\\' | '\u{2028}' | '\u{2029}');
        assert_eq!(line.contains(&format!("a{c}b")), !escaped, "{line}");
        assert_eq!(read(&line), Ok(Value::Text(format!("a{c}b").into())), "{line}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_as_the_independent_reader_reads_it(text in any::<String>()) {
        agrees(&text);
    }

    #[test]
    fn any_text_of_json_characters_is_read_as_there(text in r#"[\[\]{}",:\\u0-9a-fntr.eE+\- ]{0,24}"#) {
        agrees(&text);
    }

    #[test]
    fn a_written_string_is_read_back(given in any::<String>()) {
        let line = text(&given);
        prop_assert!(!line.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']), "{line}");
        prop_assert_eq!(reference(&line).expect("JSON"), Reference::from(given.as_str()));
        prop_assert_eq!(read(&line), Ok(Value::Text(given.into())));
    }
}
