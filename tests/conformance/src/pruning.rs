//! `prune`: what is due and what stays, in batches, and the watermarks.

use alloc::format;
use alloc::vec::Vec;

use crate::contract::{Cursor, Head, PruneRequest, Pruning, Upstream};
use crate::material::{
    A, B, C, NOTHING_DUE, W, X, adopted, at, entry, head, live, mark, pair, session, unlinked,
};
use crate::play::{Case, Played, reads, writes};
use crate::trial::{Trial, Verb};

const SUBJECT: &str = "pruning";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "Rows go that occurred strictly before the cutoff.",
        steps: &[writes(record_six), writes(prune_by_age), reads(see_after_age)],
    },
    Case {
        subject: SUBJECT,
        rule: "Before rows go, each session's watermark rises to the highest that does; versions \
            stay.",
        steps: &[writes(record_six), writes(prune_by_age), reads(see_watermarks)],
    },
    Case {
        subject: SUBJECT,
        rule: "A watermark never sinks, also where a row goes that was recorded before one that went.",
        steps: &[writes(record_six), writes(prune_newest_first), reads(see_highest_watermark)],
    },
    Case {
        subject: SUBJECT,
        rule: "`keep-rows` keeps the newest of the whole store.",
        steps: &[
            writes(record_six),
            writes(prune_by_count),
            reads(see_two_newest),
            writes(prune_nothing),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "At most `at-most` rows go, oldest sequence first, and `more` says whether more \
            are due.",
        steps: &[
            writes(record_six),
            writes(prune_batch),
            reads(see_first_batch),
            writes(prune_rest),
            reads(see_all_batches),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "What is not due stays, and an absent bound makes nothing due.",
        steps: &[
            writes(record_six),
            writes(watch_and_adopt),
            writes(prune_nothing),
            reads(see_all),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "A cursor or mark expires if its own and its target head's last move are both \
            strictly before the cutoff.",
        steps: &[writes(watch_at_times), writes(expire), reads(see_unexpired)],
    },
    Case {
        subject: SUBJECT,
        rule: "A tombstone goes that moved strictly before the cutoff; the heads of living \
            sessions stay.",
        steps: &[
            writes(delete_at_40),
            writes(prune_before_40),
            reads(see_tombstone),
            writes(prune_before_41),
            reads(see_no_tombstone),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "What gateways sent goes if it moved strictly before the cutoff; links stay.",
        steps: &[writes(adopt_at_times), writes(prune_before_50), reads(see_sent)],
    },
];

/// Row n of six occurred at 1,000 n, alternating between two sessions.
fn record_six(t: &mut Trial) -> Played {
    for number in 1..=6 {
        let key = if number % 2 == 1 { A } else { B };
        let sequence = t.record(at(key, number * 1_000))?;
        t.note(&format!("row.{number}"), sequence)?;
    }
    Ok(())
}

/// Which of the six are left.
fn left(t: &mut Trial) -> Verb<Vec<u64>> {
    let mut left = Vec::new();
    for key in [A, B] {
        left.extend(t.history(&session(key), 0, 100)?.rows);
    }
    left.sort_by_key(|row| row.sequence);
    Ok(left.iter().map(|row| row.entry.occurred_at / 1_000).collect())
}

fn pruned(events: u32, more: bool) -> Pruning {
    Pruning { events, cursors: 0, more }
}

fn prune_by_age(t: &mut Trial) -> Played {
    let was = t.prune(PruneRequest { occurred_before: Some(4_000), ..NOTHING_DUE })?;
    t.must_be(
        "`prune` of what occurred before 4,000, of rows at 1,000 to 6,000",
        &was,
        &pruned(3, false),
    );
    Ok(())
}

fn see_after_age(t: &mut Trial) -> Played {
    let was = left(t)?;
    t.must_be("the rows left of 1 to 6 after a prune of what occurred before 4", &was, &[4, 5, 6]);
    Ok(())
}

fn see_watermarks(t: &mut Trial) -> Played {
    for (key, highest, version) in [(A, "row.3", "row.5"), (B, "row.2", "row.6")] {
        let must = Some((t.noted(highest)?, t.noted(version)?));
        let was = t.head(&session(key))?.map(|head| (head.watermark, head.version));
        t.must_be(
            "watermark and version of a head whose session lost rows: the highest that \
            went, and as before",
            &was,
            &must,
        );
    }
    Ok(())
}

/// The last row of the session occurred first and goes first, the first one goes next.
fn prune_newest_first(t: &mut Trial) -> Played {
    let sequence = t.record(at(A, 0))?;
    t.note("row.7", sequence)?;
    for before in [1, 1_001] {
        let was = t.prune(PruneRequest { occurred_before: Some(before), ..NOTHING_DUE })?;
        t.must_be("`prune` of one row", &was, &pruned(1, false));
    }
    Ok(())
}

fn see_highest_watermark(t: &mut Trial) -> Played {
    let must = Some(t.noted("row.7")?);
    let was = t.head(&session(A))?.map(|head| head.watermark);
    t.must_be("the watermark after the last recorded row went, and then the first", &was, &must);
    Ok(())
}

fn prune_by_count(t: &mut Trial) -> Played {
    let was = t.prune(PruneRequest { keep_rows: 2, ..NOTHING_DUE })?;
    t.must_be("`prune` that keeps 2 of 6 rows", &was, &pruned(4, false));
    let was = t.prune(PruneRequest { keep_rows: 2, ..NOTHING_DUE })?;
    t.must_be("the same again", &was, &pruned(0, false));
    Ok(())
}

fn see_two_newest(t: &mut Trial) -> Played {
    let was = left(t)?;
    t.must_be("the rows left of 1 to 6 after a prune that keeps 2", &was, &[5, 6]);
    Ok(())
}

/// The last row occurred first. Due are 1, 2 and the last by age, 1 to 3 by count.
const BATCH: PruneRequest =
    PruneRequest { occurred_before: Some(3_000), keep_rows: 4, moved_before: None, at_most: 2 };

fn prune_batch(t: &mut Trial) -> Played {
    let sequence = t.record(at(A, 0))?;
    t.note("row.7", sequence)?;
    let was = t.prune(BATCH)?;
    t.must_be("`prune` of at most 2 rows where 4 are due", &was, &pruned(2, true));
    Ok(())
}

fn see_first_batch(t: &mut Trial) -> Played {
    let was = left(t)?;
    t.must_be(
        "the rows left after it, the last recorded of which occurred first",
        &was,
        &[3, 4, 5, 6, 0],
    );
    let must = Some(t.noted("row.1")?);
    let was = t.head(&session(A))?.map(|head| head.watermark);
    t.must_be("the watermark of a session of which one row went", &was, &must);
    Ok(())
}

fn prune_rest(t: &mut Trial) -> Played {
    let was = t.prune(PruneRequest { at_most: 0, ..BATCH })?;
    t.must_be("`prune` of at most 0 rows where 2 are due", &was, &pruned(0, true));
    let was = t.prune(BATCH)?;
    t.must_be("`prune` of at most 2 rows where 2 are due", &was, &pruned(2, false));
    Ok(())
}

fn see_all_batches(t: &mut Trial) -> Played {
    let was = left(t)?;
    t.must_be("the rows left after both", &was, &[4, 5, 6]);
    let must = Some(t.noted("row.7")?);
    let was = t.head(&session(A))?.map(|head| head.watermark);
    t.must_be("the watermark of the session whose newest row occurred first and went", &was, &must);
    Ok(())
}

fn watch_and_adopt(t: &mut Trial) -> Played {
    t.save_cursors(&[live(W, A, 0, 1), mark(W, B)])?;
    t.save_upstream(&adopted(A), 1_000)
}

fn prune_nothing(t: &mut Trial) -> Played {
    let on_the_line = PruneRequest {
        occurred_before: Some(1_000),
        moved_before: Some(1_000),
        keep_rows: 6,
        ..NOTHING_DUE
    };
    for request in [NOTHING_DUE, on_the_line] {
        let was = t.prune(request)?;
        t.must_be(&format!("`prune` where nothing is due: {request:?}"), &was, &pruned(0, false));
    }
    Ok(())
}

fn see_all(t: &mut Trial) -> Played {
    let was = left(t)?;
    t.must_be("the rows left after prunes with nothing due", &was, &[1, 2, 3, 4, 5, 6]);
    let was = t.between(&[pair(W, A), pair(W, B)])?;
    t.must_be("a cursor and a mark", &was, &[Some(live(W, A, 0, 1)), Some(mark(W, B))]);
    let was = t.upstream_of(&session(A))?;
    t.must_be("what is kept of a source", &was, &Upstream { watched: true, ..adopted(A) });
    Ok(())
}

/// What expires at 50, and whether it does.
fn at_times() -> [(Cursor, bool); 7] {
    let moved = |moved_at, cursor: Cursor| Cursor { moved_at, ..cursor };
    [
        (moved(10, live("agent:main:both-old", A, 0, 1)), true),
        (moved(90, live("agent:main:moved", A, 0, 1)), false),
        (moved(10, live("agent:main:target-moved", B, 0, 0)), false),
        (moved(10, live("agent:main:target-on-the-line", "agent:main:d", 0, 0)), false),
        (moved(10, mark("agent:main:old-mark", A)), true),
        (moved(49, live("agent:main:no-head", C, 0, 0)), true),
        (moved(50, live("agent:main:on-the-line", C, 0, 0)), false),
    ]
}

fn watch_at_times(t: &mut Trial) -> Played {
    for (key, moved_at) in [(A, 10), (B, 90), ("agent:main:d", 50)] {
        t.save_heads(&[(session(key), Head { moved_at, ..head(1) })])?;
    }
    t.save_cursors(&at_times().map(|(cursor, _)| cursor))
}

fn expire(t: &mut Trial) -> Played {
    let was = t.prune(PruneRequest { moved_before: Some(50), ..NOTHING_DUE })?;
    t.must_be(
        "`prune` of what moved before 50, of cursors and marks of which three are due",
        &was,
        &Pruning { events: 0, cursors: 3, more: false },
    );
    Ok(())
}

fn see_unexpired(t: &mut Trial) -> Played {
    for (cursor, expires) in at_times() {
        let was = t.between(core::slice::from_ref(&cursor.pair))?;
        let asked = format!("`{}` after a prune of what moved before 50", cursor.pair.watcher);
        t.must_be(&asked, &was, &[(!expires).then_some(cursor)]);
    }
    Ok(())
}

fn delete_at_40(t: &mut Trial) -> Played {
    let version = t.record(entry(A))?;
    t.note("deleted", version)?;
    let version = t.record(entry(B))?;
    t.note("living", version)?;
    t.delete(&session(A), 40)?;
    // It moved long ago as well, and a watcher of the deleted session keeps it not.
    t.save_heads(&[(session(B), Head { moved_at: 10, ..head(version) })])
}

fn prune_before_40(t: &mut Trial) -> Played {
    t.prune(PruneRequest { moved_before: Some(40), ..NOTHING_DUE })?;
    Ok(())
}

fn see_tombstone(t: &mut Trial) -> Played {
    let watermark = t.noted("deleted")?;
    let was = t.head(&session(A))?;
    let must = Head { version: 0, watermark, notifying: None, moved_at: 40 };
    t.must_be("a tombstone of 40 after a prune of what moved before 40", &was, &Some(must));
    Ok(())
}

fn prune_before_41(t: &mut Trial) -> Played {
    t.prune(PruneRequest { moved_before: Some(41), ..NOTHING_DUE })?;
    Ok(())
}

fn see_no_tombstone(t: &mut Trial) -> Played {
    let version = t.noted("living")?;
    let was = t.heads(&[session(A), session(B)])?;
    let must = [None, Some(Head { moved_at: 10, ..head(version) })];
    t.must_be(
        "a tombstone of 40 and a head of 10 after a prune of what moved before 41",
        &was,
        &must,
    );
    Ok(())
}

fn adopt_at_times(t: &mut Trial) -> Played {
    t.save_upstream(&adopted(A), 49)?;
    t.save_upstream(&adopted(B), 50)?;
    t.save_upstream(&Upstream { link: None, ..adopted(X) }, 49)
}

fn prune_before_50(t: &mut Trial) -> Played {
    t.prune(PruneRequest { moved_before: Some(50), ..NOTHING_DUE })?;
    Ok(())
}

fn see_sent(t: &mut Trial) -> Played {
    let link_alone = Upstream { link: adopted(A).link, ..unlinked(session(A)) };
    for must in [link_alone, adopted(B), unlinked(session(X))] {
        let was = t.upstream_of(&must.session)?;
        t.must_be(
            "what is kept of a source after a prune of what moved before 50: of 49 with a \
            link, of 50, of 49 without",
            &was,
            &must,
        );
    }
    Ok(())
}
