//! Properties of wording a notice.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::*;

fn session(key: &str, agent: &str) -> Session {
    Session { key: key.to_string(), agent: agent.to_string() }
}

/// Pieces of templates, some of which nearly are placeholders.
fn template_text() -> impl Strategy<Value = String> {
    const PIECES: [&str; 11] =
        ["{session}", "{call}", "{", "}", "{}", "{Session}", "{{", "a", " ", "é", "call}"];
    vec(select(PIECES.as_slice()), 0..12).prop_map(|pieces| pieces.concat())
}

/// Keys that a hostile peer could have named.
fn key() -> impl Strategy<Value = String> {
    const PARTS: [&str; 10] =
        ["a", "{call}", "{session}", "\"", "\\", "é", "agent", "main", "x y", "</s>"];
    vec(select(PARTS.as_slice()), 1..5).prop_map(|parts| parts.join(":"))
}

proptest! {
    #[test]
    fn each_placeholder_is_filled_once_and_nothing_that_was_filled_in(template in template_text()) {
        // Stand-ins without braces cannot be mistaken for placeholders, so that a plain
        // replacement is right; the filled text must only differ by what stands for them.
        let plain = template.replace("{session}", "\u{1}").replace("{call}", "\u{2}");
        let filled = fill(&template, "{call}", "{session}");
        prop_assert_eq!(filled, plain.replace('\u{1}', "{call}").replace('\u{2}', "{session}"));
    }

    #[test]
    fn the_call_parses_back_to_exactly_the_session_and_the_version(key in key(), version in 0..u64::MAX >> 11) {
        let target = session(&key, "main");
        let text = Template("{call}".into()).word(&target, version);
        let arguments = text.strip_prefix("session_status ").expect("the call's name");
        let arguments: Value = serde_json::from_str(arguments).expect("JSON");
        prop_assert_eq!(&arguments["sessionKey"], &Value::from(key.as_str()));
        prop_assert_eq!(&arguments["changesSince"], &Value::from(version));
        let qualified = Key::parse("key", &key).is_ok_and(|key| key.is_qualified());
        prop_assert_eq!(arguments.get("agentId").and_then(Value::as_str), (!qualified).then_some("main"));
        prop_assert_eq!(text.lines().count(), 1);
    }

    #[test]
    fn an_accepted_template_is_short_on_one_line_and_has_the_call(template in any::<String>()) {
        let template = format!("{template}{{call}}");
        if check_template(&template).is_ok() {
            prop_assert!(template.len() <= MAX_TEMPLATE_BYTES);
            prop_assert!(!template.chars().any(char::is_control));
        }
    }
}

#[test]
fn the_default_text_is_the_protocols() {
    assert_eq!(
        Template(DEFAULT_TEMPLATE.into()).word(&session("agent:main:subagent:child", "main"), 14),
        r#"Session "agent:main:subagent:child" was changed by someone else. Catch up before acting: session_status {"sessionKey":"agent:main:subagent:child","changesSince":14}"#
    );
    assert_eq!(
        Template(DEFAULT_TEMPLATE.into()).word(&session("global", "ops"), 0),
        r#"Session "global" was changed by someone else. Catch up before acting: session_status {"sessionKey":"global","agentId":"ops","changesSince":0}"#
    );
}

#[test]
fn a_template_that_could_lose_the_call_or_break_the_line_is_refused() {
    for template in [
        "no call",
        "{call",
        "{ call }",
        "{call}\n",
        "{call}\u{2028}",
        &format!("{{call}}{}", "x".repeat(995)),
    ] {
        let refused = check_template(template).map_err(|refusal| refusal.reason);
        assert_eq!(refused, Err(InvalidReason::InvalidTemplate), "{template:?}");
    }
    for template in
        ["", "{call}", "Sitzung {session}: {call}", &format!("{{call}}{}", "x".repeat(994))]
    {
        assert_eq!(check_template(template), Ok(()), "{template:?}");
    }
}
