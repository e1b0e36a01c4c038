//! `upstream-of` and `save-upstream`; and the list of links for people.

use super::*;
use crate::contract::{ClaimRequest, Link, Source, StorageFault, Upstream};
use crate::storage::LinkState;

pub(super) const A: &str = "agent:main:a";
pub(super) const B: &str = "agent:main:b";
pub(super) const C: &str = "agent:main:c";
pub(super) const W: &str = "agent:main:w";

pub(super) const MOST: u64 = (1 << 53) - 1;

pub(super) fn link() -> Link {
    Link {
        source: Source {
            kind: "claude-node".into(),
            place: "node-1".into(),
            thread: Some("thread-1".into()),
        },
        catalog: "claude".into(),
        generation: 3,
        revision: 8,
        misses: 1,
        claimed: true,
        state: "{\"at\":17}".into(),
    }
}

/// All that can be kept of a source.
pub(super) fn adopted(key: &str) -> Upstream {
    Upstream {
        session: session(key),
        link: Some(link()),
        sent: "0a 1b\"\u{e9}".into(),
        running_until: 5_000,
        watched: false,
    }
}

/// What is kept of nothing.
pub(super) fn nothing(session: Session) -> Upstream {
    Upstream { session, link: None, sent: String::new(), running_until: 0, watched: false }
}

/// A link of a watched session that nobody has claimed and where no turn runs, with something else
/// about it.
pub(super) fn watched_with(store: &mut Store, key: &str, change: impl FnOnce(&mut Upstream)) {
    let mut upstream = Upstream { link: Some(link()), ..nothing(session(key)) };
    change(&mut upstream);
    store.save_upstream(&upstream, 0).unwrap();
    save_cursors(store, vec![live(W, key, 0, 0)]);
}

/// At 100,000 for a minute.
pub(super) fn due() -> ClaimRequest {
    let kinds = vec!["claude-jsonl".into(), "claude-node".into()];
    ClaimRequest {
        kinds,
        now: 100_000,
        running_at_most: 7_300_000,
        until: 160_000,
        claimed_too: false,
    }
}

pub(super) fn in_memory(verbs: impl FnOnce(&mut Store)) -> Store {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, verbs);
    store
}

#[test]
fn what_is_kept_of_a_source_comes_back_as_it_was_saved() {
    in_memory(|store| {
        let everything = adopted(A);
        let file = Source { thread: None, kind: "claude-jsonl".into(), place: "/t.jsonl".into() };
        let of_a_file = Upstream { link: Some(Link { source: file, ..link() }), ..adopted(A) };
        for saved in [everything.clone(), of_a_file, everything] {
            store.save_upstream(&saved, 1_000).unwrap();
            assert_eq!(store.upstream_of(&session(A)).unwrap(), saved);
        }
        assert_eq!(store.upstream_of(&session(B)).unwrap(), nothing(session(B)));
    });
}

#[test]
fn a_link_that_is_absent_goes_and_what_the_gateway_said_stands_without_it() {
    in_memory(|store| {
        let all = adopted(A);
        let link_alone = Upstream { link: Some(link()), ..nothing(session(A)) };
        let said = Upstream { link: None, ..all.clone() };
        let sent_alone = Upstream { running_until: 0, ..said.clone() };
        let running_alone = Upstream { sent: String::new(), ..said.clone() };
        let nothing = nothing(session(A));
        store.save_upstream(&adopted(B), 1_000).unwrap();
        for saved in [all, link_alone, said, sent_alone, running_alone, nothing.clone(), nothing] {
            store.save_upstream(&saved, 1_000).unwrap();
            assert_eq!(store.upstream_of(&session(A)).unwrap(), saved);
        }
        assert_eq!(store.upstream_of(&session(B)).unwrap(), adopted(B));
    });
}

