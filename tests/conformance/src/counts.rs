//! `open-counts`: who has how many open notices.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::contract::PendingCount;
use crate::material::{A, B, C, NOTHING_DUE, live, mark, session};
use crate::play::{Case, Played, Stop, reads, writes};
use crate::trial::{Trial, Verb};

const SUBJECT: &str = "counts";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "`open-counts` follows every way in which a notice opens and goes: saved, marked, \
            deleted, reset, pruned, rolled back.",
        steps: &[writes(open_and_close), writes(open_in_vain), reads(see_none)],
    },
    Case {
        subject: SUBJECT,
        rule: "`open-counts` goes by watcher ascending, byte by byte, and leaves out who has none.",
        steps: &[writes(open_for_many), reads(see_order), reads(see_order).reopened()],
    },
];

const W: &str = "agent:main:w";

fn counted(t: &mut Trial, what: &str, must: &[(&str, u32)]) -> Verb<()> {
    let was = t.open_counts()?;
    let count =
        |&(watcher, notices): &(&str, u32)| PendingCount { watcher: watcher.to_string(), notices };
    let must: Vec<PendingCount> = must.iter().map(count).collect();
    t.must_be(&format!("`open-counts` {what}"), &was, &must);
    Ok(())
}

fn open_and_close(t: &mut Trial) -> Played {
    counted(t, "of an empty store", &[])?;
    let steps = [
        (live(W, A, 0, 0), 0, "with a cursor without an open notice"),
        (live(W, A, 0, 1), 1, "once its notice opened"),
        (live(W, A, 0, 5), 1, "once that notice moved up"),
        (live(W, B, 0, 1), 2, "once a cursor came with an open notice"),
        (live(W, A, 5, 5), 1, "once the first was acknowledged"),
        (mark(W, B), 0, "once the second was unwatched"),
        (live(W, B, 1, 2), 1, "once the mark became a cursor with an open notice"),
        (live(W, A, 5, 6), 2, "once the first opened again"),
        (live(W, C, 0, 3), 3, "with a third"),
    ];
    for (cursor, notices, what) in steps {
        t.save_cursors(&[cursor])?;
        let must: &[_] = if notices == 0 { &[] } else { &[(W, notices)] };
        counted(t, what, must)?;
    }
    t.delete(&session(A), 2_000)?;
    counted(t, "once one target was deleted", &[(W, 2)])?;
    t.save_cursors(&[crate::contract::Cursor { moved_at: 5_000, ..live(W, C, 0, 3) }])?;
    t.prune(crate::contract::PruneRequest { moved_before: Some(2_000), ..NOTHING_DUE })?;
    counted(t, "once one cursor expired", &[(W, 1)])?;
    t.reset(W)?;
    counted(t, "once the watcher was reset", &[])
}

fn open_in_vain(t: &mut Trial) -> Played {
    t.save_cursors(&[live(W, A, 0, 1)])?;
    counted(t, "within a step that is rolled back", &[(W, 1)])?;
    Err(Stop::OnPurpose)
}

fn see_none(t: &mut Trial) -> Played {
    counted(t, "after it", &[])
}

const WATCHERS: [(&str, u32); 5] = [
    ("agent:main:W", 2),
    ("agent:main:w", 1),
    ("agent:main:w:1", 3),
    ("agent:main:\u{ff5e}", 1),
    ("agent:main:\u{1f600}", 2),
];

fn open_for_many(t: &mut Trial) -> Played {
    for (watcher, notices) in WATCHERS.iter().rev() {
        for number in 0..*notices {
            t.save_cursors(&[live(watcher, &format!("agent:main:t{number}"), 0, 1)])?;
        }
        t.save_cursors(&[live(watcher, A, 1, 1), mark(watcher, B)])?;
    }
    t.save_cursors(&[live("agent:main:x", A, 1, 1), mark("agent:main:y", B)])
}

fn see_order(t: &mut Trial) -> Played {
    counted(t, "with five watchers that have open notices and two that have none", &WATCHERS)
}
