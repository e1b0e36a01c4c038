//! Properties of checking and wording a signal: whatever a producer writes, the log stays within
//! the bounds of the contract and holds no line break.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

use super::*;
use crate::contract::{Adoption, DirectMessage, SessionRef};

/// Texts around every bound, of every kind of character.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => vec(select(vec!['a', 'Z', ':', '"', '\\', 'é', '😀', '_']), 0..12)
            .prop_map(String::from_iter),
        1 => (select(vec!["a", "\"", "é", "😀", ":"]), select(vec![63usize, 64, 65, 128, 256, 257, 512]))
            .prop_map(|(text, times)| text.repeat(times)),
        1 => vec(select(vec!['a', ' ', '\n', '\u{85}', '\u{2028}', '\u{2029}', '\0', '\u{a0}']), 0..5)
            .prop_map(String::from_iter),
        1 => select(vec!["agent:main:main", "Agent:Main:Sub", "agent:x", "r1"]).prop_map(String::from),
    ]
}

fn happening() -> impl Strategy<Value = Happening> {
    let change = select(vec![GoalChange::Created, GoalChange::Updated, GoalChange::Cleared]);
    let outcome = select(vec![RunOutcome::Error, RunOutcome::Timeout, RunOutcome::Cancelled]);
    prop_oneof![
        (option::of(text()), option::of(0..4u32)).prop_map(|(channel, turns)| {
            Happening::HumanDirectMessage(DirectMessage { channel, turns })
        }),
        text().prop_map(Happening::UpstreamMissing),
        change.prop_map(Happening::GoalChanged),
        Just(Happening::ChildSpawned),
        Just(Happening::RunCompleted),
        outcome.prop_map(Happening::RunFailed),
        text().prop_map(Happening::Compacted),
        (text(), option::of(text()))
            .prop_map(|(catalog, host)| Happening::Adopted(Adoption { catalog, host })),
        Just(Happening::Created),
    ]
}

prop_compose! {
    fn signal()(
        key in prop_oneof![Just("agent:main:main".to_string()), text()],
        agent in option::of(select(vec!["main", "other", "-"])),
        happening in happening(),
        type_ in select(vec![ActorType::Human, ActorType::Agent, ActorType::System]),
        [id, session_id, run_id, dedupe_key] in [option::of(text()), option::of(text()), option::of(text()), option::of(text())],
        occurred_at in option::of(any::<i64>()),
        watchers in vec(text(), 0..3),
    ) -> Signal {
        Signal {
            session: SessionRef { key, agent: agent.map(Into::into) },
            happening,
            actor: Actor { type_, id },
            session_id,
            run_id,
            occurred_at,
            dedupe_key,
            watchers,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_reaches_the_log_is_within_the_contracts_bounds_and_on_one_line(signal in signal(), now in 0..1u64 << 53) {
        let Ok(Checked { kind, entry, .. }) = check(&signal, now) else { return Ok(()) };
        prop_assert_eq!(entry.kind, kind.word());
        prop_assert!((1..=1_024).contains(&entry.summary.len()));
        let bounds = [
            (entry.actor_id.as_ref(), 512),
            (entry.session_id.as_ref(), 256),
            (entry.run_id.as_ref(), 256),
            (entry.dedupe_key.as_ref(), 512),
            (entry.payload.as_ref(), 4_096),
            (Some(&entry.summary), 1_024),
        ];
        for (text, bound) in bounds {
            let text = text.map_or("", String::as_str);
            prop_assert!(text.len() <= bound);
            let breaks_a_line = |c: char| c.is_control() || ['\u{2028}', '\u{2029}'].contains(&c);
            prop_assert!(!text.contains(breaks_a_line));
        }
        if let Some(payload) = &entry.payload {
            prop_assert!(serde_json::from_str::<Value>(payload).is_ok_and(|value| value.is_object()));
        }
    }

    #[test]
    fn occurred_at_lies_in_the_last_day_and_never_before_the_epoch(at in option::of(any::<i64>()), now in 0..1u64 << 53) {
        let clamped = clamp(at, now);
        prop_assert!(clamped <= now && clamped >= now.saturating_sub(MAX_BACKDATE_MS));
        if let Some(inside) = at.and_then(|at| u64::try_from(at).ok())
            && inside <= now && inside + MAX_BACKDATE_MS >= now
        {
            prop_assert_eq!(clamped, inside);
        }
    }

    #[test]
    fn a_refusal_names_a_field_of_the_signal_and_never_quotes_content(signal in signal(), secret in select(vec!["s3cret\n", "s3 cret"])) {
        let mut signal = signal;
        signal.dedupe_key = Some(secret.to_string());
        let Err(refusal) = check(&signal, 0) else { panic!("white space in an id is refused") };
        prop_assert!(refusal.message.starts_with(&refusal.field));
        prop_assert!(!refusal.message.contains("s3"));
    }
}

#[test]
fn every_kind_and_actor_type_is_found_by_its_own_word() {
    for (kind, word) in Kind::WORDS {
        assert_eq!(kind.word(), word);
        assert_eq!(Kind::of(word), Some(kind));
    }
    for actor in [ActorType::Human, ActorType::Agent, ActorType::System] {
        assert_eq!(ActorType::of(actor.word()), Some(actor));
    }
    assert_eq!(Kind::of("renamed"), None);
    assert_eq!(ActorType::of("Human"), None);
}
