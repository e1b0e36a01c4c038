//! Every single call on a large store: 50,000 events, 10,000 sessions, 100,000 cursors.

use headsup::{Actor, Awareness, Durability, GoalChange, SessionRef, Signal, Urgency};

use crate::paired::{Contestant, race};
use crate::report::{Report, row, time};
use crate::stores::{Stores, call};

const SESSIONS: usize = 10_000;
const WATCHERS: usize = 1_000;
const WATCHERS_EACH: usize = 10;
const EVENTS_EACH: usize = 5;

const ROUNDS: usize = 25;
const BATCH: u32 = 4;

/// What a call may take beyond its rows, in µs.
const BOUND: f64 = 1_000.0;

/// What a row that is returned or changed may add, in µs.
const ROW: f64 = 20.0;

fn session(at: usize) -> String {
    format!("agent:main:subagent:s{at}")
}

fn watcher(at: usize) -> String {
    format!("agent:main:watcher:{}", at % WATCHERS)
}

/// A call with how many rows it returns or changes.
struct Call<'a> {
    name: &'a str,
    rows: usize,
    contestant: Contestant<'a>,
}

pub fn measure(stores: &Stores, report: &mut Report) {
    let awareness = fill(stores);
    let (calls, contestants): (Vec<_>, Vec<_>) = reads(&awareness)
        .into_iter()
        .chain(writes(&awareness))
        .map(|call| ((call.name, call.rows), call.contestant))
        .unzip();
    let measured = race(ROUNDS, contestants);
    let mut rows = vec![row(&["call", "rows", "time", "time a row"])];
    let mut worst: f64 = 0.0;
    for ((name, count), times) in calls.iter().zip(&measured) {
        let median = times.median();
        worst = worst.max(median - ROW * *count as f64);
        let each = if *count > 1 { time(median / *count as f64) } else { String::new() };
        rows.push(vec![(*name).to_owned(), count.to_string(), time(median), each]);
    }
    report
        .table("A store with 50,000 events, 10,000 sessions, 100,000 cursors (WAL, normal)", &rows);
    let promise = format!("any single call on it, beyond {ROW} µs a row");
    report.at_most(&promise, worst.max(0.0), BOUND, " µs");
    not_promised(&awareness, report);
}

/// Each session is watched by ten of a thousand watchers, and has five events.
fn fill(stores: &Stores) -> Awareness {
    let awareness = stores.open(&stores.path(), Durability::Normal);
    for round in 0..EVENTS_EACH {
        for first in (0..SESSIONS).step_by(1_000) {
            let signals = (first..first + 1_000).map(|at| {
                let mut signal =
                    Signal::goal_changed(session(at), GoalChange::Updated, Actor::human().id("u7"));
                if round == 0 {
                    signal.watchers = (0..WATCHERS_EACH).map(|other| watcher(at + other)).collect();
                }
                signal
            });
            awareness.record_many(signals.collect()).unwrap();
        }
    }
    awareness
}

fn repeated<'a>(name: &'a str, rows: usize, call: impl FnMut() + 'a) -> Call<'a> {
    Call { name, rows, contestant: Contestant::repeating(BATCH, call) }
}

/// Undoes each time, untimed, what the call did.
fn again<'a>(
    name: &'a str,
    rows: usize,
    prepare: impl FnMut(&mut usize) + 'a,
    call: impl FnMut(&mut usize) + 'a,
) -> Call<'a> {
    Call { name, rows, contestant: Contestant::prepared(BATCH, 0, prepare, call) }
}

