//! `cursors`: which are listed, in which order, page by page.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::contract::{Cursor, CursorQuery, Pair, Session, Watched};
use crate::material::{head, mark, of_agent, on, session};
use crate::play::{Case, Played, reads, writes};
use crate::trial::Trial;

const SUBJECT: &str = "lists";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "Cursors are listed by watcher, then target key, then target agent, byte by byte.",
        steps: &[writes(crowd), reads(see_order), reads(see_order).reopened()],
    },
    Case {
        subject: SUBJECT,
        rule: "`limit` is the most that is listed.",
        steps: &[writes(crowd), reads(see_limits)],
    },
    Case {
        subject: SUBJECT,
        rule: "`after` is exclusive: pages of any size join to the whole list.",
        steps: &[writes(crowd), reads(see_pages)],
    },
    Case {
        subject: SUBJECT,
        rule: "A list goes on after any pair, also one that is not in it.",
        steps: &[writes(crowd), reads(see_after_others)],
    },
    Case {
        subject: SUBJECT,
        rule: "Marks are in no list.",
        steps: &[writes(crowd), reads(see_no_marks)],
    },
    Case {
        subject: SUBJECT,
        rule: "Each list has the cursors that its query says, with the heads of their targets.",
        steps: &[writes(crowd), reads(see_queries)],
    },
];

/// In order of their bytes: upper case before lower case, a key before those that begin with it,
/// the last two in another order than that of UTF-16.
const WATCHERS: [&str; 4] = ["agent:main:W", "agent:main:w", "agent:main:w:1", "agent:main:\u{e9}"];
const TARGETS: [(&str, &str); 8] = [
    ("agent:main:Z", "main"),
    ("agent:main:a", "main"),
    ("agent:main:a b", "main"),
    ("agent:main:a:b", "main"),
    ("agent:main:\u{ff5e}", "main"),
    ("agent:main:\u{1f600}", "main"),
    ("global", "b"),
    ("global", "b-2"),
];
const MARKED: &str = "agent:main:v";

fn target(number: usize) -> Session {
    let (key, agent) = TARGETS[number];
    of_agent(key, agent)
}

fn is_open(watcher: usize, target: usize) -> bool {
    (watcher + target).is_multiple_of(2)
}

fn cursor(watcher: usize, number: usize) -> Cursor {
    let notified = if is_open(watcher, number) { 9 } else { 5 };
    on(WATCHERS[watcher], target(number), 5, notified)
}

/// Every watcher watches every target; every second notice is open; two marks, and a target without
/// a head.
fn crowd(t: &mut Trial) -> Played {
    for number in (0..TARGETS.len() - 1).rev() {
        t.save_heads(&[(target(number), head(number as u64 + 9))])?;
    }
    for number in [3, 0, 7, 5, 1, 6, 2, 4] {
        for watcher in [2, 0, 3, 1] {
            t.save_cursors(&[cursor(watcher, number)])?;
        }
    }
    t.save_cursors(&[mark(MARKED, "agent:main:a"), mark(WATCHERS[1], "agent:main:marked")])
}

/// What a query has to list, in order.
fn listed(query: &CursorQuery) -> Vec<Watched> {
    let mut all = Vec::new();
    for (w, watcher) in WATCHERS.iter().enumerate() {
        for number in 0..TARGETS.len() {
            let is_listed = match query {
                CursorQuery::OfWatcher(asked) => asked == watcher,
                CursorQuery::OnTarget(asked) => *asked == target(number),
                CursorQuery::OpenOf(asked) => asked == watcher && is_open(w, number),
                CursorQuery::Open => is_open(w, number),
            };
            if is_listed {
                let head = (number < TARGETS.len() - 1).then(|| head(number as u64 + 9));
                all.push(Watched { cursor: cursor(w, number), head });
            }
        }
    }
    all
}

fn queries() -> Vec<CursorQuery> {
    let watcher = || WATCHERS[1].to_string();
    [
        CursorQuery::OfWatcher(watcher()),
        CursorQuery::OnTarget(target(3)),
        CursorQuery::OnTarget(target(6)),
        CursorQuery::OpenOf(watcher()),
        CursorQuery::Open,
    ]
    .to_vec()
}

/// Pairs alone, for the eye.
fn names(watched: &[Watched]) -> Vec<(String, String, String)> {
    let name = |watched: &Watched| {
        let Pair { watcher, target } = watched.cursor.pair.clone();
        (watcher, target.key, target.agent)
    };
    watched.iter().map(name).collect()
}

