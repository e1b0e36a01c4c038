//! `reset` and `delete`.

use alloc::vec::Vec;

use crate::contract::{Cursor, Entry, Head, Pair, Removal, Upstream};
use crate::material::{A, B, C, W, X, adopted, entry, live, mark, of_agent, on, session, unlinked};
use crate::play::{Case, Played, reads, writes};
use crate::trial::Trial;

const SUBJECT: &str = "removal";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "`reset` removes the live cursors that a session holds as watcher and counts them; \
            its marks, the cursors on it, its log and its link stay.",
        steps: &[writes(fill), writes(reset), reads(see_after_reset)],
    },
    Case {
        subject: SUBJECT,
        rule: "`delete` removes the log of exactly that session, and what is kept of its source.",
        steps: &[writes(fill), writes(delete), reads(see_no_log_nor_link)],
    },
    Case {
        subject: SUBJECT,
        rule: "`delete` removes every cursor and mark with exactly that session on either side, \
            and counts the live ones.",
        steps: &[writes(fill), writes(delete), reads(see_no_cursors)],
    },
    Case {
        subject: SUBJECT,
        rule: "`delete` leaves a tombstone: version 0, no notifying event, the watermark raised \
            to the version, moved at `now`.",
        steps: &[
            writes(fill),
            writes(delete),
            reads(see_tombstone),
            writes(delete_again),
            reads(see_newer_tombstone).reopened(),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "`delete` of a session without a head leaves none.",
        steps: &[writes(delete_unknown), reads(see_no_head)],
    },
];

fn namesake() -> crate::contract::Session {
    of_agent(A, "other")
}

/// Cursors with the session on either side, and the count of the live ones.
fn with_a() -> [Cursor; 5] {
    [live(W, A, 0, 2), live(X, A, 3, 3), mark(C, A), live(A, B, 0, 0), mark(A, W)]
}

/// Cursors that only look like it.
fn without_a() -> [Cursor; 5] {
    [
        live(W, B, 0, 2),
        mark(X, B),
        on(W, namesake(), 0, 0),
        live("agent:main:a:b", B, 0, 0),
        live(W, "agent:main:A", 0, 0),
    ]
}

fn pairs(cursors: &[Cursor]) -> Vec<Pair> {
    cursors.iter().map(|cursor| cursor.pair.clone()).collect()
}

fn fill(t: &mut Trial) -> Played {
    t.record(entry(A))?;
    t.record(entry(B))?;
    let last = t.record(entry(A))?;
    t.note("version", last)?;
    t.record(Entry { session: namesake(), ..entry(A) })?;
    t.save_cursors(&with_a())?;
    t.save_cursors(&without_a())?;
    t.save_upstream(&adopted(A), 1_000)?;
    t.save_upstream(&adopted(B), 1_000)?;
    t.save_upstream(&Upstream { session: namesake(), ..adopted(A) }, 1_000)
}

fn reset(t: &mut Trial) -> Played {
    for (must, again) in [(1, "the first time"), (0, "again")] {
        let was = t.reset(A)?;
        t.must_be(
            &alloc::format!("`reset` {again} of a session that watches one and holds a mark"),
            &was,
            &must,
        );
    }
    let was = t.reset("agent:main:nobody")?;
    t.must_be("`reset` of a session that watches nothing", &was, &0);
    Ok(())
}

fn see_after_reset(t: &mut Trial) -> Played {
    let was = t.between(&pairs(&with_a()))?;
    let must: Vec<_> =
        with_a().into_iter().enumerate().map(|(at, cursor)| (at != 3).then_some(cursor)).collect();
    t.must_be(
        "two watchers and a mark on a session, what it watched and its own mark, after its `reset`",
        &was,
        &must,
    );
    see_others(t)?;
    let rows = t.numbers(&session(A), 0, 100)?.len();
    let link = t.upstream_of(&session(A))?.link;
    t.must(
        "its log and its link",
        (rows, link.is_some()) == (2, true),
        "stay: 2 rows and a link",
        &(rows, link),
    );
    Ok(())
}

fn see_others(t: &mut Trial) -> Played {
    let was = t.between(&pairs(&without_a()))?;
    let must: Vec<_> = without_a().into_iter().map(Some).collect();
    t.must_be(
        "cursors and marks of others, of the same key under another agent among them",
        &was,
        &must,
    );
    Ok(())
}

fn delete(t: &mut Trial) -> Played {
    let was = t.delete(&session(A), 7_000)?;
    t.must_be(
        "`delete` of a session with two rows, three live cursors and two marks on either side",
        &was,
        &Removal { cursors: 3, events: 2 },
    );
    Ok(())
}

fn see_no_log_nor_link(t: &mut Trial) -> Played {
    let was = t.numbers(&session(A), 0, 100)?;
    t.must_be("the rows of a deleted session", &was, &[0; 0]);
    for (session, must) in [(session(B), 1), (namesake(), 1)] {
        let was = t.numbers(&session, 0, 100)?.len();
        t.must_be(
            "how many rows another session has, of the same key under another agent too",
            &was,
            &must,
        );
        let was = t.upstream_of(&session)?;
        let must = Upstream { session, watched: true, ..adopted(A) };
        t.must_be("what is kept of its source", &was, &must);
    }
    let was = t.upstream_of(&session(A))?;
    t.must_be("what is kept of the source of a deleted session", &was, &unlinked(session(A)));
    Ok(())
}

fn see_no_cursors(t: &mut Trial) -> Played {
    let was = t.between(&pairs(&with_a()))?;
    t.must_be(
        "cursors and marks with a deleted session on either side",
        &was,
        &[None, None, None, None, None],
    );
    see_others(t)
}

fn tombstone(t: &mut Trial, moved_at: u64) -> Result<Head, crate::play::Stop> {
    Ok(Head { version: 0, watermark: t.noted("version")?, notifying: None, moved_at })
}

fn see_tombstone(t: &mut Trial) -> Played {
    let must = tombstone(t, 7_000)?;
    let was = t.head(&session(A))?;
    t.must_be("the head of a session that was deleted at 7,000", &was, &Some(must.clone()));
    let was = t.history(&session(A), 0, 10)?.head;
    t.must_be("the same in `history`", &was, &Some(must));
    let was = t.head(&namesake())?;
    t.must(
        "the head of the same key under another agent",
        was.as_ref().is_some_and(|head| head.version > 0),
        "stay",
        &was,
    );
    Ok(())
}

fn delete_again(t: &mut Trial) -> Played {
    let was = t.delete(&session(A), 8_000)?;
    t.must_be("`delete` of a deleted session", &was, &Removal { cursors: 0, events: 0 });
    Ok(())
}

fn see_newer_tombstone(t: &mut Trial) -> Played {
    let must = tombstone(t, 8_000)?;
    let was = t.head(&session(A))?;
    t.must_be("the head of a session that was deleted again at 8,000", &was, &Some(must));
    Ok(())
}

fn delete_unknown(t: &mut Trial) -> Played {
    t.record(entry(B))?;
    t.save_cursors(&[live(W, A, 0, 0)])?;
    let was = t.delete(&session(A), 7_000)?;
    t.must_be(
        "`delete` of a session without a head, with one live cursor on it",
        &was,
        &Removal { cursors: 1, events: 0 },
    );
    Ok(())
}

fn see_no_head(t: &mut Trial) -> Played {
    let was = t.head(&session(A))?;
    t.must_be("the head of a session that had none and was deleted", &was, &None);
    Ok(())
}
