//! `restored`: a store that came back from a backup.

use crate::contract::{Entry, Head};
use crate::material::{A, B, C, NOTHING_DUE, entry, live, pair, session};
use crate::play::{Case, Played, Stop, reads, writes};
use crate::trial::Trial;

const SUBJECT: &str = "restoring";

const BY: u64 = 1 << 32;

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "`restored` raises the series by so much, and returns and keeps its new position.",
        steps: &[
            writes(fill),
            writes(restore),
            reads(see_position),
            writes(record_above),
            reads(see_position).reopened(),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "`restored` raises version and watermark of every head to the position; a \
            tombstone's version stays 0.",
        steps: &[writes(fill), writes(restore), reads(see_heads)],
    },
    Case {
        subject: SUBJECT,
        rule: "`restored` counts from the highest number that was ever given, also if nothing is \
            left of it.",
        steps: &[writes(fill), writes(forget_all), writes(restore), reads(see_position)],
    },
    Case {
        subject: SUBJECT,
        rule: "`restored` works on an empty store, again and again.",
        steps: &[writes(restore_empty), writes(restore_once_more), reads(see_position)],
    },
    Case {
        subject: SUBJECT,
        rule: "`restored` changes neither rows nor cursors, and is part of the transaction.",
        steps: &[
            writes(fill),
            writes(restore_in_vain),
            reads(see_no_position),
            writes(restore),
            reads(see_rows_and_cursors),
        ],
    },
];

fn fill(t: &mut Trial) -> Played {
    t.record(entry(A))?;
    let last = t.record(entry(A))?;
    t.note("kept", last)?;
    t.save_cursors(&[live(C, A, 0, last)])?;
    let last = t.record(entry(B))?;
    t.note("last", last)?;
    t.delete(&session(B), 2_000)?;
    Ok(())
}

fn forget_all(t: &mut Trial) -> Played {
    t.delete(&session(A), 2_000)?;
    t.prune(crate::contract::PruneRequest { moved_before: Some(3_000), ..NOTHING_DUE })?;
    Ok(())
}

fn restore(t: &mut Trial) -> Played {
    let last = t.noted("last")?;
    let position = t.restored(BY)?;
    let asked = alloc::format!("`restored` by 2^32 after {last} was given");
    t.must(&asked, position >= last + BY, &alloc::format!("be at least {}", last + BY), &position);
    t.note("position", position)?;
    let was = t.history(&session(A), 0, 10)?.restored_at;
    t.must_be("`restored-at` within the step", &was, &position);
    Ok(())
}

fn see_position(t: &mut Trial) -> Played {
    let position = t.noted("position")?;
    for key in [A, B, "agent:main:never"] {
        let was = t.history(&session(key), 0, 10)?.restored_at;
        t.must_be("`restored-at` in `history` of any session", &was, &position);
    }
    Ok(())
}

fn record_above(t: &mut Trial) -> Played {
    let position = t.noted("position")?;
    let was = t.record(Entry { dedupe_key: None, ..entry(A) })?;
    let asked = alloc::format!(
        "the sequence of a row that was appended after `restored` answered {position}"
    );
    t.must(&asked, was > position, "be larger", &was);
    Ok(())
}

fn see_heads(t: &mut Trial) -> Played {
    let position = t.noted("position")?;
    let kept = t.noted("kept")?;
    let was = t.head(&session(A))?;
    let numbers = was.as_ref().map(|head| (head.version, head.watermark));
    t.must_be(
        "version and watermark of a head after `restored`",
        &numbers,
        &Some((position, position)),
    );
    let newest = was.and_then(|head| head.notifying).map(|notifying| notifying.newest);
    t.must_be("its newest notifying event, which stays", &newest, &Some(kept));
    let was = t.head(&session(B))?;
    let must = Head { version: 0, watermark: position, notifying: None, moved_at: 2_000 };
    t.must_be("a tombstone after `restored`", &was, &Some(must));
    Ok(())
}

fn restore_empty(t: &mut Trial) -> Played {
    let position = t.restored(100)?;
    t.must("`restored` by 100 of an empty store", position >= 100, "be at least 100", &position);
    t.note("last", position)
}

fn restore_once_more(t: &mut Trial) -> Played {
    restore(t)?;
    record_above(t)
}

fn restore_in_vain(t: &mut Trial) -> Played {
    t.restored(BY)?;
    Err(Stop::OnPurpose)
}

fn see_no_position(t: &mut Trial) -> Played {
    let was = t.history(&session(A), 0, 10)?;
    t.must_be("`restored-at` after `restored` was rolled back", &was.restored_at, &0);
    let last = t.noted("last")?;
    t.must(
        "the head",
        was.head.as_ref().is_some_and(|head| head.version < last),
        "be as it was",
        &was.head,
    );
    Ok(())
}

fn see_rows_and_cursors(t: &mut Trial) -> Played {
    let kept = t.noted("kept")?;
    let was = t.numbers(&session(A), 0, 10)?;
    t.must(
        "the rows of a session after `restored`",
        was.len() == 2 && was[1] == kept,
        "be as they were",
        &was,
    );
    let was = t.between(&[pair(C, A)])?;
    t.must_be("a cursor after `restored`", &was, &[Some(live(C, A, 0, kept))]);
    Ok(())
}
