//! `queue` and `log`: what reaches the gateway, and when.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::contract::{Delivery, Level, Opening, log, queue};
use crate::material::{W, X, entry, opening};
use crate::play::{Case, Played, Stop, outside, reads, writes};
use crate::trial::{Trial, trap};

pub const CASES: &[Case] = &[
    Case {
        subject: "queue",
        rule: "What a call enqueued is delivered once it is committed: all of it, unchanged, in \
            the order in which it was enqueued.",
        steps: &[writes(enqueue_some), writes(see_some), reads(see_no_openings)],
    },
    Case {
        subject: "queue",
        rule: "What a call enqueued before an error is dropped.",
        steps: &[writes(enqueue_and_fail), reads(see_no_openings)],
    },
    Case {
        subject: "queue",
        rule: "What a call enqueued before a trap is dropped.",
        steps: &[writes(enqueue_and_trap).traps(), reads(see_no_openings)],
    },
    Case {
        subject: "queue",
        rule: "What is enqueued without a transaction goes nowhere.",
        steps: &[outside(enqueue_outside), reads(see_no_openings)],
    },
    Case {
        subject: "queue",
        rule: "Nothing is delivered before the commit.",
        steps: &[
            writes(enqueue_before_rival),
            reads(see_no_openings).when_called(),
            reads(see_first),
        ],
    },
    Case {
        subject: "queue",
        rule: "A thousand openings of one call are delivered.",
        steps: &[writes(enqueue_thousand), reads(see_thousand)],
    },
    Case {
        subject: "log",
        rule: "A line is kept whatever becomes of its call, with its level, in order.",
        steps: &[
            writes(say),
            reads(hear),
            reads(say),
            writes(hear),
            writes(say_and_fail),
            reads(hear),
            writes(say_and_trap).traps(),
            reads(hear_first),
            outside(say),
            reads(hear),
        ],
    },
];

fn some() -> [Opening; 5] {
    let mut bare = opening(X, 0, Delivery::Announce);
    bare.notice.text = String::new();
    bare.notice.target = crate::material::of_agent("global", "other");
    let mut large = opening("agent:main:a", (1 << 53) - 2, Delivery::Wake);
    large.notice.text = "\"\u{e9}\\".repeat(700);
    [
        opening(X, 7, Delivery::AnnounceAndWake),
        bare,
        opening(W, 3, Delivery::Wake),
        large,
        opening(X, 7, Delivery::AnnounceAndWake),
    ]
}

fn enqueue_some(t: &mut Trial) -> Played {
    t.record(entry("agent:main:a"))?;
    let [first, second, rest @ ..] = some();
    queue::enqueue(&[first]);
    queue::enqueue(&[]);
    queue::enqueue(&[second]);
    queue::enqueue(&rest);
    Ok(())
}

fn see_some(t: &mut Trial) -> Played {
    let was = t.news.openings.clone();
    t.must_be("what was delivered of five openings of one call, two of them equal", &was, &some());
    Ok(())
}

fn see_no_openings(t: &mut Trial) -> Played {
    let was = t.news.openings.clone();
    let asked = "what was delivered since the step before, which enqueued nothing, or did not \
        commit, or did not yet";
    t.must_be(asked, &was, &[]);
    Ok(())
}

fn enqueue_and_fail(_: &mut Trial) -> Played {
    queue::enqueue(&some());
    Err(Stop::OnPurpose)
}

fn enqueue_and_trap(_: &mut Trial) -> Played {
    queue::enqueue(&some());
    trap()
}

fn enqueue_outside(_: &mut Trial) -> Played {
    queue::enqueue(&some());
    Ok(())
}

fn enqueue_before_rival(t: &mut Trial) -> Played {
    t.set(&[("enqueued", "first")])?;
    queue::enqueue(&[opening(W, 1, Delivery::Announce)]);
    t.rival(1, "that nothing is delivered before the commit")
}

fn see_first(t: &mut Trial) -> Played {
    if t.get(&["enqueued"])? == [None] {
        // There was no rival, which was told, and so nothing was committed.
        return Ok(());
    }
    let was = t.news.openings.clone();
    t.must_be(
        "what was delivered once it was committed",
        &was,
        &[opening(W, 1, Delivery::Announce)],
    );
    Ok(())
}

fn thousand() -> Vec<Opening> {
    (0..1_000)
        .map(|number| opening(&format!("agent:main:w{number}"), number, Delivery::Announce))
        .collect()
}

fn enqueue_thousand(_: &mut Trial) -> Played {
    queue::enqueue(&thousand());
    Ok(())
}

fn see_thousand(t: &mut Trial) -> Played {
    let was = core::mem::take(&mut t.news.openings);
    let must = thousand();
    let wrong = was.iter().zip(&must).position(|(was, must)| was != must);
    t.must(
        "what was delivered of 1,000 openings of one call",
        was.len() == 1_000 && wrong.is_none(),
        "be all, in order",
        &(was.len(), wrong.map(|at| &was[at])),
    );
    Ok(())
}

const LINES: [(Level, &str); 4] = [
    (Level::Warn, "first: \"quoted\" \u{1f980}"),
    (Level::Debug, "second"),
    (Level::Error, "third"),
    (Level::Info, "fourth"),
];

fn say(_: &mut Trial) -> Played {
    for (level, message) in LINES {
        log::write(level, message);
    }
    Ok(())
}

fn hear(t: &mut Trial) -> Played {
    let heard = t.news.lines.iter();
    let was: Vec<(Level, String)> = heard.map(|line| (line.level, line.message.clone())).collect();
    let must = LINES.map(|(level, message)| (level, message.to_string()));
    t.must_be("the lines that the step before wrote to the log", &was, &must);
    Ok(())
}

fn say_and_fail(t: &mut Trial) -> Played {
    say(t)?;
    Err(Stop::OnPurpose)
}

fn say_and_trap(t: &mut Trial) -> Played {
    say(t)?;
    trap()
}

/// A host may say more about the trap.
fn hear_first(t: &mut Trial) -> Played {
    t.news.lines.truncate(LINES.len());
    hear(t)
}