fn reads(awareness: &Awareness) -> Vec<Call<'_>> {
    let thousand: Vec<SessionRef> = (0..1_000).map(|at| session(at * 7).as_str().into()).collect();
    vec![
        repeated("changes since", EVENTS_EACH, || {
            let delta = awareness.changes_since(session(5_000), 0, None).unwrap();
            assert_eq!(delta.events.len(), EVENTS_EACH);
        }),
        repeated("changes since, nothing new", 0, || {
            let version = awareness.versions([session(5_001)]).unwrap()[0].unwrap();
            let delta = awareness.changes_since(session(5_001), version, None).unwrap();
            assert!(delta.events.is_empty());
        }),
        repeated("versions of one", 1, || {
            assert_eq!(awareness.versions([session(5_002)]).unwrap().len(), 1);
        }),
        repeated("versions of 1,000", 1_000, move || {
            assert_eq!(awareness.versions(thousand.clone()).unwrap().len(), 1_000);
        }),
        repeated("status, as JSON", EVENTS_EACH, || {
            call(
                awareness,
                r#"{"jsonrpc":"2.0","id":1,"method":"status","params":{"session":"agent:main:subagent:s5003","changesSince":0}}"#,
            );
        }),
        repeated("watches of a watcher", 100, || {
            assert_eq!(awareness.watches_of(&watcher(500)).unwrap().len(), 100);
        }),
        repeated("watchers of a session", WATCHERS_EACH, || {
            assert_eq!(awareness.watchers_of(session(5_004)).unwrap().len(), WATCHERS_EACH);
        }),
        repeated("take", 100, || assert_eq!(awareness.take(&watcher(501)).unwrap().len(), 100)),
        repeated("pending, of everybody", 1_000, || {
            assert_eq!(awareness.pending().unwrap().len(), 1_000);
        }),
        repeated("policy", 0, || {
            awareness.policy().unwrap();
        }),
    ]
}

fn writes(awareness: &Awareness) -> Vec<Call<'_>> {
    let goal = |at: usize| Signal::goal_changed(session(at), GoalChange::Updated, Actor::human());
    let lone = "agent:main:lone";
    vec![
        repeated("record, pending", 1, move || crate::stores::record(awareness, goal(6_000))),
        repeated("record, unwatched", 0, || {
            let signal = Signal::human_direct_message("agent:main:nobody", Actor::human());
            assert_eq!(awareness.record(signal).unwrap(), headsup::Recording::Unwatched);
        }),
        repeated("record, duplicate", 0, move || {
            awareness.record(goal(6_001).dedupe_key("once")).unwrap();
        }),
        repeated("watch again", 1, move || {
            awareness.watch(lone, session(6_002), false).unwrap();
        }),
        again(
            "unwatch",
            1,
            move |_| _ = awareness.watch(lone, session(6_003), false).unwrap(),
            move |_| assert!(awareness.unwatch(lone, session(6_003)).unwrap()),
        ),
        again(
            "acknowledge",
            1,
            move |_| {
                awareness.watch(lone, session(6_004), false).unwrap();
                crate::stores::record(awareness, goal(6_004));
            },
            move |_| {
                let taken = awareness.take(lone).unwrap();
                assert!(awareness.acknowledge(lone, &taken).unwrap().acknowledged >= 1);
            },
        ),
        again(
            "drain",
            1,
            move |_| {
                awareness.watch(lone, session(6_005), false).unwrap();
                crate::stores::record(awareness, goal(6_005));
            },
            move |_| assert!(!awareness.drain(lone).unwrap().notices.is_empty()),
        ),
        again(
            "reset",
            1,
            move |_| _ = awareness.watch("agent:main:reset", session(6_006), false).unwrap(),
            move |_| assert_eq!(awareness.reset("agent:main:reset").unwrap().cursors, 1),
        ),
        again(
            "delete",
            EVENTS_EACH + WATCHERS_EACH,
            |_| {},
            move |at| {
                let removal = awareness.delete(session(7_000 + *at)).unwrap();
                assert_eq!(removal.cursors as usize, WATCHERS_EACH);
                *at += 1;
            },
        ),
    ]
}

/// What takes as long as there is to do.
fn not_promised(awareness: &Awareness, report: &mut Report) {
    let once = |call: &mut dyn FnMut() -> usize| {
        let started = std::time::Instant::now();
        let rows = call();
        (rows, crate::paired::micros(started.elapsed()))
    };
    let mut rows = vec![row(&["call", "rows", "time"])];
    for (name, (count, micros)) in [
        (
            "prune, nothing due",
            once(&mut || {
                awareness
                    .prune(Urgency::IfDue)
                    .unwrap()
                    .map_or(0, |pruning| pruning.events as usize)
            }),
        ),
        ("recover", once(&mut || awareness.recover().unwrap().pending as usize)),
    ] {
        rows.push(vec![name.to_owned(), count.to_string(), time(micros)]);
    }
    report.table("The same store: what takes as long as there is to do", &rows);
}
