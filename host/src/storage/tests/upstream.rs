//! `upstream-of`, `save-upstream`, `claim`, `next-claim` and `upstreams`.

use super::*;
use crate::contract::{ClaimRequest, Link, OwnTurns, Source, StorageFault, Upstream};

const A: &str = "agent:main:a";
const B: &str = "agent:main:b";
const C: &str = "agent:main:c";
const W: &str = "agent:main:w";

/// A link that says everything that a link can say.
pub(super) fn link() -> Link {
    Link {
        source: Source {
            kind: "claude-node".into(),
            place: "node-1".into(),
            thread: Some("thread-1".into()),
        },
        catalog: "claude".into(),
        host: Some("build-7".into()),
        thread: Some("thread-9".into()),
        generation: 3,
        revision: 8,
        rotations: 2,
        marker: "{\"at\":17}".into(),
        misses: 1,
        adopted_at: 1_000,
        checked_at: Some(2_000),
        claimed_until: 0,
        trouble: Some("no permission".into()),
    }
}

pub(super) fn turns() -> OwnTurns {
    OwnTurns { sent: vec!["0a".into(), "1b\"\u{e9}".into()], running_until: 0, moved_at: 1_500 }
}

pub(super) fn adopted(key: &str) -> Upstream {
    Upstream { session: session(key), link: Some(link()), turns: Some(turns()), watched: false }
}

/// What is kept of nothing.
fn nothing(session: Session) -> Upstream {
    Upstream { session, link: None, turns: None, watched: false }
}

/// A link of a watched session that nobody has claimed.
fn watched(store: &mut Store, key: &str) {
    watched_with(store, key, |_| {});
}

/// The same, with something else about it.
fn watched_with(store: &mut Store, key: &str, change: impl FnOnce(&mut Link)) {
    let mut link = link();
    change(&mut link);
    store.save_upstream(&Upstream { link: Some(link), turns: None, ..adopted(key) }).unwrap();
    save_cursors(store, vec![live(W, key, 0, 0)]);
}

fn kinds() -> Vec<String> {
    vec!["claude-jsonl".into(), "claude-node".into()]
}

/// At 100,000 for a minute.
fn due() -> ClaimRequest {
    ClaimRequest { kinds: kinds(), now: 100_000, until: 160_000, claimed_too: false, limit: 1_000 }
}

/// The keys of what is claimed, which is undone.
fn would_claim(store: &mut Store, request: &ClaimRequest) -> Vec<String> {
    store.begin_write().unwrap();
    let claimed = store.claim(request).unwrap();
    store.rollback();
    claimed.into_iter().map(|upstream| upstream.session.key).collect()
}

fn in_memory(verbs: impl FnOnce(&mut Store)) -> Store {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, verbs);
    store
}

#[test]
fn what_is_kept_of_a_source_comes_back_as_it_was_saved() {
    in_memory(|store| {
        let everything = adopted(A);
        let file = Source { thread: None, kind: "claude-jsonl".into(), place: "/t.jsonl".into() };
        let least = Upstream {
            link: Some(Link {
                source: file,
                host: None,
                thread: None,
                checked_at: None,
                trouble: None,
                ..link()
            }),
            turns: Some(OwnTurns { sent: Vec::new(), ..turns() }),
            ..everything.clone()
        };
        for saved in [everything.clone(), least, everything] {
            store.save_upstream(&saved).unwrap();
            assert_eq!(store.upstream_of(&session(A)).unwrap(), saved);
        }
        assert_eq!(store.upstream_of(&session(B)).unwrap(), nothing(session(B)));
    });
}

#[test]
fn a_link_and_own_turns_go_where_they_are_absent_and_each_stands_without_the_other() {
    in_memory(|store| {
        let all = adopted(A);
        let link_alone = Upstream { turns: None, ..all.clone() };
        let turns_alone = Upstream { link: None, ..all.clone() };
        store.save_upstream(&adopted(B)).unwrap();
        for saved in [all, link_alone, turns_alone, nothing(session(A)), nothing(session(A))] {
            store.save_upstream(&saved).unwrap();
            assert_eq!(store.upstream_of(&session(A)).unwrap(), saved);
        }
        assert_eq!(store.upstream_of(&session(B)).unwrap(), adopted(B));
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
        store.save_upstream(&one).unwrap();
        store.save_upstream(&other).unwrap();
        assert_eq!(store.upstream_of(&one.session).unwrap(), one);
        assert_eq!(store.upstream_of(&other.session).unwrap(), other);
        store.save_upstream(&nothing(one.session.clone())).unwrap();
        assert_eq!(store.upstreams(None, 10).unwrap(), [other]);
    });
}

