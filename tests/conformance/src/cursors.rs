//! `save`, `pairs` and `heads`: one cursor or mark for a pair, one head for a session.

use alloc::format;
use alloc::vec::Vec;

use crate::contract::{
    Changes, Cursor, CursorState, Head, HeadChange, Notifying, Pair, PairState, Positions,
    Provenance, storage,
};
use crate::material::{A, B, C, W, X, head, live, mark, of_agent, on, pair, session};
use crate::play::{Case, Played, reads, writes};
use crate::trial::Trial;

const SUBJECT: &str = "cursors";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "`save` inserts or replaces what stands between a pair: live, with each \
            provenance, or a mark.",
        steps: &[writes(replace_cursors), reads(see_last_cursor)],
    },
    Case {
        subject: SUBJECT,
        rule: "`save` inserts or replaces heads, whole.",
        steps: &[writes(replace_heads), reads(see_last_head)],
    },
    Case {
        subject: SUBJECT,
        rule: "`save` applies heads and cursors together, also a thousand of them.",
        steps: &[writes(save_many), reads(see_many)],
    },
    Case {
        subject: SUBJECT,
        rule: "`pairs` answers in the order asked, with cursor or mark and with the target's \
            head, each absent where there is none.",
        steps: &[writes(save_some), reads(see_pairs)],
    },
    Case {
        subject: SUBJECT,
        rule: "`heads` answers in the order asked, absent where there is none.",
        steps: &[writes(save_some), reads(see_heads)],
    },
];

fn states() -> Vec<Cursor> {
    let with = |provenance| Cursor {
        state: CursorState::Live(Positions { last_seen: 3, notified: 8, provenance }),
        ..live(W, A, 0, 0)
    };
    [
        live(W, A, 0, 3),
        live(W, A, 3, 3),
        mark(W, A),
        Cursor { moved_at: 2_000, ..mark(W, A) },
        with(Provenance::Spawn),
        with(Provenance::Ambient),
        with(Provenance::Explicit),
        mark(W, A),
        Cursor { moved_at: 3_000, ..live(W, A, 4, 4) },
    ]
    .to_vec()
}

fn replace_cursors(t: &mut Trial) -> Played {
    let beside = live(W, B, 1, 2);
    t.save_cursors(core::slice::from_ref(&beside))?;
    for cursor in states() {
        t.save_cursors(core::slice::from_ref(&cursor))?;
        let was = t.between(&[pair(W, A), pair(W, B)])?;
        t.must_be(
            "what stands between a pair after it was saved, and between another",
            &was,
            &[Some(cursor), Some(beside.clone())],
        );
    }
    Ok(())
}

fn see_last_cursor(t: &mut Trial) -> Played {
    let was = t.between(&[pair(W, A), pair(W, B), pair(A, W)])?;
    let last = states().pop();
    t.must_be(
        "what stands between pairs once it is committed",
        &was,
        &[last, Some(live(W, B, 1, 2)), None],
    );
    Ok(())
}

fn all_heads() -> [Head; 5] {
    let by = |actor: Option<&str>, other| {
        Some(Notifying { newest: 7, actor: actor.map(Into::into), other })
    };
    [
        Head { notifying: None, ..head(3) },
        Head { notifying: by(Some("u7"), 0), moved_at: 2_000, ..head(8) },
        Head { notifying: by(None, 6), watermark: 5, ..head(9) },
        Head { version: 0, watermark: 9, notifying: None, moved_at: 3_000 },
        Head { notifying: by(Some("agent:main:other"), 2), watermark: 9, ..head(12) },
    ]
}

fn replace_heads(t: &mut Trial) -> Played {
    t.save_heads(&[(session(B), head(2))])?;
    for head in all_heads() {
        t.save_heads(&[(session(A), head.clone())])?;
        let was = t.head(&session(A))?;
        t.must_be("a head after it was saved", &was, &Some(head));
    }
    Ok(())
}

