//! `upstream-of` and `save-upstream`: what is kept of a session's source.

use alloc::string::String;

use crate::contract::{Cursor, Link, Source, Upstream};
use crate::material::{
    A, B, C, W, X, adopted, link, linked, live, mark, of_agent, on, session, unlinked,
};
use crate::play::{Case, Played, reads, writes};
use crate::trial::Trial;

const SUBJECT: &str = "sources";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "`save-upstream` makes what is kept of a session's source this; `upstream-of` \
            returns it.",
        steps: &[writes(save_and_replace), reads(see_last), reads(see_last).reopened()],
    },
    Case {
        subject: SUBJECT,
        rule: "An absent link goes; what the gateway sent and whether a turn runs are kept \
            without one.",
        steps: &[writes(save_without), writes(save_link_alone), reads(see_link_alone)],
    },
    Case {
        subject: SUBJECT,
        rule: "What the gateway said goes once nothing was sent and no turn runs.",
        steps: &[writes(let_turns_end)],
    },
    Case {
        subject: SUBJECT,
        rule: "The same key under two agents is two links.",
        steps: &[writes(adopt_namesakes), reads(see_one_of_them)],
    },
    Case {
        subject: SUBJECT,
        rule: "`watched` says whether a live cursor targets exactly the session, whatever was \
            saved.",
        steps: &[writes(watch), reads(see_unwatched), writes(watch_it), reads(see_watched)],
    },
];

/// Each replaces the one before.
fn replacements() -> [Upstream; 4] {
    let source = Source { thread: None, kind: "claude-jsonl".into(), place: "/t.jsonl".into() };
    let of_a_file = Link {
        source,
        catalog: "other".into(),
        generation: 4,
        revision: 9,
        misses: 0,
        claimed: true,
        state: String::new(),
    };
    [
        adopted(A),
        Upstream { link: Some(of_a_file), sent: "2c".into(), running_until: 0, ..adopted(A) },
        Upstream {
            link: Some(Link { misses: 1_000, ..link() }),
            running_until: 9_000,
            ..adopted(A)
        },
        Upstream { sent: String::new(), ..adopted(A) },
    ]
}

fn save_and_replace(t: &mut Trial) -> Played {
    let was = t.upstream_of(&session(A))?;
    t.must_be("`upstream-of` a session of which nothing is kept", &was, &unlinked(session(A)));
    for saved in replacements() {
        t.save_upstream(&saved, 1_000)?;
        let was = t.upstream_of(&session(A))?;
        t.must_be("`upstream-of` within the step that saved it", &was, &saved);
    }
    Ok(())
}

fn see_last(t: &mut Trial) -> Played {
    let [.., last] = replacements();
    let was = t.upstream_of(&session(A))?;
    t.must_be("`upstream-of` once it is committed", &was, &last);
    let was = t.upstream_of(&session(B))?;
    t.must_be("`upstream-of` another session", &was, &unlinked(session(B)));
    Ok(())
}

fn save_without(t: &mut Trial) -> Played {
    t.save_upstream(&adopted(B), 1_000)?;
    let said = Upstream { link: None, ..adopted(A) };
    let steps = [
        adopted(A),
        said.clone(),
        Upstream { running_until: 0, ..said.clone() },
        Upstream { sent: String::new(), ..said },
        unlinked(session(A)),
        unlinked(session(A)),
    ];
    for saved in steps {
        t.save_upstream(&saved, 1_000)?;
        let was = t.upstream_of(&session(A))?;
        t.must_be("`upstream-of` after less and less was saved", &was, &saved);
    }
    Ok(())
}

fn save_link_alone(t: &mut Trial) -> Played {
    t.save_upstream(&adopted(A), 1_000)?;
    t.save_upstream(&linked(A), 1_000)
}

fn see_link_alone(t: &mut Trial) -> Played {
    for must in [linked(A), adopted(B)] {
        let was = t.upstream_of(&must.session)?;
        t.must_be(
            "`upstream-of` a session with a link alone, and of another with all",
            &was,
            &must,
        );
    }
    Ok(())
}

fn let_turns_end(t: &mut Trial) -> Played {
    let over = Upstream { sent: String::new(), ..adopted(A) };
    t.save_upstream(&over, 4_999)?;
    let was = t.upstream_of(&session(A))?.running_until;
    t.must_be(
        "saved at 4,999 that a turn runs until 5,000 and nothing was sent, asked until when",
        &was,
        &5_000,
    );
    t.save_upstream(&over, 5_000)?;
    let was = t.upstream_of(&session(A))?;
    t.must_be("the same saved at 5,000", &was, &linked(A));
    t.save_upstream(&adopted(A), 9_000)?;
    let was = t.upstream_of(&session(A))?;
    t.must_be(
        "saved at 9,000 that a turn ran until 5,000 and something was sent",
        &was,
        &adopted(A),
    );
    Ok(())
}

fn namesake(agent: &str) -> Upstream {
    let link = Link { catalog: agent.into(), ..link() };
    Upstream { session: of_agent("global", agent), link: Some(link), ..adopted("global") }
}

fn adopt_namesakes(t: &mut Trial) -> Played {
    for agent in ["main", "other"] {
        t.save_upstream(&namesake(agent), 0)?;
    }
    t.save_upstream(&unlinked(of_agent("global", "main")), 0)
}

fn see_one_of_them(t: &mut Trial) -> Played {
    for must in [unlinked(of_agent("global", "main")), namesake("other")] {
        let was = t.upstream_of(&must.session)?;
        t.must_be("what is kept of `global` of two agents after that of one went", &was, &must);
    }
    Ok(())
}

fn watch(t: &mut Trial) -> Played {
    for key in [A, B] {
        t.save_upstream(&Upstream { watched: true, ..adopted(key) }, 0)?;
    }
    let others: [Cursor; 4] = [
        mark(W, A),
        live(A, C, 0, 0),
        on(W, of_agent(A, "other"), 0, 0),
        live(W, "agent:main:a:b", 0, 0),
    ];
    t.save_cursors(&others)
}

fn watched(t: &mut Trial, key: &str, what: &str, must: bool) -> Played {
    let was = t.upstream_of(&session(key))?.watched;
    t.must_be(&alloc::format!("`watched` in `upstream-of` a session {what}"), &was, &must);
    Ok(())
}

fn see_unwatched(t: &mut Trial) -> Played {
    watched(t, A, "with a mark on it, and live cursors on its namesake and from itself", false)?;
    watched(t, B, "that nobody watches, although it was saved as watched", false)?;
    watched(t, C, "that is watched and has no link", true)
}

fn watch_it(t: &mut Trial) -> Played {
    t.save_cursors(&[live(X, A, 0, 0), live(X, B, 0, 7)])
}

fn see_watched(t: &mut Trial) -> Played {
    watched(t, A, "with a settled live cursor on it", true)?;
    watched(t, B, "with a pending live cursor on it", true)
}
