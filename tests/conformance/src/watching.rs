//! What `append` asks for beside: whether anybody watches, settled and named cursors, the head.

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::contract::{AppendOutcome, AppendRequest, Cursor};
use crate::material::{A, B, W, X, entry, head, live, mark, of_agent, on, request, session};
use crate::play::{Case, Played, reads, writes};
use crate::trial::Trial;

const SUBJECT: &str = "watching";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "`only-if-watched` appends where a live cursor targets exactly the session, and \
            else answers `unwatched` and writes nothing.",
        steps: &[writes(append_unwatched), reads(see_nothing), writes(append_watched)],
    },
    Case {
        subject: SUBJECT,
        rule: "`settled` returns the live cursors on the session without an open notice, by \
            watcher ascending.",
        steps: &[writes(watch), writes(append_settled)],
    },
    Case {
        subject: SUBJECT,
        rule: "`named` returns the cursors and marks that these watchers have on the session, \
            each once, together with the settled ones by watcher ascending.",
        steps: &[writes(watch), writes(append_named)],
    },
    Case {
        subject: SUBJECT,
        rule: "`append` returns the head as it was before, and does not change it; nor any cursor.",
        steps: &[writes(append_to_head), reads(see_head_and_cursor)],
    },
];

fn only_if_watched() -> AppendRequest {
    AppendRequest { only_if_watched: true, ..request(entry(A)) }
}

fn append_unwatched(t: &mut Trial) -> Played {
    let was = t.append(&only_if_watched())?;
    t.must_be("`append` only if watched, in an empty store", &was, &AppendOutcome::Unwatched);
    t.save_cursors(&[
        mark(W, A),
        live(W, B, 0, 0),
        live(A, B, 0, 5),
        on(W, of_agent(A, "other"), 0, 0),
        live(W, "agent:main:a:b", 0, 0),
        live(W, "agent:main:A", 0, 0),
    ])?;
    let was = t.append(&only_if_watched())?;
    let asked = "`append` only if watched, where a mark is on the session, and live cursors on \
        others: \
        one that it watches itself, the same key of another agent, a key that begins with its key, \
        its key in other case";
    t.must_be(asked, &was, &AppendOutcome::Unwatched);
    Ok(())
}

fn see_nothing(t: &mut Trial) -> Played {
    let was = t.numbers(&session(A), 0, 100)?;
    t.must_be("the rows after `unwatched`", &was, &[0; 0]);
    Ok(())
}

fn append_watched(t: &mut Trial) -> Played {
    for (cursor, what) in [(live(X, A, 4, 4), "settled"), (live(X, A, 0, 4), "pending")] {
        t.save_cursors(&[cursor])?;
        let was = t.append(&only_if_watched())?;
        let asked = alloc::format!(
            "`append` only if watched, where a {what} live cursor is on the session"
        );
        t.must(&asked, matches!(was, AppendOutcome::Appended(_)), "append", &was);
    }
    t.reset(X)?;
    let was = t.append(&only_if_watched())?;
    t.must_be("the same after the watcher was reset", &was, &AppendOutcome::Unwatched);
    Ok(())
}

const W1: &str = "agent:main:W1";
const W2: &str = "agent:main:w2";
const W3: &str = "agent:main:w3";
const W4: &str = "agent:main:\u{e9}";

fn settled() -> [Cursor; 3] {
    [live(W1, A, 0, 0), live(W3, A, 7, 7), live(W4, A, 5, 5)]
}

fn pending() -> Cursor {
    live("agent:main:w0", A, 0, 9)
}

fn marked() -> Cursor {
    mark(W2, A)
}

fn watch(t: &mut Trial) -> Played {
    t.save_cursors(&settled())?;
    t.save_cursors(&[
        pending(),
        marked(),
        live(W1, B, 0, 0),
        on(W2, of_agent(A, "other"), 0, 0),
        mark(W3, B),
    ])
}

fn append_settled(t: &mut Trial) -> Played {
    let without = t.appended(&request(entry(A)))?;
    t.must_be("the cursors of an `append` that asks for none", &without.cursors, &[]);
    let asked = AppendRequest { settled: true, ..request(entry(A)) };
    for only_if_watched in [false, true] {
        let was = t.appended(&AppendRequest { only_if_watched, ..asked.clone() })?.cursors;
        let words = "the settled cursors of `append`, beside a pending one, a mark, and others \
            on other sessions";
        t.must_be(words, &was, &settled());
    }
    Ok(())
}

fn names(names: &[&str]) -> Vec<alloc::string::String> {
    names.iter().map(ToString::to_string).collect()
}

fn append_named(t: &mut Trial) -> Played {
    let named = names(&["agent:main:w0", W3, "agent:main:nobody", W2, W3]);
    let asked = AppendRequest { named, ..request(entry(A)) };
    let was = t.appended(&asked)?.cursors;
    let words = "`append` that names a pending watcher, a settled one twice, one with a mark, \
        and one without anything";
    t.must_be(words, &was, &[pending(), marked(), live(W3, A, 7, 7)]);
    let was = t.appended(&AppendRequest { settled: true, ..asked.clone() })?.cursors;
    let [first, second, third] = settled();
    t.must_be("the same with the settled ones", &was, &[first, pending(), marked(), second, third]);
    let unknown = AppendRequest { named: names(&["agent:main:nobody", "agent:main:W2"]), ..asked };
    let was = t.appended(&unknown)?.cursors;
    t.must_be("`append` that names watchers without a cursor", &was, &[]);
    Ok(())
}

fn append_to_head(t: &mut Trial) -> Played {
    t.save_cursors(&[live(W, A, 0, 0)])?;
    let asked = AppendRequest { settled: true, ..request(entry(A)) };
    let was = t.appended(&asked)?.head;
    t.must_be("the head that `append` returns where there was none", &was, &None);
    let was = t.appended(&asked)?.head;
    t.must_be("the same once more, as nobody saved one", &was, &None);
    let number = t.record(entry(A))?;
    t.note("recorded", number)?;
    let appended = t.appended(&asked)?;
    t.must_be(
        "the head that `append` returns where one was saved",
        &appended.head,
        &Some(head(number)),
    );
    t.must(
        "its sequence",
        appended.sequence > number,
        "be larger than the head's version",
        &appended.sequence,
    );
    Ok(())
}

fn see_head_and_cursor(t: &mut Trial) -> Played {
    let number = t.noted("recorded")?;
    let was = t.head(&session(A))?;
    t.must_be("the head after one more `append`", &was, &Some(head(number)));
    let was = t.between(&[crate::material::pair(W, A)])?;
    t.must_be("the cursor after four times `append`", &was, &[Some(live(W, A, 0, 0))]);
    Ok(())
}
