//! One call sees one snapshot, with its own writes.

use alloc::format;

use crate::contract::{CursorQuery, Upstream};
use crate::material::{A, B, C, W, X, adopted, due, entry, head, linked, live, pair, session};
use crate::play::{Case, Played, Stop, reads, writes};
use crate::trial::{Trial, Verb};

const SUBJECT: &str = "snapshots";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "Every verb sees what the verbs before it in the same call wrote.",
        steps: &[writes(see_own_writes)],
    },
    Case {
        subject: SUBJECT,
        rule: "A call on a snapshot does not see what a rival commits in its middle.",
        steps: &[
            writes(prepare),
            reads(look_twice),
            writes(change_all).when_called(),
            reads(see_changed),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "A snapshot is one for all that is read: what is read first after a rival's commit \
            is from before it.",
        steps: &[
            writes(prepare),
            reads(look_late),
            writes(change_all).when_called(),
            reads(see_changed),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "Nobody sees what is not committed, and a call that reads does not wait for one \
            that writes.",
        steps: &[
            writes(prepare),
            writes(change_before_rival),
            reads(see_unchanged).when_called(),
            reads(see_changed),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "Nobody ever sees what is rolled back.",
        steps: &[
            writes(prepare),
            writes(change_in_vain),
            reads(see_unchanged).when_called(),
            reads(see_unchanged),
        ],
    },
];

fn see_own_writes(t: &mut Trial) -> Played {
    let number = t.record(entry(A))?;
    let was = t.numbers(&session(A), 0, 10)?;
    t.must_be("`history` in the call that appended", &was, &[number]);
    let was = t.head(&session(A))?;
    t.must_be("`heads` in the call that saved one", &was, &Some(head(number)));
    t.save_cursors(&[live(W, A, 0, number)])?;
    let was = t.pairs(&[pair(W, A)])?.pop();
    let must = crate::contract::PairState {
        cursor: Some(live(W, A, 0, number)),
        head: Some(head(number)),
    };
    t.must_be("`pairs` in the call that saved a cursor", &was, &Some(must));
    let was = t.cursors(&CursorQuery::Open, None, 10)?.len();
    t.must_be("how many `cursors` `open` has in that call", &was, &1);
    let was = t.open_counts()?.len();
    t.must_be("how many watchers `open-counts` has in that call", &was, &1);
    t.save_upstream(&linked(A), 0)?;
    let was = t.upstream_of(&session(A))?;
    t.must_be(
        "`upstream-of` in the call that saved it",
        &was,
        &Upstream { watched: true, ..linked(A) },
    );
    let was = t.claim(&due())?.len();
    t.must_be("how many links `claim` takes in that call", &was, &1);
    t.set(&[("own", "write")])?;
    let was = t.get(&["own"])?;
    t.must_be("`settings.get` in the call that set it", &was, &[Some("write".into())]);
    t.delete(&session(A), 2_000)?;
    let was = (
        t.numbers(&session(A), 0, 10)?.len(),
        t.open_counts()?.len(),
        t.upstream_of(&session(A))?.link,
    );
    t.must_be(
        "rows, counts and link of a session in the call that deleted it",
        &was,
        &(0, 0, None),
    );
    Ok(())
}

/// Before a change: one row, head, cursor, link and setting. After it: two of each, and others.
fn prepare(t: &mut Trial) -> Played {
    let number = t.record(entry(A))?;
    t.note("number", number)?;
    t.save_cursors(&[live(W, A, 0, number)])?;
    t.save_upstream(&adopted(A), 0)?;
    t.set(&[("state", "before")])
}

fn change_all(t: &mut Trial) -> Played {
    let number = t.record(entry(A))?;
    t.record(entry(B))?;
    t.save_cursors(&[live(W, A, number, number), live(X, B, 0, number)])?;
    t.save_upstream(&linked(A), 0)?;
    t.save_upstream(&linked(B), 0)?;
    t.set(&[("state", "after")])
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Before,
    After,
}

/// Looks at everything, from the last that is changed to the first.
fn see(t: &mut Trial, when: &str, state: State) -> Verb<()> {
    let is_after = state == State::After;
    let first = t.noted("number")?;
    let was = t.get(&["state"])?;
    let must = if is_after { "after" } else { "before" };
    t.must_be(&format!("the setting {when}"), &was, &[Some(must.into())]);
    let was =
        (t.upstream_of(&session(A))?.sent.is_empty(), t.upstream_of(&session(B))?.link.is_some());
    t.must_be(
        &format!("whether nothing is kept as sent, and whether another link is there, {when}"),
        &was,
        &(is_after, is_after),
    );
    let was = t.open_counts()?.into_iter().map(|count| count.watcher).next();
    t.must_be(
        &format!("the first watcher of `open-counts` {when}"),
        &was.as_deref(),
        &Some(if is_after { X } else { W }),
    );
    let was = t
        .cursors(&CursorQuery::Open, None, 10)?
        .into_iter()
        .map(|watched| watched.cursor.pair)
        .next();
    t.must_be(
        &format!("the first of `cursors` `open` {when}"),
        &was,
        &Some(if is_after { pair(X, B) } else { pair(W, A) }),
    );
    let was = t.between(&[pair(X, B), pair(X, C)])?.into_iter().flatten().count();
    t.must_be(
        &format!("how many cursors another watcher has {when}"),
        &was,
        &usize::from(is_after),
    );
    let was = t.head(&session(A))?.map_or(0, |head| head.version);
    t.must(&format!("the version of the head {when}"), (was > first) == is_after, must, &was);
    let was = (t.numbers(&session(A), 0, 10)?.len(), t.numbers(&session(B), 0, 10)?.len());
    t.must_be(
        &format!("the rows of two sessions {when}"),
        &was,
        &if is_after { (2, 1) } else { (1, 0) },
    );
    Ok(())
}

const RULE: &str = "a rival in the middle of a call";

fn look_twice(t: &mut Trial) -> Played {
    see(t, "before a rival's commit", State::Before)?;
    t.rival(2, RULE)?;
    see(t, "in a call that began before a rival's commit", State::Before)
}

fn look_late(t: &mut Trial) -> Played {
    t.get(&["state"])?;
    t.rival(2, RULE)?;
    see(t, "in a call that had read but a setting before a rival's commit", State::Before)
}

/// Says nothing where no rival could run.
fn see_changed(t: &mut Trial) -> Played {
    let was = t.get(&["state"])?;
    if was == [Some("before".into())] && t.numbers(&session(A), 0, 10)?.len() == 1 {
        t.unexamined("what is seen once a rival has committed: none did");
        return Ok(());
    }
    see(t, "once it is committed", State::After)
}

fn change_before_rival(t: &mut Trial) -> Played {
    change_all(t)?;
    t.rival(2, RULE)?;
    see(t, "in the call that changed it", State::After)
}

fn change_in_vain(t: &mut Trial) -> Played {
    change_all(t)?;
    t.rival(2, RULE)?;
    Err(Stop::OnPurpose)
}

fn see_unchanged(t: &mut Trial) -> Played {
    see(t, "that another call changed and did not commit", State::Before)
}