#[test]
fn what_the_gateway_said_goes_once_nothing_was_sent_and_no_turn_runs() {
    in_memory(|store| {
        let rows = |store: &Store| {
            let sql = "SELECT count(*) FROM headsup_own_turns";
            store.connection.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap()
        };
        let over = Upstream { sent: String::new(), ..adopted(A) };
        store.save_upstream(&over, 4_999).unwrap();
        assert_eq!(rows(store), 1);
        store.save_upstream(&over, 5_000).unwrap();
        assert_eq!(rows(store), 0);
        store.save_upstream(&adopted(A), 9_000).unwrap();
        assert_eq!(store.upstream_of(&session(A)).unwrap(), adopted(A));
    });
}

#[test]
fn the_same_key_under_two_agents_is_two_links() {
    in_memory(|store| {
        let [one, other] = ["main", "other"].map(|agent| Upstream {
            session: Session { key: "global".into(), agent: agent.into() },
            link: Some(Link { catalog: agent.into(), ..link() }),
            ..adopted("global")
        });
        store.save_upstream(&one, 0).unwrap();
        store.save_upstream(&other, 0).unwrap();
        assert_eq!(store.upstream_of(&one.session).unwrap(), one);
        store.save_upstream(&nothing(one.session.clone()), 0).unwrap();
        assert_eq!(store.upstream_of(&one.session).unwrap(), nothing(one.session));
        assert_eq!(store.upstream_of(&other.session).unwrap(), other);
    });
}

#[test]
fn a_session_is_watched_while_a_live_cursor_targets_exactly_it() {
    in_memory(|store| {
        let said_so = Upstream { watched: true, ..adopted(A) };
        store.save_upstream(&said_so, 0).unwrap();
        let namesake = Session { key: A.into(), agent: "other".into() };
        let on_namesake =
            Cursor { pair: Pair { watcher: W.into(), target: namesake }, ..live(W, A, 0, 0) };
        save_cursors(store, vec![mark(W, A), live(A, B, 0, 0), on_namesake]);
        assert!(!store.upstream_of(&session(A)).unwrap().watched);
        assert!(store.upstream_of(&session(B)).unwrap().watched);
        save_cursors(store, vec![live("agent:main:x", A, 0, 0)]);
        assert!(store.upstream_of(&session(A)).unwrap().watched);
    });
}

/// What one value is at its bound, and beyond it.
fn beyond(change: fn(&mut Upstream, u64), bound: u64) {
    in_memory(|store| {
        let mut saved = adopted(A);
        change(&mut saved, bound);
        store.save_upstream(&saved, 0).unwrap();
        assert_eq!(store.upstream_of(&session(A)).unwrap(), saved);
        change(&mut saved, bound + 1);
        let failure = store.save_upstream(&saved, 0).unwrap_err();
        assert_eq!(failure.fault, StorageFault::Failed);
        assert!(failure.message.contains("refuses a value"), "{}", failure.message);
        assert!(!failure.message.contains("xx"), "{}", failure.message);
    });
}

#[test]
fn texts_and_numbers_beyond_their_bounds_are_refused_without_being_quoted() {
    fn x(bytes: u64) -> String {
        "x".repeat(usize::try_from(bytes).unwrap())
    }
    fn of(upstream: &mut Upstream) -> &mut Link {
        upstream.link.as_mut().unwrap()
    }
    beyond(|upstream, n| of(upstream).source.kind = x(n), 64);
    beyond(|upstream, n| of(upstream).source.place = x(n), 4_096);
    beyond(|upstream, n| of(upstream).source.thread = Some(x(n)), 256);
    beyond(|upstream, n| of(upstream).catalog = x(n), 256);
    beyond(|upstream, n| of(upstream).state = x(n), 65_536);
    beyond(|upstream, n| of(upstream).misses = u32::try_from(n).unwrap(), 1_000);
    beyond(|upstream, n| of(upstream).generation = n, MOST);
    beyond(|upstream, n| of(upstream).revision = n, MOST);
    beyond(|upstream, n| upstream.sent = x(n), 1_000);
    beyond(|upstream, n| upstream.running_until = n, MOST);
    for none in [|link: &mut Link| link.generation = 0, |link: &mut Link| link.revision = 0] {
        in_memory(|store| {
            let mut saved = adopted(A);
            none(of(&mut saved));
            assert_eq!(store.save_upstream(&saved, 0).unwrap_err().fault, StorageFault::Failed);
        });
    }
}