fn see_last_head(t: &mut Trial) -> Played {
    let [.., last] = all_heads();
    let was = t.heads(&[session(A), session(B)])?;
    t.must_be("heads once they are committed", &was, &[Some(last), Some(head(2))]);
    Ok(())
}

fn many() -> impl Iterator<Item = (alloc::string::String, u64)> {
    (0..1_000_u64).map(|number| (format!("agent:main:t{}", number * 7 % 1_000), number * 7 % 1_000))
}

fn save_many(t: &mut Trial) -> Played {
    let heads =
        many().map(|(key, number)| HeadChange { session: session(&key), head: head(number + 1) });
    let cursors = many().map(|(key, number)| live(W, &key, number, number));
    let changes = Changes { heads: heads.collect(), cursors: cursors.collect() };
    let saved = storage::save(&changes);
    t.must("`save` of 1,000 heads and 1,000 cursors", saved.is_ok(), "succeed", &saved);
    Ok(())
}

fn see_many(t: &mut Trial) -> Played {
    let asked: Vec<Pair> = many().map(|(key, _)| pair(W, &key)).collect();
    let must: Vec<PairState> = many()
        .map(|(key, number)| PairState {
            cursor: Some(live(W, &key, number, number)),
            head: Some(head(number + 1)),
        })
        .collect();
    let was = t.pairs(&asked)?;
    let wrong = was.iter().zip(&must).position(|(was, must)| was != must);
    t.must(
        "`pairs` of 1,000 pairs",
        was.len() == 1_000 && wrong.is_none(),
        "have each cursor and head as saved, in the order asked",
        &(was.len(), wrong.map(|at| &was[at])),
    );
    let sessions: Vec<_> = many().map(|(key, _)| session(&key)).collect();
    let was = t.heads(&sessions)?;
    let must: Vec<_> = many().map(|(_, number)| Some(head(number + 1))).collect();
    let wrong = was.iter().zip(&must).position(|(was, must)| was != must);
    t.must(
        "`heads` of 1,000 sessions",
        was.len() == 1_000 && wrong.is_none(),
        "have each head as saved, in the order asked",
        &(was.len(), wrong.map(|at| &was[at])),
    );
    Ok(())
}

fn save_some(t: &mut Trial) -> Played {
    t.save_heads(&[(session(A), head(2)), (of_agent(A, "other"), head(5))])?;
    t.save_cursors(&[live(W, A, 1, 2), mark(W, B), on(X, of_agent(A, "other"), 0, 0)])
}

fn see_pairs(t: &mut Trial) -> Played {
    let state = |cursor, head| PairState { cursor, head };
    let other = Pair { watcher: X.into(), target: of_agent(A, "other") };
    let asked = [pair(W, B), pair(X, A), other, pair(W, A), pair(X, C), pair(W, A)];
    let live_one = state(Some(live(W, A, 1, 2)), Some(head(2)));
    let must = [
        state(Some(mark(W, B)), None),
        state(None, Some(head(2))),
        state(Some(on(X, of_agent(A, "other"), 0, 0)), Some(head(5))),
        live_one.clone(),
        state(None, None),
        live_one,
    ];
    let was = t.pairs(&asked)?;
    let words = "`pairs` of a mark, a pair without a cursor, one of another agent, a live \
        cursor, nothing, and the live cursor again";
    t.must_be(words, &was, &must);
    let was = t.pairs(&[])?;
    t.must_be("`pairs` of none", &was, &[]);
    Ok(())
}

fn see_heads(t: &mut Trial) -> Played {
    let asked = [
        session(B),
        of_agent(A, "other"),
        session("agent:main:never"),
        session(A),
        of_agent(A, "other"),
    ];
    let was = t.heads(&asked)?;
    let must = [None, Some(head(5)), None, Some(head(2)), Some(head(5))];
    t.must_be(
        "`heads` of a session without one, another agent's, one that never was, one, and \
        the second again",
        &was,
        &must,
    );
    let was = t.heads(&[])?;
    t.must_be("`heads` of none", &was, &[]);
    Ok(())
}
