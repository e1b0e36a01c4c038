//! The one series of sequences: strictly increasing, and never reused.

use alloc::format;

use crate::contract::Entry;
use crate::material::{A, B, C, MOST, NOTHING_DUE, entry, of_agent, request, session};
use crate::play::{Case, Played, Stop, reads, writes};
use crate::trial::{Trial, Verb, trap};

const SUBJECT: &str = "sequences";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "Sequences are one strictly increasing series over all sessions of the store.",
        steps: &[
            writes(record_on_all),
            writes(record_on_all),
            writes(record_on_all).reopened(),
            reads(see_one_series),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "A sequence is not used again after its session was deleted.",
        steps: &[
            writes(record_last),
            writes(delete_it),
            writes(record_above),
            writes(delete_all),
            writes(record_above).reopened(),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "A sequence is not used again after it was pruned.",
        steps: &[
            writes(record_last),
            writes(prune_all),
            writes(record_above),
            writes(prune_all),
            writes(record_above).reopened(),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "A rolled-back sequence is as if never given: nothing has it, and the series goes \
            on above what is kept.",
        steps: &[
            writes(record_last),
            writes(record_in_vain),
            writes(record_and_trap).traps(),
            writes(record_above),
            reads(see_two),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "The series ends at 2^53 - 1: that number is given, and none after it.",
        steps: &[
            writes(record_the_largest),
            reads(see_the_largest),
            writes(record_beyond),
            reads(see_the_largest),
        ],
    },
];

fn record_on_all(t: &mut Trial) -> Played {
    let mut last = if t.has_noted("last")? { t.noted("last")? } else { 0 };
    let other = of_agent("global", "other");
    for session in [session(A), session(B), other, session(A), session(C)] {
        let number = t.record(Entry { session, ..entry(A) })?;
        let asked = format!("the sequence of a row that was appended after {last} was given");
        t.must(&asked, last < number && number <= MOST, "be larger, and at most 2^53 - 1", &number);
        last = number;
    }
    t.note("last", last)
}

fn see_one_series(t: &mut Trial) -> Played {
    let mut all = t.numbers(&session(A), 0, 100)?;
    for session in [session(B), session(C), of_agent("global", "other")] {
        all.extend(t.numbers(&session, 0, 100)?);
    }
    all.sort_unstable();
    let given = all.len();
    all.dedup();
    t.must(
        "the sequences of 15 rows of four sessions",
        given == 15 && all.len() == 15,
        "be 15 numbers",
        &all,
    );
    Ok(())
}

fn record_last(t: &mut Trial) -> Played {
    t.record(entry(B))?;
    t.record(entry(A))?;
    let last = t.record(entry(A))?;
    t.note("last", last)
}

fn delete_it(t: &mut Trial) -> Played {
    t.delete(&session(A), 2_000)?;
    Ok(())
}

/// Whatever is left has no row in the log.
fn delete_all(t: &mut Trial) -> Played {
    for key in [A, B, C] {
        t.delete(&session(key), 2_000)?;
    }
    Ok(())
}

fn prune_all(t: &mut Trial) -> Played {
    t.prune(crate::contract::PruneRequest { keep_rows: 0, ..NOTHING_DUE })?;
    Ok(())
}

fn above(t: &mut Trial, key: &str) -> Verb<u64> {
    let last = t.noted("last")?;
    let number = t.record(entry(key))?;
    let asked =
        format!("the sequence of a row that was appended after {last} was given and committed");
    t.must(&asked, number > last, &format!("be larger than {last}"), &number);
    Ok(number)
}

fn record_above(t: &mut Trial) -> Played {
    let number = above(t, C)?;
    t.note("last", number)
}

fn record_in_vain(t: &mut Trial) -> Played {
    above(t, A)?;
    Err(Stop::OnPurpose)
}

fn record_and_trap(t: &mut Trial) -> Played {
    above(t, A)?;
    trap()
}

fn see_two(t: &mut Trial) -> Played {
    let was = t.numbers(&session(A), 0, 100)?;
    let asked =
        "appended two rows, then one in a step that was rolled back and one in a step that trapped";
    t.must(asked, was.len() == 2, "have two rows", &was);
    let last = t.noted("last")?;
    let was = t.numbers(&session(C), 0, 100)?;
    t.must_be("then one row to another session", &was, &[last]);
    Ok(())
}

fn record_the_largest(t: &mut Trial) -> Played {
    let position = t.restored(1)?;
    let before = t.restored(MOST - 1 - position)?;
    t.must_be("`restored` by what is missing to 2^53 - 2", &before, &(MOST - 1));
    let number = t.record(entry(A))?;
    t.must_be("the sequence after 2^53 - 2", &number, &MOST);
    Ok(())
}

fn see_the_largest(t: &mut Trial) -> Played {
    let was = t.numbers(&session(A), MOST - 1, 100)?;
    t.must_be("`history` after 2^53 - 2", &was, &[MOST]);
    let was = t.head(&session(A))?.map(|head| head.version);
    t.must_be("the version in the head", &was, &Some(MOST));
    Ok(())
}

fn record_beyond(t: &mut Trial) -> Played {
    let answer = crate::contract::storage::append(&request(entry(B)));
    t.must_fail("`append` after 2^53 - 1 was given", &answer);
    Err(Stop::OnPurpose)
}
