//! Dedupe keys: unique within their session while the row is kept.

use alloc::format;

use crate::contract::{AppendOutcome, AppendRequest, Entry, PruneRequest};
use crate::material::{A, B, NOTHING_DUE, W, entry, keyed, live, of_agent, request, session};
use crate::play::{Case, Played, Stop, reads, writes};
use crate::trial::Trial;

const SUBJECT: &str = "dedupe";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "A second append with a dedupe key of the session answers `duplicate` with the \
            first one's sequence, and writes nothing.",
        steps: &[
            writes(record_keyed),
            writes(append_again),
            writes(append_again).reopened(),
            reads(see_one),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "A dedupe key is its session's: another session or another agent may have the same.",
        steps: &[writes(record_keyed), writes(append_elsewhere)],
    },
    Case {
        subject: SUBJECT,
        rule: "Dedupe keys compare byte by byte, and rows without one are never duplicates.",
        steps: &[writes(record_keyed), writes(append_likes)],
    },
    Case {
        subject: SUBJECT,
        rule: "A duplicate is answered before `unwatched`.",
        steps: &[writes(record_keyed), writes(append_unwatched)],
    },
    Case {
        subject: SUBJECT,
        rule: "A dedupe key is free again once its row was pruned, deleted or rolled back.",
        steps: &[
            writes(record_keyed),
            writes(prune_it),
            writes(append_anew),
            writes(delete_it),
            writes(append_anew),
            writes(append_in_vain),
            writes(append_other_anew),
        ],
    },
];

fn record_keyed(t: &mut Trial) -> Played {
    let number = t.record(keyed(A, "run-terminal:r1"))?;
    t.note("first", number)?;
    t.record(entry(A))?;
    Ok(())
}

fn again() -> Entry {
    Entry { summary: "goal created".into(), occurred_at: 9_000, ..keyed(A, "run-terminal:r1") }
}

fn append_again(t: &mut Trial) -> Played {
    let first = t.noted("first")?;
    for settled in [false, true] {
        let asked = AppendRequest { settled, ..request(again()) };
        let was = t.append(&asked)?;
        t.must_be(
            "`append` with a dedupe key that a kept row of the session has",
            &was,
            &AppendOutcome::Duplicate(first),
        );
    }
    Ok(())
}

fn see_one(t: &mut Trial) -> Played {
    let page = t.history(&session(A), 0, 100)?;
    t.must(
        "the rows after duplicates",
        page.rows.len() == 2,
        "be the two that were there before",
        &page.rows,
    );
    let was = page.rows.into_iter().next().map(|row| row.entry);
    t.must_be("the row that a duplicate was refused for", &was, &Some(keyed(A, "run-terminal:r1")));
    Ok(())
}

fn append_elsewhere(t: &mut Trial) -> Played {
    for session in [session(B), of_agent(A, "other")] {
        let asked = format!("`append` to {session:?} with a dedupe key of {A:?}");
        let was = t.append(&request(Entry { session, ..again() }))?;
        t.must(&asked, matches!(was, AppendOutcome::Appended(_)), "append", &was);
    }
    Ok(())
}

fn append_likes(t: &mut Trial) -> Played {
    for key in [
        "RUN-TERMINAL:R1",
        "run-terminal:r1 ",
        "run-terminal:r",
        "run-terminal:r12",
        "run_terminal:r1",
        "",
    ] {
        let was = t.append(&request(keyed(A, key)))?;
        let asked =
            format!("`append` with the dedupe key {key:?} where \"run-terminal:r1\" is kept");
        t.must(&asked, matches!(was, AppendOutcome::Appended(_)), "append", &was);
    }
    for _ in 0..2 {
        let was = t.append(&request(entry(A)))?;
        t.must(
            "`append` without a dedupe key",
            matches!(was, AppendOutcome::Appended(_)),
            "append",
            &was,
        );
    }
    Ok(())
}

fn append_unwatched(t: &mut Trial) -> Played {
    let first = t.noted("first")?;
    let asked = AppendRequest { only_if_watched: true, ..request(again()) };
    let was = t.append(&asked)?;
    t.must_be(
        "`append` of a duplicate, only if watched, where nobody watches",
        &was,
        &AppendOutcome::Duplicate(first),
    );
    t.save_cursors(&[live(W, A, 0, 0)])?;
    let was = t.append(&asked)?;
    t.must_be("the same where somebody watches", &was, &AppendOutcome::Duplicate(first));
    Ok(())
}

fn prune_it(t: &mut Trial) -> Played {
    t.prune(PruneRequest { keep_rows: 0, ..NOTHING_DUE })?;
    Ok(())
}

fn delete_it(t: &mut Trial) -> Played {
    t.delete(&session(A), 5_000)?;
    Ok(())
}

fn append_anew(t: &mut Trial) -> Played {
    let was = t.append(&request(again()))?;
    t.must(
        "`append` with a dedupe key whose row is gone",
        matches!(was, AppendOutcome::Appended(_)),
        "append",
        &was,
    );
    Ok(())
}

fn append_in_vain(t: &mut Trial) -> Played {
    t.appended(&request(keyed(A, "other")))?;
    Err(Stop::OnPurpose)
}

fn append_other_anew(t: &mut Trial) -> Played {
    let was = t.append(&request(keyed(A, "other")))?;
    let asked = "`append` with a dedupe key whose row was rolled back";
    t.must(asked, matches!(was, AppendOutcome::Appended(_)), "append", &was);
    Ok(())
}
