//! Section 2: sessions, keys and names.

use harness::{CHILD, Gateway, MAIN, OPS, WORKER, bare};
use headsup::{Actor, Happening, InvalidReason, Signal, Unwatchable, WatchAnswer};
use serde_json::json;

use crate::{goal, human};

/// What a key becomes, seen in the target of a watch.
fn canonical(gateway: &Gateway, key: &str) -> String {
    gateway.watches(OPS, key);
    let entries = gateway.watches_of(OPS).unwrap();
    let target = entries.last().unwrap().target.clone();
    gateway.unwatch(OPS, target.clone()).unwrap();
    target.key
}

/// Why a session's key is refused.
fn why(gateway: &Gateway, key: &str, agent: Option<&str>) -> InvalidReason {
    let session = headsup::SessionRef { key: key.into(), agent: agent.map(Into::into) };
    match gateway.changes_since(session, 0, None) {
        Err(headsup::Error::Invalid(refused)) => {
            assert!(refused.field.starts_with("session."), "{}", refused.field);
            assert!(refused.message.starts_with(&refused.field), "{}", refused.message);
            refused.reason
        }
        other => panic!("{key:?} was not refused: {other:?}"),
    }
}

#[test]
fn the_same_bare_key_under_two_agents_is_two_logs_and_two_heads() {
    let gateway = Gateway::open();
    assert_eq!(gateway.records(goal(bare("global", "main"), "u1")), 1);
    assert_eq!(gateway.records(goal(bare("global", "ops"), "u1")), 2);
    let versions = gateway.versions([bare("global", "main"), bare("global", "ops")]).unwrap();
    assert_eq!(versions, [Some(1), Some(2)]);
    let delta = gateway.changes_since(bare("global", "main"), 0, None).unwrap();
    assert_eq!(delta.events.len(), 1);
    gateway.delete(bare("global", "main")).unwrap();
    let versions = gateway.versions([bare("global", "main"), bare("global", "ops")]).unwrap();
    assert_eq!(versions, [None, Some(2)]);
}

#[test]
fn the_same_bare_key_under_two_agents_is_two_cursors() {
    let gateway = Gateway::open();
    gateway.watches(OPS, bare("global", "main"));
    gateway.records(human(bare("global", "main")));
    gateway.hears(["notice agent:ops:main: global@main 0..1", "wake agent:ops:main"]);
    assert_eq!(gateway.cursor(OPS, bare("global", "main")), "explicit 0 1 1");
    assert_eq!(gateway.cursor(OPS, bare("global", "ops")), "none");
    assert_eq!(
        gateway.record(human(bare("global", "ops"))).unwrap(),
        headsup::Recording::Unwatched
    );
}

#[test]
fn the_same_bare_key_under_two_agents_is_two_scopes_of_dedupe_keys() {
    let gateway = Gateway::open();
    let created = |agent| Signal::created(bare("global", agent), Actor::system()).dedupe_key("k");
    assert_eq!(gateway.records(created("main")), 1);
    assert_eq!(gateway.records(created("ops")), 2);
    assert_eq!(gateway.record(created("main")).unwrap(), headsup::Recording::Duplicate(1));
}

#[test]
fn the_agent_of_a_qualified_key_follows_from_it() {
    let gateway = Gateway::open();
    gateway.records(goal("agent:ops:x", "u1"));
    let delta = gateway.changes_since(bare("agent:ops:x", "ops"), 0, None).unwrap();
    assert_eq!(delta.events[0].session, harness::session("agent:ops:x", "ops"));
}

#[test]
fn another_agent_than_the_keys_is_agent_mismatch() {
    let gateway = Gateway::open();
    assert_eq!(why(&gateway, "agent:main:x", Some("ops")), InvalidReason::AgentMismatch);
}

#[test]
fn a_bare_key_needs_its_agent() {
    let gateway = Gateway::open();
    assert_eq!(why(&gateway, "global", None), InvalidReason::AgentRequired);
    assert_eq!(why(&gateway, "global", Some("Ops")), InvalidReason::InvalidAgent);
}

#[test]
fn a_key_that_starts_with_agent_and_is_not_qualified_is_invalid() {
    let gateway = Gateway::open();
    for key in
        ["agent", "agent:main", "agent:main:", "agent::", "AGENT:x", "agent:-x:y", "agent:a b:c"]
    {
        assert_eq!(why(&gateway, key, Some("main")), InvalidReason::InvalidKey, "{key}");
    }
}