#[test]
fn a_session_is_watched_while_a_live_cursor_targets_exactly_it() {
    in_memory(|store| {
        let said_so = Upstream { watched: true, ..adopted(A) };
        store.save_upstream(&said_so).unwrap();
        let namesake = Session { key: A.into(), agent: "other".into() };
        let on_namesake =
            Cursor { pair: Pair { watcher: W.into(), target: namesake }, ..live(W, A, 0, 0) };
        save_cursors(store, vec![mark(W, A), live(A, B, 0, 0), on_namesake]);
        assert!(!store.upstream_of(&session(A)).unwrap().watched);
        assert!(!store.upstreams(None, 10).unwrap()[0].watched);
        save_cursors(store, vec![live("agent:main:x", A, 0, 0)]);
        assert!(store.upstream_of(&session(A)).unwrap().watched);
        assert!(store.upstreams(None, 10).unwrap()[0].watched);
        assert!(store.upstream_of(&session(B)).unwrap().watched);
    });
}

/// What one value is at its bound, and beyond it.
fn beyond(change: fn(&mut Upstream, usize), bound: usize) {
    in_memory(|store| {
        let mut saved = adopted(A);
        change(&mut saved, bound);
        store.save_upstream(&saved).unwrap();
        assert_eq!(store.upstream_of(&session(A)).unwrap(), saved);
        change(&mut saved, bound + 1);
        let failure = store.save_upstream(&saved).unwrap_err();
        assert_eq!(failure.fault, StorageFault::Failed);
        assert!(failure.message.contains("refuses a value"), "{}", failure.message);
        assert!(!failure.message.contains("xx"), "{}", failure.message);
    });
}

#[test]
fn texts_and_numbers_beyond_their_bounds_are_refused_without_being_quoted() {
    fn x(bytes: usize) -> String {
        "x".repeat(bytes)
    }
    fn of(upstream: &mut Upstream) -> &mut Link {
        upstream.link.as_mut().unwrap()
    }
    fn own(upstream: &mut Upstream) -> &mut OwnTurns {
        upstream.turns.as_mut().unwrap()
    }
    const MOST: usize = (1 << 53) - 1;
    beyond(|upstream, n| of(upstream).source.kind = x(n), 64);
    beyond(|upstream, n| of(upstream).source.place = x(n), 4_096);
    beyond(|upstream, n| of(upstream).source.thread = Some(x(n)), 256);
    beyond(|upstream, n| of(upstream).catalog = x(n), 256);
    beyond(|upstream, n| of(upstream).host = Some(x(n)), 256);
    beyond(|upstream, n| of(upstream).thread = Some(x(n)), 256);
    beyond(|upstream, n| of(upstream).marker = x(n), 65_536);
    beyond(|upstream, n| of(upstream).trouble = Some(x(n)), 256);
    beyond(|upstream, n| of(upstream).misses = u32::try_from(n).unwrap(), 1_000);
    beyond(|upstream, n| of(upstream).generation = n as u64, MOST);
    beyond(|upstream, n| of(upstream).revision = n as u64, MOST);
    beyond(|upstream, n| of(upstream).adopted_at = n as u64, MOST);
    beyond(|upstream, n| of(upstream).checked_at = Some(n as u64), MOST);
    beyond(|upstream, n| of(upstream).claimed_until = n as u64, MOST);
    beyond(|upstream, n| own(upstream).running_until = n as u64, MOST);
    beyond(|upstream, n| own(upstream).moved_at = n as u64, MOST);
    // The longest that JSON makes of a byte.
    beyond(|upstream, n| own(upstream).sent = vec!["\u{1}".repeat(64); n], 10);
    beyond(|upstream, n| own(upstream).sent = vec![x(n)], 64);
    for none in [|link: &mut Link| link.generation = 0, |link: &mut Link| link.revision = 0] {
        in_memory(|store| {
            let mut saved = adopted(A);
            none(of(&mut saved));
            assert_eq!(store.save_upstream(&saved).unwrap_err().fault, StorageFault::Failed);
        });
    }
}

#[test]
fn a_claim_is_kept_says_when_it_was_made_and_changes_nothing_else() {
    let mut store = in_memory(|store| {
        watched(store, A);
        let turns = Some(OwnTurns { running_until: 100_000, ..turns() });
        let before = store.upstream_of(&session(A)).unwrap();
        store.save_upstream(&Upstream { turns, ..before }).unwrap();
    });
    let before = read(&mut store, |store| store.upstream_of(&session(A)).unwrap());
    let claimed = write(&mut store, |store| store.claim(&due()).unwrap());
    let link = Link { checked_at: Some(100_000), claimed_until: 160_000, ..link() };
    assert_eq!(claimed, [Upstream { link: Some(link), ..before }]);
    let kept = read(&mut store, |store| store.upstream_of(&session(A)).unwrap());
    assert_eq!(claimed, [kept]);
}

