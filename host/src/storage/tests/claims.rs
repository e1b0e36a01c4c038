//! `claim`: which links it takes, and what it leaves with them.

use super::upstream::{A, B, C, MOST, W, adopted, due, in_memory, link, nothing, watched_with};
use super::*;
use crate::contract::{ClaimRequest, Link, Upstream};

/// A link of a watched session that nobody has claimed and where no turn runs.
fn watched(store: &mut Store, key: &str) {
    watched_with(store, key, |_| {});
}

/// A link of a watched session that is claimed until then.
fn claimed(store: &mut Store, key: &str, until: i64) {
    watched(store, key);
    let sql = "UPDATE session_upstream_links SET claimed_until = ?1 WHERE session_key = ?2";
    store.connection.execute(sql, rusqlite::params![until, key]).unwrap();
}

/// The keys of what is claimed, which is undone.
fn would_claim(store: &mut Store, request: &ClaimRequest) -> Vec<String> {
    store.begin_write().unwrap();
    let claimed = store.claim(request).unwrap();
    store.rollback();
    claimed.into_iter().map(|upstream| upstream.session.key).collect()
}

/// When it was last claimed, and until when it is.
fn claim_of(store: &Store, key: &str) -> (Option<i64>, i64) {
    let sql = "SELECT checked_at, claimed_until FROM session_upstream_links WHERE session_key = ?1";
    store.connection.query_row(sql, [key], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
}

#[test]
fn a_claim_says_until_when_it_holds_and_when_it_was_made_and_changes_nothing_else() {
    let mut store = in_memory(|store| {
        watched_with(store, A, |upstream| upstream.sent = "0a".into());
        watched(store, B);
        store.delete(&session(B), 0).unwrap();
    });
    let before = read(&mut store, |store| store.upstream_of(&session(A)).unwrap());
    let claimed = write(&mut store, |store| store.claim(&due()).unwrap());
    assert_eq!(claimed, [before]);
    assert_eq!(claim_of(&store, A), (Some(100_000), 160_000));
    assert_eq!(read(&mut store, |store| store.upstream_of(&session(A)).unwrap()), claimed[0]);
}

#[test]
fn what_a_claim_left_with_a_link_stays_while_its_generation_does() {
    let mut store = in_memory(|store| watched(store, A));
    let claimed = write(&mut store, |store| store.claim(&due()).unwrap()).swap_remove(0);
    let fed = Link { revision: 9, state: "{}".into(), ..link() };
    let anew = Link { generation: 4, ..fed.clone() };
    for (link, left) in [(fed, (Some(100_000), 160_000)), (anew, (None, 0))] {
        let upstream = Upstream { link: Some(link), ..claimed.clone() };
        write(&mut store, |store| store.save_upstream(&upstream, 100_001).unwrap());
        assert_eq!(claim_of(&store, A), left);
        assert_eq!(read(&mut store, |store| store.upstream_of(&session(A)).unwrap()), upstream);
    }
}

#[test]
fn a_claim_takes_what_is_watched_and_of_the_kinds_asked_for() {
    let mut store = in_memory(|store| {
        watched(store, A);
        watched_with(store, B, |upstream| {
            upstream.link.as_mut().unwrap().source.kind = "codex-jsonl".into();
        });
        store.save_upstream(&Upstream { running_until: 0, ..adopted(C) }, 0).unwrap();
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
        claimed(store, A, 100_000);
        claimed(store, B, 100_001);
        claimed(store, C, 160_000);
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
        claimed(store, A, 160_001);
        claimed(store, B, (1 << 53) - 1);
    });
    assert_eq!(would_claim(&mut store, &due()), [A, B]);
}

#[test]
fn a_claim_leaves_out_sessions_with_a_running_turn_even_if_it_takes_claimed_ones() {
    let mut store = in_memory(|store| {
        for (key, running_until) in [(A, 100_000), (B, 100_001), (C, 7_300_000)] {
            watched_with(store, key, |upstream| upstream.running_until = running_until);
        }
    });
    assert_eq!(would_claim(&mut store, &due()), [A]);
    let all = ClaimRequest { claimed_too: true, ..due() };
    assert_eq!(would_claim(&mut store, &all), [A]);
}

#[test]
fn a_turn_that_would_run_for_over_two_hours_was_said_by_a_clock_that_was_ahead() {
    let mut store = in_memory(|store| {
        for (key, running_until) in [(A, 7_300_000), (B, 7_300_001), (C, MOST)] {
            watched_with(store, key, |upstream| upstream.running_until = running_until);
        }
    });
    assert_eq!(would_claim(&mut store, &due()), [B, C]);
}

#[test]
fn claims_come_by_key_then_agent() {
    let mut store = in_memory(|store| {
        for (key, agent) in [(B, "main"), ("global", "b"), ("global", "a"), ("GLOBAL", "z")] {
            let target = Session { key: key.into(), agent: agent.into() };
            let upstream = Upstream { link: Some(link()), ..nothing(target.clone()) };
            store.save_upstream(&upstream, 0).unwrap();
            let pair = Pair { watcher: W.into(), target };
            save_cursors(store, vec![Cursor { pair, ..live(W, key, 0, 0) }]);
        }
    });
    let claimed = write(&mut store, |store| store.claim(&due()).unwrap());
    let order: Vec<_> = claimed.into_iter().map(|upstream| upstream.session).collect();
    let named = |key: &str, agent: &str| Session { key: key.into(), agent: agent.into() };
    let expected = [named("GLOBAL", "z"), session(B), named("global", "a"), named("global", "b")];
    assert_eq!(order, expected);
}

#[test]
fn of_several_processes_one_claims_a_link() {
    let (_folder, options) = on_disk();
    write(&mut Store::open(&options).unwrap(), |store| {
        for n in 0..50 {
            watched(store, &format!("agent:main:s{n}"));
        }
    });
    let claimed = std::thread::scope(|scope| {
        let claim = || write(&mut Store::open(&options).unwrap(), |store| store.claim(&due()));
        let claimers = [(); 4].map(|()| scope.spawn(claim));
        claimers.map(|claimer| claimer.join().unwrap().unwrap().len())
    });
    assert_eq!(claimed.iter().sum::<usize>(), 50, "{claimed:?}");
    assert_eq!(claimed.iter().filter(|number| **number > 0).count(), 1, "{claimed:?}");
}
