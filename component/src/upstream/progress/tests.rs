use proptest::prelude::*;

use super::*;
use crate::contract::Source;

fn link(state: String) -> Link {
    Link {
        source: Source { kind: "claude-jsonl".to_string(), place: "/x".to_string(), thread: None },
        catalog: "claude".to_string(),
        generation: 1,
        revision: 1,
        misses: 0,
        claimed: true,
        state,
    }
}

fn digest() -> impl Strategy<Value = Option<Digest>> {
    proptest::option::of(any::<String>().prop_map(|text| Digest::of_text(&text)))
}

fn text() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(any::<String>())
}

prop_compose! {
    fn position()(
        (at, window, size, until) in (0..MAX, 0..=LONGEST_LINE, 0..MAX, 0..MAX),
        (passing, headless, caught_up) in any::<(bool, bool, bool)>(),
        (identity, stamp) in (any::<String>(), text()),
        (overlap, before) in (0..=OVERLAP, digest()),
        old in any::<Option<bool>>(),
    ) -> Position {
        Position {
            at, window, passing, identity, size, stamp, overlap, before, until, old, caught_up,
            headless,
        }
    }
}

const MAX: u64 = 1 << 53;

proptest! {
    #[test]
    fn what_is_kept_of_a_link_comes_back_as_it_was(
        file in position(),
        (adopted_at, rotations, newest) in (0..MAX, 0..MAX, proptest::option::of(1..MAX)),
        (host, thread, trouble) in (text(), text(), text()),
        (begun, last) in (any::<bool>(), digest()),
    ) {
        let labels = Labels { adopted_at, host, thread };
        let queued = Queued::default();
        let progress =
            Progress { labels, trouble, rotations, newest, queued, file, begun, last };
        prop_assert_eq!(Progress::of(&link(progress.text())).unwrap(), progress);
    }

    #[test]
    fn a_state_that_is_no_json_object_is_corrupt_and_any_object_is_read(text in any::<String>()) {
        let is_object = serde_json::from_str::<serde_json::Map<_, serde_json::Value>>(&text);
        prop_assert_eq!(Progress::of(&link(text)).is_ok(), is_object.is_ok());
        let odd = r#"{"at":"7","window":1e9,"queued":{},"old":1,"before":"x","more":[null]}"#;
        prop_assert_eq!(Progress::of(&link(odd.to_string())).unwrap(), Progress::default());
    }
}
