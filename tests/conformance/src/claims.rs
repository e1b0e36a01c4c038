//! `claim`: which links it takes, and what it leaves with them.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use crate::contract::{ClaimRequest, Link, Session, Upstream};
use crate::material::{
    A, B, C, MOST, W, due, entry, link, linked, live, mark, of_agent, on, session,
};
use crate::play::{Case, Played, Stop, reads, writes};
use crate::trial::{Trial, Verb};

const SUBJECT: &str = "claims";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "A claim holds: what one call claimed, another does not get, until the moment it \
            ends.",
        steps: &[
            writes(adopt_three),
            writes(claim_three),
            writes(claim_none),
            writes(claim_none).reopened(),
            writes(claim_later),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "A claim takes links that a live cursor targets, of the kinds asked for.",
        steps: &[writes(adopt_various), writes(claim_various)],
    },
    Case {
        subject: SUBJECT,
        rule: "`claimed-too` takes links that are claimed as well.",
        steps: &[writes(adopt_three), writes(claim_three), writes(claim_claimed)],
    },
    Case {
        subject: SUBJECT,
        rule: "A claim beyond `until` is one of a clock that was set back, and counts for nothing.",
        steps: &[writes(adopt_three), writes(claim_ahead), writes(claim_set_back)],
    },
    Case {
        subject: SUBJECT,
        rule: "Sessions whose turn runs beyond `now` are left out, also with `claimed-too`; a \
            turn beyond `running-at-most` counts for nothing.",
        steps: &[writes(adopt_running), writes(claim_not_running)],
    },
    Case {
        subject: SUBJECT,
        rule: "A claim returns what is kept of each source, by session key, then agent, byte by \
            byte.",
        steps: &[writes(adopt_in_disorder), writes(claim_in_order)],
    },
    Case {
        subject: SUBJECT,
        rule: "A claim changes nothing that is seen of the link: its revision stays.",
        steps: &[writes(adopt_three), writes(claim_three), reads(see_as_before)],
    },
    Case {
        subject: SUBJECT,
        rule: "A claim stays when the link is saved, unless it is given back or the generation \
            is another.",
        steps: &[writes(adopt_three), writes(claim_three), writes(save_three), writes(claim_two)],
    },
    Case {
        subject: SUBJECT,
        rule: "A claim goes with a link that goes, and with a rollback.",
        steps: &[
            writes(adopt_three),
            writes(claim_in_vain),
            writes(claim_three),
            writes(delete_and_adopt),
            writes(claim_deleted),
        ],
    },
];

fn adopt(t: &mut Trial, key: &str) -> Played {
    t.save_upstream(&linked(key), 0)?;
    t.save_cursors(&[live(W, key, 0, 0)])
}

fn adopt_three(t: &mut Trial) -> Played {
    for key in [C, A, B] {
        adopt(t, key)?;
    }
    Ok(())
}

/// What a claim must take, by key.
fn must_claim(
    t: &mut Trial,
    what: &str,
    request: &ClaimRequest,
    must: &[&str],
) -> Verb<Vec<Upstream>> {
    let claimed = t.claim(request)?;
    let keys: Vec<&str> = claimed.iter().map(|upstream| upstream.session.key.as_str()).collect();
    t.must_be(&format!("the links that `claim` takes {what}"), &keys, &must);
    Ok(claimed)
}

fn claim_three(t: &mut Trial) -> Played {
    let claimed = must_claim(t, "where three are free", &due(), &[A, B, C])?;
    let must: Vec<_> =
        [A, B, C].into_iter().map(|key| Upstream { watched: true, ..linked(key) }).collect();
    t.must_be("what it returns", &claimed, &must);
    must_claim(t, "again in the same call", &due(), &[])?;
    Ok(())
}

fn claim_none(t: &mut Trial) -> Played {
    must_claim(t, "where another call claimed all until 160,000, at 100,000", &due(), &[])?;
    let later = ClaimRequest { now: 159_999, until: 219_999, ..due() };
    must_claim(t, "at 159,999", &later, &[])?;
    Ok(())
}

fn claim_later(t: &mut Trial) -> Played {
    let later = ClaimRequest { now: 160_000, until: 220_000, ..due() };
    must_claim(t, "at 160,000, when the claims end", &later, &[A, B, C])?;
    must_claim(t, "at 160,000 once more", &later, &[])?;
    Ok(())
}

fn adopt_various(t: &mut Trial) -> Played {
    adopt(t, A)?;
    let mut other = linked(B);
    other.link = Some(Link {
        source: crate::contract::Source { kind: "codex-jsonl".to_string(), ..link().source },
        ..link()
    });
    t.save_upstream(&other, 0)?;
    t.save_cursors(&[live(W, B, 0, 4)])?;
    // A link that nobody watches, one with a mark, one of a watcher; a watched session without one.
    for key in [C, "agent:main:marked", W] {
        t.save_upstream(&linked(key), 0)?;
    }
    t.save_cursors(&[
        mark(W, "agent:main:marked"),
        live(W, "agent:main:no-link", 0, 0),
        on(W, of_agent(C, "other"), 0, 0),
    ])
}