#[test]
fn a_claim_takes_what_is_watched_and_of_the_kinds_asked_for() {
    let mut store = in_memory(|store| {
        watched(store, A);
        watched_with(store, B, |link| link.source.kind = "codex-jsonl".into());
        store.save_upstream(&adopted(C)).unwrap();
        save_cursors(store, vec![mark(W, C), live(W, "agent:main:not-adopted", 0, 0)]);
    });
    assert_eq!(would_claim(&mut store, &due()), [A]);
    let asked = |kinds: &[&str]| ClaimRequest {
        kinds: kinds.iter().map(ToString::to_string).collect(),
        ..due()
    };
    assert_eq!(would_claim(&mut store, &asked(&["codex-jsonl"])), [B]);
    assert_eq!(would_claim(&mut store, &asked(&["codex-jsonl", "claude-node"])), [A, B]);
    assert_eq!(would_claim(&mut store, &asked(&["claude", "x\"", ""])), [""; 0]);
    assert_eq!(would_claim(&mut store, &asked(&[])), [""; 0]);
}

#[test]
fn a_claim_leaves_out_what_is_claimed_up_to_the_moment_it_ends() {
    let mut store = in_memory(|store| {
        watched_with(store, A, |link| link.claimed_until = 100_000);
        watched_with(store, B, |link| link.claimed_until = 100_001);
        watched_with(store, C, |link| link.claimed_until = 160_000);
    });
    assert_eq!(would_claim(&mut store, &due()), [A]);
    let all = ClaimRequest { claimed_too: true, ..due() };
    assert_eq!(would_claim(&mut store, &all), [A, B, C]);
    write(&mut store, |store| store.claim(&due()).unwrap());
    assert_eq!(would_claim(&mut store, &due()), [""; 0]);
    let later = ClaimRequest { now: 160_000, until: 220_000, ..due() };
    assert_eq!(would_claim(&mut store, &later), [A, B, C]);
}

#[test]
fn a_claim_by_a_clock_that_was_ahead_counts_for_nothing() {
    let mut store = in_memory(|store| {
        watched_with(store, A, |link| link.claimed_until = 160_001);
        watched_with(store, B, |link| link.claimed_until = (1 << 53) - 1);
    });
    assert_eq!(would_claim(&mut store, &due()), [A, B]);
}

#[test]
fn a_claim_leaves_out_sessions_with_a_running_turn_even_if_it_takes_claimed_ones() {
    let mut store = in_memory(|store| {
        for (key, running_until) in [(A, 100_000), (B, 100_001), (C, (1 << 53) - 1)] {
            watched(store, key);
            let turns = Some(OwnTurns { running_until, ..turns() });
            store.save_upstream(&Upstream { turns, ..adopted(key) }).unwrap();
        }
    });
    assert_eq!(would_claim(&mut store, &due()), [A]);
    let all = ClaimRequest { claimed_too: true, ..due() };
    assert_eq!(would_claim(&mut store, &all), [A]);
}

#[test]
fn claims_go_by_key_then_agent_and_take_no_more_than_asked() {
    let mut store = in_memory(|store| {
        for (key, agent) in [(B, "main"), ("global", "b"), ("global", "a"), ("GLOBAL", "z")] {
            let target = Session { key: key.into(), agent: agent.into() };
            store.save_upstream(&Upstream { session: target.clone(), ..adopted(key) }).unwrap();
            let pair = Pair { watcher: W.into(), target };
            save_cursors(store, vec![Cursor { pair, ..live(W, key, 0, 0) }]);
        }
    });
    let mut rounds = Vec::new();
    for limit in [0, 3, 3, 3] {
        let some = ClaimRequest { limit, ..due() };
        let claimed = write(&mut store, |store| store.claim(&some).unwrap());
        rounds.push(claimed.into_iter().map(|one| one.session).collect::<Vec<_>>());
    }
    let named = |key: &str, agent: &str| Session { key: key.into(), agent: agent.into() };
    let first = vec![named("GLOBAL", "z"), session(B), named("global", "a")];
    assert_eq!(rounds, [vec![], first, vec![named("global", "b")], vec![]]);
}

