//! Properties of keys and identity over anything a caller may write.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// The parts that mean something in a key, and some that almost do.
const PARTS: [&str; 28] = [
    "agent",
    "Agent",
    "main",
    "w_1",
    "-x",
    "",
    "",
    " ",
    "\t",
    " a",
    "a ",
    "é",
    "subagent",
    "SUBAGENT",
    "acp",
    "matrix",
    "Matrix",
    "channel",
    "group",
    "GROUP",
    "signal",
    "SIGNAL",
    "!Room",
    "Server.Org",
    "thread",
    "THREAD",
    "$Event",
    "X y",
];

fn anything() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => vec(select(PARTS.as_slice()), 0..10).prop_map(|parts| parts.join(":")),
        3 => (select(vec!["matrix:channel:", "matrix:group:", "x:signal:group:", "signal:group:"]),
              vec(select(PARTS.as_slice()), 0..6))
            .prop_map(|(room, parts)| format!("agent:main:{room}{}", parts.join(":"))),
        1 => any::<String>(),
    ]
}

fn parse(given: &str) -> Result<Key, InvalidInput> {
    Key::parse("key", given)
}

fn canonical_of(given: &str) -> String {
    parse(given).expect("a key").into_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn making_a_canonical_key_canonical_again_changes_nothing(given in anything()) {
        if let Ok(key) = parse(&given) {
            prop_assert_eq!(parse(key.as_str()), Ok(key));
        }
    }

    #[test]
    fn a_canonical_key_is_bounded_not_empty_trimmed_and_on_one_line(given in anything()) {
        if let Ok(key) = parse(&given) {
            let text = key.as_str();
            prop_assert!((1..=MAX_KEY_BYTES).contains(&text.len()));
            prop_assert_eq!(text.trim(), text);
            prop_assert!(!text.chars().any(is_forbidden));
        }
    }

    #[test]
    fn outer_white_space_never_matters(given in anything(), before in select(vec!["", " ", "\n\t"]), after in select(vec!["", " ", "\r\n"])) {
        prop_assert_eq!(parse(&format!("{before}{given}{after}")), parse(&given));
    }

    #[test]
    fn without_an_opaque_peer_id_case_and_empty_parts_never_matter(parts in vec(select(vec!["agent", "Main", "a", "B", "subagent", "é", "x Y"]), 1..8), seams in vec(1..4usize, 8)) {
        let mut spread = String::new();
        for (part, seam) in parts.iter().zip(&seams) {
            spread.push_str(&part.to_ascii_uppercase());
            spread.push_str(&":".repeat(*seam));
        }
        let plain = parts.join(":").to_ascii_lowercase();
        prop_assert_eq!(parse(&spread), parse(&plain));
        if let Ok(key) = parse(&spread) {
            prop_assert_eq!(key.as_str(), plain);
        }
    }

    #[test]
    fn what_follows_a_matrix_room_stays_byte_for_byte(room in select(vec!["channel", "group"]), opaque in vec(select(vec!["!Ab", "", "Srv.Org", "x y", "SIGNAL", "group", "$E"]), 1..6)) {
        let opaque = opaque.join(":");
        prop_assume!(!opaque.is_empty());
        prop_assert_eq!(
            canonical_of(&format!("AGENT::Main:Matrix:{}:{opaque}", room.to_ascii_uppercase())),
            format!("agent:main:matrix:{room}:{opaque}")
        );
    }

    #[test]
    fn a_qualified_key_belongs_to_the_agent_it_names(given in anything(), other in select(vec!["main", "w_1", "zz"])) {
        let Ok(key) = parse(&given) else { return Ok(()) };
        let as_ref = |agent: Option<&str>| SessionRef { key: given.clone(), agent: agent.map(Into::into) };
        let named = resolve("session", &as_ref(Some(other)));
        if let Some(own) = key.agent() {
            prop_assert!(is_agent_id(own));
            let prefix = format!("agent:{own}:");
            prop_assert!(key.as_str().starts_with(&prefix) && key.as_str().len() > prefix.len());
            prop_assert_eq!(resolve("session", &as_ref(None)).map(|it| it.agent), Ok(own.to_string()));
            prop_assert_eq!(named.map_err(|it| it.reason).err(), (own != other).then_some(InvalidReason::AgentMismatch));
        } else {
            prop_assert!(!key.as_str().starts_with("agent:"));
            prop_assert_eq!(resolve("session", &as_ref(None)).map_err(|it| it.reason), Err(InvalidReason::AgentRequired));
            prop_assert_eq!(named.map(|it| it.agent), Ok(other.to_string()));
        }
    }

    #[test]
    fn an_actor_is_a_watcher_of_the_same_key(given in anything()) {
        if let Ok(key) = parse(&given) && key.is_qualified() {
            prop_assert_eq!(actor_id("actor.id", &given), Ok(key.into_string()));
        }
    }

    #[test]
    fn an_actor_that_is_no_qualified_key_is_kept_as_given_or_refused(given in anything()) {
        if let Ok(id) = actor_id("actor.id", &given)
            && !parse(&given).is_ok_and(|key| key.is_qualified())
        {
            prop_assert_eq!(&id, &given);
            prop_assert!((1..=MAX_ID_BYTES).contains(&id.len()));
            prop_assert!(!id.chars().any(char::is_whitespace));
        }
    }

    #[test]
    fn a_name_is_trimmed_bounded_and_never_empty(given in any::<String>()) {
        if let Ok(Some(name)) = name("channel", &given) {
            prop_assert_eq!(name.trim(), name);
            prop_assert!((1..=MAX_NAME_CHARS).contains(&name.chars().count()));
            prop_assert!(!name.chars().any(is_forbidden));
        }
    }
}