#[test]
fn links_are_listed_by_key_then_agent_with_all_that_their_checks_depend_on() {
    let mut store = in_memory(|store| {
        watched_with(store, B, |upstream| {
            upstream.link.as_mut().unwrap().state = "{\"at\":17,\"size\":20,\"rotations\":2,\
                \"newest\":900,\"adoptedAt\":800,\"host\":\"build-7\",\"thread\":\"t\",\
                \"trouble\":\"no permission\",\"queued\":[1]}"
                .into();
        });
        store.save_upstream(&adopted(A), 0).unwrap();
        store.save_upstream(&Upstream { link: None, ..adopted(C) }, 0).unwrap();
        store.claim(&due()).unwrap();
    });
    let listed = read(&mut store, |store| store.links().unwrap());
    let of = |agent: &str, key: &str| LinkState {
        session: key.into(),
        agent: agent.into(),
        kind: "claude-node".into(),
        place: "node-1".into(),
        source_thread: Some("thread-1".into()),
        catalog: "claude".into(),
        host: None,
        thread: None,
        generation: 3,
        adopted_at: None,
        at: Some(17),
        size: None,
        newest: None,
        rotations: None,
        misses: 1,
        trouble: None,
        checked_at: None,
        claimed_until: 0,
        watched: false,
        running_until: 5_000,
    };
    let checked = LinkState {
        host: Some("build-7".into()),
        thread: Some("t".into()),
        adopted_at: Some(800),
        size: Some(20),
        newest: Some(900),
        rotations: Some(2),
        trouble: Some("no permission".into()),
        checked_at: Some(100_000),
        claimed_until: 160_000,
        watched: true,
        running_until: 0,
        ..of("main", B)
    };
    assert_eq!(listed, [of("main", A), checked]);
}

#[test]
fn a_state_of_another_cores_words_is_listed_without_what_it_does_not_say() {
    for state in ["{\"at\":\"x\",\"host\":7,\"rotations\":-1}", "[1]", "{"] {
        let mut store = in_memory(|store| {
            watched_with(store, A, |upstream| {
                upstream.link.as_mut().unwrap().state = state.into();
            });
        });
        let listed = read(&mut store, |store| store.links().unwrap()).swap_remove(0);
        assert_eq!((listed.at, listed.host, listed.rotations), (None, None, None), "{state}");
    }
}

#[test]
fn a_link_or_own_turns_that_break_the_contract_are_corrupt_and_not_quoted() {
    let breaks = [
        "UPDATE session_upstream_links SET generation = -1",
        "UPDATE session_upstream_links SET misses = -1",
        "UPDATE session_upstream_links SET catalog = CAST(x'736563726574ff' AS TEXT)",
        "UPDATE headsup_own_turns SET sent = CAST(x'736563726574ff' AS TEXT)",
        "UPDATE headsup_own_turns SET running_until = -1",
    ];
    for sql in breaks {
        let mut store = in_memory(|store| {
            store.save_upstream(&adopted(A), 0).unwrap();
            let unchecked = format!("PRAGMA ignore_check_constraints = 1; {sql};");
            store.connection.execute_batch(&unchecked).unwrap();
        });
        let failure = read(&mut store, |store| store.upstream_of(&session(A)).unwrap_err());
        assert_eq!(failure.fault, StorageFault::Corrupt, "{sql}");
        assert!(!failure.message.contains("secret"), "{}", failure.message);
        assert!(failure.message.contains("headsup doctor"), "{}", failure.message);
    }
}
