//! What must not grow with the store: each operation is measured on a small store, then on the same
//! store once it is large, by the host's own count of work, or else by the clock.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::contract::{
    AppendOutcome, AppendRequest, ClaimRequest, Cursor, CursorQuery, rival, wall_clock,
};
use crate::material::{A, B, C, MOST, W, due, keyed, linked, live, mark, pair, request, session};
use crate::play::{Case, Played, writes};
use crate::trial::{Trial, Verb};

const SUBJECT: &str = "cost";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "Appending and paging go by index: they cost the same in a long log.",
        steps: &[
            writes(begin_log),
            writes(measure_log),
            writes(lengthen_log),
            writes(lengthen_log),
            writes(add_other_logs),
            writes(measure_log_again),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "The cost of `append` does not depend on watchers that have an open notice, nor on \
            marks.",
        steps: &[
            writes(begin_watchers),
            writes(measure_watched),
            writes(add_watchers),
            writes(measure_watched_again),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "Lists, pairs and heads go by index: the cost follows what is returned.",
        steps: &[
            writes(begin_lists),
            writes(measure_lists),
            writes(add_cursors),
            writes(measure_lists_again),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "Claiming costs by links, not by cursors: whether a session is watched is looked \
            up by index.",
        steps: &[
            writes(begin_sources),
            writes(measure_sources),
            writes(add_cursors),
            writes(measure_sources_again),
        ],
    },
];

/// An operation, told in words; `phase` makes its dedupe keys its own.
type Measured = (&'static str, fn(&mut Trial, &str) -> Verb<()>);

/// By the host's count: so many times what it cost on the small store, and so much more whatever it
/// cost. Reading through a thousand rows is far beyond both.
const WORK_FACTOR: u64 = 4;
const WORK_SLACK: u64 = 200;

/// By the clock, in ns: machines have other work to do.
const TIME_FACTOR: u64 = 8;
const TIME_SLACK: u64 = 1_000_000;

/// By the clock an operation is repeated so often, so many times over; the fastest round counts.
const REPEATED: u64 = 20;
const ROUNDS: usize = 5;

fn now_ns() -> u64 {
    let now = wall_clock::now();
    now.seconds.wrapping_mul(1_000_000_000).wrapping_add(now.nanoseconds.into())
}

/// What an operation costs, and whether that is by the host's count.
fn cost(t: &mut Trial, phase: &str, run: fn(&mut Trial, &str) -> Verb<()>) -> Verb<(u64, bool)> {
    // The first time prepares what is prepared once.
    run(t, phase)?;
    if let Some(before) = rival::effort() {
        run(t, phase)?;
        let after = rival::effort().unwrap_or(before);
        return Ok((after.saturating_sub(before), true));
    }
    let mut fastest = u64::MAX;
    for _ in 0..ROUNDS {
        let before = now_ns();
        for _ in 0..REPEATED {
            run(t, phase)?;
        }
        fastest = fastest.min(now_ns().saturating_sub(before) / REPEATED);
    }
    Ok((fastest, false))
}

fn measure(t: &mut Trial, operations: &[Measured]) -> Played {
    for (name, run) in operations {
        let (cost, _) = cost(t, "small", *run)?;
        t.note(name, cost)?;
    }
    Ok(())
}

fn measure_again(t: &mut Trial, operations: &[Measured]) -> Played {
    for (name, run) in operations {
        let small = t.noted(name)?;
        let (large, is_work) = cost(t, "large", *run)?;
        if large == 0 && small == 0 {
            let what = if is_work { "the host counts no work" } else { "the clock stands" };
            t.unexamined(&format!("the cost of {name}: {what}"));
            continue;
        }
        let (factor, slack) =
            if is_work { (WORK_FACTOR, WORK_SLACK) } else { (TIME_FACTOR, TIME_SLACK) };
        let bound = factor * small + slack;
        let unit = if is_work { "by the host's count of work" } else { "ns" };
        let must =
            format!("cost at most {bound} {unit}, as it cost {small} when the store was small");
        t.must(&format!("{name} on a large store"), large <= bound, &must, &large);
    }
    Ok(())
}

// The log.

const SMALL: u64 = 20;

fn begin_log(t: &mut Trial) -> Played {
    lengthen(t, A, SMALL)?;
    t.record(keyed(A, "first"))?;
    Ok(())
}

fn lengthen_log(t: &mut Trial) -> Played {
    lengthen(t, A, 1_000)
}

fn add_other_logs(t: &mut Trial) -> Played {
    for number in 0..100 {
        lengthen(t, &format!("agent:main:other{number}"), 5)?;
    }
    Ok(())
}

/// Appends so many rows with dedupe keys of their own: they begin with the version before.
fn lengthen(t: &mut Trial, key: &str, rows: u64) -> Played {
    let before = t.head(&session(key))?.map_or(0, |head| head.version);
    let mut last = before;
    for number in 0..rows {
        last = t.appended(&request(keyed(key, &format!("{before}.{number}"))))?.sequence;
    }
    t.save_heads(&[(session(key), crate::material::head(last))])
}

const LOG: [Measured; 5] = [
    ("append", |t, phase| {
        let number = t.serial();
        t.appended(&request(keyed(A, &format!("{phase}.{number}")))).map(drop)
    }),
    ("append.duplicate", |t, _| {
        let was = t.append(&request(keyed(A, "first")))?;
        t.must(
            "`append` of a duplicate",
            matches!(was, AppendOutcome::Duplicate(_)),
            "answer `duplicate`",
            &was,
        );
        Ok(())
    }),
    ("history.first", |t, _| t.history(&session(A), 0, 10).map(drop)),
    ("history.last", |t, _| {
        let head = t.head(&session(A))?.map_or(0, |head| head.version);
        t.history(&session(A), head.saturating_sub(5), 10).map(drop)
    }),
    ("history.of-nothing", |t, _| t.history(&session("agent:main:nothing"), 0, 10).map(drop)),
];

fn measure_log(t: &mut Trial) -> Played {
    measure(t, &LOG)
}

fn measure_log_again(t: &mut Trial) -> Played {
    measure_again(t, &LOG)
}

// Watchers of one session.

fn begin_watchers(t: &mut Trial) -> Played {
    for number in 0..3 {
        let watcher = format!("agent:main:settled{number}");
        t.save_cursors(&[live(&watcher, A, 0, 0)])?;
    }
    t.save_cursors(&[live(W, A, 0, 9), mark(W, B)])
}

fn add_watchers(t: &mut Trial) -> Played {
    let watcher = |number: u64| format!("agent:main:w{number}");
    for thousand in 0..2 {
        let numbers = || thousand * 1_000..(thousand + 1) * 1_000;
        let pending: Vec<Cursor> =
            numbers().map(|number| live(&watcher(number), A, 0, 9)).collect();
        let marks: Vec<Cursor> = numbers().map(|number| mark(&watcher(number), B)).collect();
        t.save_cursors(&pending)?;
        t.save_cursors(&marks)?;
    }
    Ok(())
}

const WATCHED: [Measured; 3] = [
    ("append.settled", |t, phase| {
        let number = t.serial();
        let entry = keyed(A, &format!("{phase}.{number}"));
        let was =
            t.appended(&AppendRequest { settled: true, only_if_watched: true, ..request(entry) })?;
        t.must_be("how many settled cursors `append` returns", &was.cursors.len(), &3);
        Ok(())
    }),
    ("append.named", |t, phase| {
        let number = t.serial();
        let entry = keyed(A, &format!("named.{phase}.{number}"));
        let was =
            t.appended(&AppendRequest { named: Vec::from([W.to_string()]), ..request(entry) })?;
        t.must_be("how many named cursors `append` returns", &was.cursors.len(), &1);
        Ok(())
    }),
    ("append.unwatched", |t, _| {
        let was =
            t.append(&AppendRequest { only_if_watched: true, ..request(keyed(B, "never")) })?;
        t.must_be(
            "`append` only if watched, where there are only marks",
            &was,
            &AppendOutcome::Unwatched,
        );
        Ok(())
    }),
];

fn measure_watched(t: &mut Trial) -> Played {
    measure(t, &WATCHED)
}

fn measure_watched_again(t: &mut Trial) -> Played {
    measure_again(t, &WATCHED)
}

// Lists.

fn target(number: u64) -> String {
    format!("agent:main:t{number:04}")
}

/// A watcher with three cursors, one of which is open; a target that three watch.
fn begin_lists(t: &mut Trial) -> Played {
    t.save_cursors(&[live(W, A, 0, 0), live(W, B, 0, 9), live(W, C, 0, 0)])?;
    for number in 0..3 {
        t.save_cursors(&[live(&format!("agent:main:v{number}"), A, 0, 0)])?;
    }
    t.save_heads(&[(session(A), crate::material::head(9))])
}

/// The watcher gets many more that are settled, others get many, and the target many marks.
fn add_cursors(t: &mut Trial) -> Played {
    let others = |number: u64| format!("agent:main:other{number:04}");
    let own: Vec<Cursor> = (0..1_000).map(|number| live(W, &target(number), 0, 0)).collect();
    let apart: Vec<Cursor> =
        (0..1_000).map(|number| live(&others(number), &target(number), 0, 0)).collect();
    let marks: Vec<Cursor> = (0..1_000).map(|number| mark(&others(number), A)).collect();
    for cursors in [own, apart, marks] {
        t.save_cursors(&cursors)?;
    }
    let heads: Vec<_> =
        (0..1_000).map(|number| (session(&target(number)), crate::material::head(9))).collect();
    t.save_heads(&heads)
}

const LISTS: [Measured; 7] = [
    ("cursors.of-watcher", |t, _| {
        t.cursors(&CursorQuery::OfWatcher(W.to_string()), None, 3).map(drop)
    }),
    ("cursors.after", |t, _| {
        let after = pair(W, B);
        t.cursors(&CursorQuery::OfWatcher(W.to_string()), Some(&after), 1).map(drop)
    }),
    ("cursors.on-target", |t, _| t.cursors(&CursorQuery::OnTarget(session(A)), None, 10).map(drop)),
    ("cursors.open-of", |t, _| t.cursors(&CursorQuery::OpenOf(W.to_string()), None, 10).map(drop)),
    ("cursors.open", |t, _| t.cursors(&CursorQuery::Open, None, 10).map(drop)),
    ("pairs", |t, _| t.pairs(&[pair(W, A), pair(W, "agent:main:never")]).map(drop)),
    ("heads", |t, _| t.heads(&[session(A), session("agent:main:never")]).map(drop)),
];

fn measure_lists(t: &mut Trial) -> Played {
    measure(t, &LISTS)
}

fn measure_lists_again(t: &mut Trial) -> Played {
    measure_again(t, &LISTS)
}

// Sources.

fn begin_sources(t: &mut Trial) -> Played {
    for key in [A, B, C] {
        t.save_upstream(&linked(key), 0)?;
        t.save_cursors(&[live(W, key, 0, 0)])?;
    }
    Ok(())
}

const SOURCES: [Measured; 2] = [
    ("claim", |t, _| {
        let request = ClaimRequest { claimed_too: true, running_at_most: MOST, ..due() };
        let was = t.claim(&request)?.len();
        t.must_be("how many links `claim` takes", &was, &3);
        Ok(())
    }),
    ("upstream-of", |t, _| t.upstream_of(&session(A)).map(drop)),
];

fn measure_sources(t: &mut Trial) -> Played {
    measure(t, &SOURCES)
}

fn measure_sources_again(t: &mut Trial) -> Played {
    measure_again(t, &SOURCES)
}