#[test]
fn a_watcher_that_starts_with_agent_and_is_not_qualified_is_invalid_too() {
    let gateway = Gateway::open();
    for method in ["watch", "unwatch"] {
        let params = json!({"watcher": "agent:main", "target": CHILD});
        assert_eq!(gateway.refusal(method, &params), ("invalid-key".into(), "watcher".into()));
    }
    for method in ["take", "drain", "watches"] {
        let params = json!({"watcher": "agent:main"});
        assert_eq!(gateway.refusal(method, &params), ("invalid-key".into(), "watcher".into()));
    }
}

#[test]
fn an_empty_key_is_invalid() {
    let gateway = Gateway::open();
    for key in ["", "  ", ":", " : :: "] {
        assert_eq!(why(&gateway, key, Some("main")), InvalidReason::InvalidKey, "{key:?}");
    }
}

#[test]
fn keys_are_trimmed_lose_empty_parts_and_become_lower_case() {
    let gateway = Gateway::open();
    assert_eq!(canonical(&gateway, "  Agent:MAIN::Telegram: "), "agent:main:telegram");
    assert_eq!(canonical(&gateway, "agent:main:École"), "agent:main:École");
    gateway.records(goal(bare(" :Global: ", "ops"), "u1"));
    assert_eq!(gateway.versions([bare("global", "ops")]).unwrap(), [Some(1)]);
}

#[test]
fn a_watcher_is_made_canonical_on_entry() {
    let gateway = Gateway::open();
    gateway.watches(" AGENT:ops::MAIN ", CHILD);
    assert_eq!(gateway.cursor(OPS, CHILD), "explicit 0 0 0");
    gateway.records(human(CHILD).watcher("Agent:Main:Main"));
    gateway.hears([
        "notice agent:ops:main: agent:main:subagent:child 0..1",
        "wake agent:ops:main",
        "notice agent:main:main: agent:main:subagent:child 0..1",
        "wake agent:main:main",
    ]);
    assert_eq!(gateway.take(" agent:OPS:main").unwrap().len(), 1);
}

#[test]
fn everything_after_a_matrix_room_stays_as_it_is_empty_parts_included() {
    let gateway = Gateway::open();
    for room in ["channel", "group"] {
        let key = format!("agent:main:matrix:{room}:!AbC::Server.Org:");
        assert_eq!(canonical(&gateway, &key), key);
    }
    assert_eq!(canonical(&gateway, "agent:main:matrix:dm:!AbC"), "agent:main:matrix:dm:!abc");
}

#[test]
fn the_thread_marker_of_a_matrix_room_is_lower_case() {
    let gateway = Gateway::open();
    assert_eq!(
        canonical(&gateway, "AGENT:main:Matrix:Channel:!AbC:S.Org:THREAD:$EvenT"),
        "agent:main:matrix:channel:!AbC:S.Org:thread:$EvenT"
    );
}

#[test]
fn the_one_segment_after_a_signal_group_stays_as_it_is() {
    let gateway = Gateway::open();
    assert_eq!(
        canonical(&gateway, "agent:main:Signal:GROUP:AbC==:Topic"),
        "agent:main:signal:group:AbC==:topic"
    );
}

#[test]
fn an_actor_id_is_canonical_if_it_is_qualified_and_kept_as_given_otherwise() {
    let gateway = Gateway::open();
    gateway.records(goal(CHILD, " AGENT:Main::Main "));
    gateway.records(goal(CHILD, "User7"));
    gateway.records(goal(CHILD, "agent:Main"));
    let delta = gateway.changes_since(CHILD, 0, None).unwrap();
    let ids: Vec<_> = delta.events.into_iter().map(|event| event.actor.id.unwrap()).collect();
    assert_eq!(ids, [MAIN, "User7", "agent:Main"]);
}

#[test]
fn agent_ids_match_their_pattern() {
    let gateway = Gateway::open();
    for agent in ["a", "0", "a_b-c", &"a".repeat(64)] {
        assert_eq!(gateway.versions([bare("global", agent)]).unwrap(), [None], "{agent}");
    }
    for agent in ["", "A", "_a", "-a", "a b", "é", &"a".repeat(65)] {
        assert_eq!(why(&gateway, "global", Some(agent)), InvalidReason::InvalidAgent, "{agent:?}");
    }
}

#[test]
fn keys_have_at_most_512_bytes_once_canonical() {
    let gateway = Gateway::open();
    let longest = format!("agent:main:{}", "x".repeat(501));
    assert_eq!(canonical(&gateway, &format!("   {}::", longest.to_uppercase())), longest);
    assert_eq!(why(&gateway, &format!("{longest}x"), None), InvalidReason::TooLong);
}

/// Puts an id into a field of a signal.
type SetId = fn(&mut Signal, String);

