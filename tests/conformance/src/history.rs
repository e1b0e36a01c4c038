//! `history`: the rows of one session, in order, page by page.

use alloc::vec::Vec;

use crate::contract::{Entry, LogPage};
use crate::material::{A, B, MOST, at, entry, of_agent, session};
use crate::play::{Case, Played, reads, writes};
use crate::trial::Trial;

const SUBJECT: &str = "history";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "The rows of a session come back as they were appended, by sequence ascending.",
        steps: &[
            writes(append_to_both),
            reads(see_rows_of_one),
            reads(see_nothing_of_another).reopened(),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "`after` is exclusive and `limit` is the most that comes back.",
        steps: &[writes(append_five), reads(see_pages)],
    },
    Case {
        subject: SUBJECT,
        rule: "The same key under two agents is two sessions.",
        steps: &[writes(append_to_namesakes), reads(see_namesakes)],
    },
    Case {
        subject: SUBJECT,
        rule: "A page carries the session's head, and none where nothing was recorded.",
        steps: &[writes(append_to_both), reads(see_heads)],
    },
    Case {
        subject: SUBJECT,
        rule: "Order is that of sequences, not of the time at which something occurred.",
        steps: &[writes(append_out_of_time), reads(see_order)],
    },
];

fn first() -> Entry {
    Entry { dedupe_key: Some("k".into()), ..entry(A) }
}

fn bare() -> Entry {
    Entry { actor_id: None, session_id: None, run_id: None, payload: None, ..entry(A) }
}

fn append_to_both(t: &mut Trial) -> Played {
    let number = t.record(first())?;
    t.note("first", number)?;
    t.record(entry(B))?;
    let number = t.record(bare())?;
    t.note("second", number)
}

fn rows(page: LogPage) -> Vec<(u64, Entry)> {
    page.rows.into_iter().map(|row| (row.sequence, row.entry)).collect()
}

fn see_rows_of_one(t: &mut Trial) -> Played {
    let must = [(t.noted("first")?, first()), (t.noted("second")?, bare())];
    let page = t.history(&session(A), 0, 100)?;
    t.must_be(
        "appended two rows to a session and one to another, asked for `history` of the first",
        &rows(page),
        &must,
    );
    Ok(())
}

fn see_nothing_of_another(t: &mut Trial) -> Played {
    let page = t.history(&session("agent:main:never"), 0, 100)?;
    t.must_be("`history` of a session of which nothing was recorded", &rows(page), &[]);
    let must = [(t.noted("first")?, first()), (t.noted("second")?, bare())];
    let page = t.history(&session(A), 0, 100)?;
    t.must_be("`history` of a session after the store was opened again", &rows(page), &must);
    Ok(())
}

fn append_five(t: &mut Trial) -> Played {
    for _ in 0..5 {
        t.record(entry(A))?;
        t.record(entry(B))?;
    }
    Ok(())
}

fn see_pages(t: &mut Trial) -> Played {
    let all = t.numbers(&session(A), 0, 100)?;
    t.must(
        "`history` after 0, at most 100",
        all.len() == 5,
        "have the five rows that were appended",
        &all,
    );
    let &[_, second, third, fourth, last] = &all[..] else { return Ok(()) };
    let asked = [
        (second, 2, [third, fourth].to_vec()),
        (second - 1, 1, [second].to_vec()),
        (fourth, 100, [last].to_vec()),
        (last, 2, Vec::new()),
        (MOST, 2, Vec::new()),
        (0, 0, Vec::new()),
        (0, u32::MAX, all.clone()),
    ];
    for (after, limit, must) in asked {
        let was = t.numbers(&session(A), after, limit)?;
        let asked = alloc::format!("`history` of the rows {all:?} after {after}, at most {limit}");
        t.must_be(&asked, &was, &must);
    }
    Ok(())
}

fn append_to_namesakes(t: &mut Trial) -> Played {
    for agent in ["main", "other", "main"] {
        t.record(Entry { session: of_agent("global", agent), ..entry(A) })?;
    }
    Ok(())
}

fn see_namesakes(t: &mut Trial) -> Played {
    for (agent, must) in [("main", 2), ("other", 1), ("third", 0)] {
        let was = t.numbers(&of_agent("global", agent), 0, 100)?;
        let asked = alloc::format!(
            "appended to key `global` twice under agent `main` and once under `other`, asked for \
                `history` under `{agent}`"
        );
        t.must(&asked, was.len() == must, &alloc::format!("have {must} rows"), &was);
    }
    Ok(())
}

fn see_heads(t: &mut Trial) -> Played {
    let second = t.noted("second")?;
    let page = t.history(&session(A), MOST, 1)?;
    let version = page.head.map(|head| head.version);
    t.must_be("the head in a page of `history` without rows", &version, &Some(second));
    let page = t.history(&session("agent:main:never"), 0, 1)?;
    t.must_be(
        "the head in `history` of a session of which nothing was recorded",
        &page.head,
        &None,
    );
    t.must_be(
        "`restored-at` in `history` of a store that never was restored",
        &page.restored_at,
        &0,
    );
    Ok(())
}

fn append_out_of_time(t: &mut Trial) -> Played {
    for occurred_at in [3_000, 1_000, MOST, 0, 2_000] {
        t.record(at(A, occurred_at))?;
    }
    Ok(())
}

fn see_order(t: &mut Trial) -> Played {
    let page = t.history(&session(A), 0, 100)?;
    let was: Vec<u64> = page.rows.iter().map(|row| row.entry.occurred_at).collect();
    let asked =
        "the times of rows that occurred at 3,000, 1,000, 2^53 - 1, 0 and 2,000, in this order";
    t.must_be(asked, &was, &[3_000, 1_000, MOST, 0, 2_000]);
    let ascends = page.rows.windows(2).all(|two| two[0].sequence < two[1].sequence);
    t.must("their sequences", ascends, "ascend", &page.rows);
    Ok(())
}