#[test]
fn of_several_processes_one_claims_a_link() {
    let (_folder, options) = on_disk();
    write(&mut Store::open(&options).unwrap(), |store| {
        for n in 0..50 {
            watched(store, &format!("agent:main:s{n}"));
        }
    });
    let some = ClaimRequest { limit: 7, ..due() };
    let mut claimed: Vec<String> = std::thread::scope(|scope| {
        let claimers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut store = Store::open(&options).unwrap();
                    let mut claimed = Vec::new();
                    loop {
                        let round = write(&mut store, |store| store.claim(&some).unwrap());
                        if round.is_empty() {
                            return claimed;
                        }
                        claimed.extend(round.into_iter().map(|one| one.session.key));
                    }
                })
            })
            .collect();
        claimers.into_iter().flat_map(|claimer| claimer.join().unwrap()).collect()
    });
    assert_eq!(claimed.len(), 50);
    claimed.sort();
    claimed.dedup();
    assert_eq!(claimed.len(), 50);
}

#[test]
fn the_next_claim_is_due_when_the_first_one_ends_of_what_is_watched_and_of_these_kinds() {
    in_memory(|store| {
        assert_eq!(store.next_claim(&kinds()).unwrap(), None);
        store.save_upstream(&adopted(C)).unwrap();
        watched_with(store, "agent:main:d", |link| link.source.kind = "codex-jsonl".into());
        assert_eq!(store.next_claim(&kinds()).unwrap(), None);
        watched_with(store, A, |link| link.claimed_until = 500);
        watched_with(store, B, |link| link.claimed_until = 400);
        assert_eq!(store.next_claim(&kinds()).unwrap(), Some(400));
        assert_eq!(store.next_claim(&[]).unwrap(), None);
        store.reset(W).unwrap();
        assert_eq!(store.next_claim(&kinds()).unwrap(), None);
        save_cursors(store, vec![live(W, A, 0, 0), live(W, C, 0, 0)]);
        assert_eq!(store.next_claim(&kinds()).unwrap(), Some(0));
    });
}

#[test]
fn sessions_with_a_link_are_listed_in_pages_by_key_then_agent() {
    in_memory(|store| {
        let named = |key: &str, agent: &str| Session { key: key.into(), agent: agent.into() };
        let sessions = [session(A), session(B), named("global", "a"), named("global", "b")];
        for session in sessions.iter().rev() {
            let saved = Upstream { session: session.clone(), ..adopted(A) };
            store.save_upstream(&saved).unwrap();
        }
        let turns_alone = Upstream { link: None, ..adopted(C) };
        store.save_upstream(&turns_alone).unwrap();
        let mut after = None;
        let mut pages = Vec::new();
        loop {
            let page = store.upstreams(after.as_ref(), 3).unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.session.clone());
            pages.push(page.len());
            let expected = &sessions[pages.iter().sum::<usize>() - page.len()..];
            for (found, session) in page.iter().zip(expected) {
                assert_eq!(*found, Upstream { session: session.clone(), ..adopted(A) });
            }
        }
        assert_eq!(pages, [3, 1]);
        assert_eq!(store.upstreams(Some(&session("agent:main:aa")), 1).unwrap()[0].session.key, B);
        assert_eq!(store.upstreams(None, 0).unwrap(), []);
    });
}

#[test]
fn a_link_or_own_turns_that_break_the_contract_are_corrupt_and_not_quoted() {
    let breaks = [
        "UPDATE session_upstream_links SET generation = -1",
        "UPDATE session_upstream_links SET checked_at = -1",
        "UPDATE session_upstream_links SET rotations = 1 << 32",
        "UPDATE session_upstream_links SET catalog = CAST(x'736563726574ff' AS TEXT)",
        "UPDATE headsup_own_turns SET sent_json = '[\"secret\"'",
        "UPDATE headsup_own_turns SET sent_json = '{\"secret\":1}'",
        "UPDATE headsup_own_turns SET moved_at = -1",
    ];
    for sql in breaks {
        let mut store = in_memory(|store| {
            store.save_upstream(&adopted(A)).unwrap();
            let unchecked = format!("PRAGMA ignore_check_constraints = 1; {sql};");
            store.connection.execute_batch(&unchecked).unwrap();
        });
        let failure = read(&mut store, |store| store.upstream_of(&session(A)).unwrap_err());
        assert_eq!(failure.fault, StorageFault::Corrupt, "{sql}");
        assert!(!failure.message.contains("secret"), "{}", failure.message);
        assert!(failure.message.contains("headsup doctor"), "{}", failure.message);
    }
}