#[test]
fn other_ids_have_at_most_256_bytes_and_no_white_space() {
    let gateway = Gateway::open();
    let refused = |change: &dyn Fn(&mut Signal, String), id: &str| {
        let mut signal = goal(CHILD, "u1");
        change(&mut signal, id.to_owned());
        match gateway.record(signal) {
            Err(headsup::Error::Invalid(refused)) => Some((refused.field, refused.reason)),
            Ok(_) => None,
            Err(other) => panic!("{other}"),
        }
    };
    let fields: [(&str, SetId); 6] = [
        ("actor.id", |signal, id| signal.actor.id = Some(id)),
        ("runId", |signal, id| signal.run_id = Some(id)),
        ("sessionId", |signal, id| signal.session_id = Some(id)),
        ("dedupeKey", |signal, id| signal.dedupe_key = Some(id)),
        ("operationId", |signal, id| signal.happening = Happening::Compacted(id)),
        ("host", |signal, id| {
            let adoption = headsup::Adoption { catalog: "c".into(), host: Some(id) };
            signal.happening = Happening::Adopted(adoption);
        }),
    ];
    for (field, change) in fields {
        let expect = |reason| Some((field.to_owned(), reason));
        assert_eq!(refused(&change, &"i".repeat(256)), None, "{field}");
        assert_eq!(refused(&change, &"i".repeat(257)), expect(InvalidReason::TooLong));
        for id in ["", "a b", "a\u{a0}b", "a\nb", "a\0b", "a\u{85}b", "a\u{2028}b", "a\u{2029}b"] {
            assert_eq!(refused(&change, id), expect(InvalidReason::InvalidId), "{field} {id:?}");
        }
    }
}

#[test]
fn names_have_at_most_64_characters_are_trimmed_and_empty_ones_count_as_missing() {
    let gateway = Gateway::open();
    gateway.watches(OPS, CHILD);
    let said = |channel: &str| gateway.record(human(CHILD).channel(channel));
    for channel in ["  telegram ", "", " ", &"é".repeat(64)] {
        said(channel).unwrap();
    }
    let delta = gateway.changes_since(CHILD, 0, None).unwrap();
    let summaries: Vec<&str> = delta.events.iter().map(|event| event.summary.as_str()).collect();
    let longest = format!("human message via {}", "é".repeat(64));
    let unknown = "human message via unknown";
    assert_eq!(summaries, ["human message via telegram", unknown, unknown, &longest]);
    let params = |catalog: &str| json!({"session": CHILD, "kind": "adopted", "actor": {"type": "system"}, "catalog": catalog});
    let refusal = |catalog: &str| gateway.refusal("record", &params(catalog)).0;
    assert_eq!(refusal(" "), "missing-field");
    assert_eq!(refusal(&"é".repeat(65)), "too-long");
    let _ = gateway.news();
}

#[test]
fn nothing_contains_control_characters_or_line_separators() {
    let gateway = Gateway::open();
    for c in ['\0', '\n', '\u{1b}', '\u{7f}', '\u{85}', '\u{2028}', '\u{2029}'] {
        assert_eq!(why(&gateway, &format!("a{c}b"), Some("main")), InvalidReason::InvalidKey);
        let channel = gateway.record(human(CHILD).watcher(OPS).channel(format!("a{c}b")));
        let Err(headsup::Error::Invalid(refused)) = channel else { panic!("{channel:?}") };
        assert_eq!(
            (refused.field.as_str(), refused.reason),
            ("channel", InvalidReason::InvalidName)
        );
    }
}

#[test]
fn nested_watchers_are_those_whose_rest_starts_with_subagent() {
    let gateway = Gateway::open();
    let nested = ["agent:main:subagent:a", "agent:main:subagent:a:subagent:b"];
    let others = ["agent:main:telegram:subagent:x", "agent:main:acp:x", WORKER, MAIN];
    for watcher in nested.into_iter().chain(others) {
        gateway.watches(watcher, OPS);
    }
    gateway.records(human(OPS));
    let _ = gateway.news();
    let wakes = |watcher: &str| gateway.pending_of(watcher).unwrap()[0].wakes;
    assert_eq!(nested.map(wakes), [false; 2]);
    assert_eq!(others.map(wakes), [true; 4]);
}

#[test]
fn watchers_differ_from_targets_whatever_the_spelling() {
    let gateway = Gateway::open();
    let answer = gateway.watch("AGENT:main:main", " agent:main::main", false).unwrap();
    assert_eq!(answer, WatchAnswer::NotWatchable(Unwatchable::WatcherIsTarget));
}