fn claim_various(t: &mut Trial) -> Played {
    let of = |kinds: &[&str]| ClaimRequest {
        kinds: kinds.iter().map(ToString::to_string).collect(),
        ..due()
    };
    must_claim(t, "of no kind", &of(&[]), &[])?;
    must_claim(
        t,
        "of kinds that only begin as its kind does, or look like it",
        &of(&["claude", "claude-node2", "CLAUDE-NODE", "claude_node", "%", "\"", ""]),
        &[],
    )?;
    must_claim(t, "of another kind", &of(&["codex-jsonl"]), &[B])?;
    let all = ClaimRequest { claimed_too: true, ..of(&["codex-jsonl", "claude-node"]) };
    must_claim(t, "of two kinds, where others are not watched", &all, &[A, B])?;
    Ok(())
}

fn claim_claimed(t: &mut Trial) -> Played {
    let all = ClaimRequest { claimed_too: true, ..due() };
    must_claim(t, "with `claimed-too`, where all are claimed", &all, &[A, B, C])?;
    must_claim(t, "with `claimed-too` again", &all, &[A, B, C])?;
    must_claim(t, "without it after that", &due(), &[])?;
    Ok(())
}

fn claim_ahead(t: &mut Trial) -> Played {
    let ahead = ClaimRequest { now: 940_000, until: 1_000_000, running_at_most: MOST, ..due() };
    must_claim(t, "by a clock that is ahead", &ahead, &[A, B, C])?;
    Ok(())
}

fn claim_set_back(t: &mut Trial) -> Played {
    let same = ClaimRequest { until: 1_000_000, ..due() };
    must_claim(t, "until 1,000,000, where claims end then", &same, &[])?;
    must_claim(t, "until 160,000, where claims end at 1,000,000", &due(), &[A, B, C])?;
    Ok(())
}

fn adopt_running(t: &mut Trial) -> Played {
    let until = [
        (A, 100_000),
        (B, 100_001),
        (C, 7_300_000),
        ("agent:main:d", 7_300_001),
        ("agent:main:e", MOST),
    ];
    for (key, running_until) in until {
        t.save_upstream(&Upstream { running_until, ..linked(key) }, 0)?;
        t.save_cursors(&[live(W, key, 0, 0)])?;
    }
    Ok(())
}

fn claim_not_running(t: &mut Trial) -> Played {
    let must = [A, "agent:main:d", "agent:main:e"];
    let words = "at 100,000, running at most 7,300,000, where turns run until 100,000, 100,001, \
        7,300,000, 7,300,001 and 2^53 - 1";
    must_claim(t, words, &due(), &must)?;
    let all = ClaimRequest { claimed_too: true, ..due() };
    must_claim(t, "with `claimed-too` there", &all, &must)?;
    Ok(())
}

/// In order of their bytes.
fn ordered() -> [Session; 5] {
    [
        session("GLOBAL"),
        session("agent:main:\u{ff5e}"),
        session("agent:main:\u{1f600}"),
        of_agent("global", "a"),
        of_agent("global", "b"),
    ]
}

fn adopt_in_disorder(t: &mut Trial) -> Played {
    for target in ordered().into_iter().rev() {
        t.save_upstream(
            &Upstream { session: target.clone(), sent: target.key.clone(), ..linked(A) },
            0,
        )?;
        t.save_cursors(&[on(W, target, 0, 0)])?;
    }
    Ok(())
}

fn claim_in_order(t: &mut Trial) -> Played {
    let was = t.claim(&due())?;
    let must = ordered().map(|session| Upstream {
        sent: session.key.clone(),
        session,
        watched: true,
        ..linked(A)
    });
    t.must_be("what `claim` returns of five links", &was, &must);
    Ok(())
}

fn see_as_before(t: &mut Trial) -> Played {
    for key in [A, B, C] {
        let was = t.upstream_of(&session(key))?;
        t.must_be(
            "`upstream-of` a session whose link was claimed",
            &was,
            &Upstream { watched: true, ..linked(key) },
        );
    }
    Ok(())
}

fn save_three(t: &mut Trial) -> Played {
    let stays = Link { revision: 9, state: "{}".to_string(), ..link() };
    let given_back = Link { claimed: false, ..stays.clone() };
    let anew = Link { generation: 4, ..stays.clone() };
    for (key, saved) in [(A, stays), (B, given_back), (C, anew)] {
        t.save_upstream(&Upstream { link: Some(saved.clone()), ..linked(key) }, 100_001)?;
        let was = t.upstream_of(&session(key))?.link;
        t.must_be(
            "a link that was claimed and saved; `claimed` is true where it is read",
            &was,
            &Some(Link { claimed: true, ..saved }),
        );
    }
    Ok(())
}

fn claim_two(t: &mut Trial) -> Played {
    let words = "where all three were claimed, and saved since: one as claimed, one given back, \
        one of a new generation";
    must_claim(t, words, &due(), &[B, C])?;
    Ok(())
}

fn claim_in_vain(t: &mut Trial) -> Played {
    must_claim(t, "in a step that is rolled back", &due(), &[A, B, C])?;
    Err(Stop::OnPurpose)
}

fn delete_and_adopt(t: &mut Trial) -> Played {
    t.record(entry(A))?;
    t.delete(&session(A), 100_001)?;
    adopt(t, A)?;
    t.save_upstream(&Upstream { link: None, ..linked(B) }, 100_001)?;
    adopt(t, B)
}

fn claim_deleted(t: &mut Trial) -> Played {
    let words = "where all three were claimed, and one session was deleted since, one link went, \
        and both came again";
    must_claim(t, words, &due(), &[A, B])?;
    Ok(())
}