#[test]
fn keys_are_made_canonical() {
    for (given, canonical) in [
        ("agent:main:main", "agent:main:main"),
        ("  Agent:MAIN::Telegram: ", "agent:main:telegram"),
        (": Global :", "global"),
        (" : : a: :b : ", "a: :b"),
        ("École", "École"),
        ("agent:main:matrix:channel:!AbC:Server.Org", "agent:main:matrix:channel:!AbC:Server.Org"),
        ("agent:main:matrix:group::!A::b:", "agent:main:matrix:group::!A::b:"),
        ("agent:main:MATRIX:CHANNEL:!A:THREAD:$Ev", "agent:main:matrix:channel:!A:thread:$Ev"),
        ("agent:main:matrix:channel:", "agent:main:matrix:channel"),
        ("agent:main:matrix:dm:!AbC", "agent:main:matrix:dm:!abc"),
        ("matrix:channel:!AbC", "matrix:channel:!abc"),
        ("agent:main:Signal:Group:AbC=:Thread", "agent:main:signal:group:AbC=:thread"),
        ("agent:main:signal:group::X", "agent:main:signal:group::x"),
        ("agent:main:signal:group: :", "agent:main:signal:group"),
        ("agent:main:signal:group:::", "agent:main:signal:group"),
        ("signal:group:AbC", "signal:group:abc"),
        ("agent:main:signal:dm:AbC", "agent:main:signal:dm:abc"),
    ] {
        assert_eq!(canonical_of(given), canonical, "{given:?}");
    }
}

#[test]
fn keys_that_name_no_session_are_refused() {
    for given in [
        "",
        "  ",
        ":",
        " : :: ",
        "agent",
        "agent:main",
        "agent:main:",
        "agent::main",
        "agent:-x:y",
        "agent:a b:c",
        "AGENT",
        "a\nb",
        "a\u{85}b",
        "a\u{2028}b",
        "a\u{2029}b",
        "a\0b",
    ] {
        assert_eq!(
            parse(given).map_err(|it| it.reason),
            Err(InvalidReason::InvalidKey),
            "{given:?}"
        );
    }
    assert_eq!(parse(&"k".repeat(513)).map_err(|it| it.reason), Err(InvalidReason::TooLong));
    assert_eq!(canonical_of(&format!("{}{}", ":".repeat(5_000), "k".repeat(512))).len(), 512);
}

#[test]
fn a_long_key_of_white_space_and_seams_takes_linear_time() {
    assert_eq!(canonical_of(&format!("{}a{}", ": ".repeat(100_000), " :".repeat(100_000))), "a");
}

#[test]
fn only_a_rest_that_starts_with_subagent_is_nested() {
    for (watcher, nested) in [
        ("agent:main:subagent:a", true),
        ("agent:main:subagent:a:subagent:b", true),
        ("agent:main:telegram:subagent:x", false),
        ("agent:main:main", false),
        ("agent:main:acp:x", false),
        ("agent:main:subagents:x", false),
        ("agent:subagent:main", false),
        ("subagent:x", false),
    ] {
        assert_eq!(is_nested(watcher), nested, "{watcher}");
    }
}