fn see_order(t: &mut Trial) -> Played {
    for query in queries() {
        let was = t.cursors(&query, None, 1_000)?;
        t.must_be(
            &format!("the order of `cursors` {query:?}"),
            &names(&was),
            &names(&listed(&query)),
        );
    }
    Ok(())
}

fn see_limits(t: &mut Trial) -> Played {
    for query in queries() {
        let all = listed(&query);
        for limit in [0, 1, 3] {
            let was = t.cursors(&query, None, limit)?;
            let must = &all[..(limit as usize).min(all.len())];
            t.must_be(&format!("`cursors` {query:?}, at most {limit}"), &names(&was), &names(must));
        }
        let last_but_one = all[all.len() - 2].cursor.pair.clone();
        let was = t.cursors(&query, Some(&last_but_one), 0)?;
        t.must_be("`cursors` after the last but one, at most 0", &names(&was), &[]);
    }
    Ok(())
}

fn see_pages(t: &mut Trial) -> Played {
    for query in queries() {
        let all = listed(&query);
        for limit in [1, 2, 3, 7] {
            let mut found: Vec<Watched> = Vec::new();
            // One page more than there are.
            for _ in 0..=all.len() / limit as usize + 1 {
                let after = found.last().map(|watched| watched.cursor.pair.clone());
                found.extend(t.cursors(&query, after.as_ref(), limit)?);
            }
            let asked = format!(
                "`cursors` {query:?} in pages of {limit}, each after the last of the one before, \
                    until the end"
            );
            t.must_be(&asked, &names(&found), &names(&all));
        }
    }
    Ok(())
}

fn see_after_others(t: &mut Trial) -> Played {
    let pairs = [
        (WATCHERS[1], session("agent:main:aa")),
        (WATCHERS[1], session("agent:main:0")),
        (WATCHERS[1], of_agent("global", "a")),
        (WATCHERS[1], of_agent("global", "b-1")),
        (WATCHERS[1], session("zzz")),
        (WATCHERS[0], session("zzz")),
        ("agent:main:a", session("agent:main:a")),
        ("agent:main:wa", session("agent:main:a:b")),
        ("agent:main:zz", session("agent:main:0")),
    ];
    for query in queries() {
        for (watcher, target) in &pairs {
            let after = Pair { watcher: (*watcher).to_string(), target: target.clone() };
            let key = (after.watcher.clone(), after.target.key.clone(), after.target.agent.clone());
            let was = t.cursors(&query, Some(&after), 1_000)?;
            let mut must = names(&listed(&query));
            must.retain(|name| *name > key);
            t.must_be(&format!("`cursors` {query:?} after {key:?}"), &names(&was), &must);
        }
    }
    Ok(())
}

fn see_no_marks(t: &mut Trial) -> Played {
    let asked = [
        CursorQuery::OfWatcher(MARKED.to_string()),
        CursorQuery::OnTarget(session("agent:main:marked")),
        CursorQuery::OpenOf(MARKED.to_string()),
    ];
    for query in asked {
        let was = t.cursors(&query, None, 1_000)?;
        t.must_be(&format!("`cursors` {query:?}, where there is only a mark"), &names(&was), &[]);
    }
    for query in queries() {
        let was = t.cursors(&query, None, 1_000)?;
        let marks = was
            .iter()
            .filter(|watched| watched.cursor.state == crate::contract::CursorState::Unwatched)
            .count();
        t.must_be(&format!("the marks in `cursors` {query:?}"), &marks, &0);
    }
    Ok(())
}

fn see_queries(t: &mut Trial) -> Played {
    let nobody = [
        CursorQuery::OfWatcher("agent:main:nobody".to_string()),
        CursorQuery::OnTarget(of_agent("global", "a")),
        CursorQuery::OpenOf("agent:main:nobody".to_string()),
    ];
    for query in queries().into_iter().chain(nobody) {
        let was = t.cursors(&query, None, 1_000)?;
        let must = listed(&query);
        let wrong = was.iter().zip(&must).position(|(was, must)| was != must);
        let first = wrong.map(|at| (&was[at], &must[at]));
        let asked = format!("`cursors` {query:?}");
        let words =
            format!("list {} cursors, each as saved and with its target's head", must.len());
        t.must(
            &asked,
            was.len() == must.len() && wrong.is_none(),
            &words,
            &(was.len(), "the first that differs, and what it must be", first),
        );
    }
    Ok(())
}
