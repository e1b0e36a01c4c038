//! One call is one transaction: all of it or nothing, for every verb that writes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::contract::{
    CursorQuery, Delivery, Level, Session, StorageFailure, log, queue, settings, storage,
};
use crate::material::{
    A, B, C, MOST, NOTHING_DUE, W, X, adopted, due, entry, head, keyed, linked, live, mark,
    opening, pair, session,
};
use crate::play::{Case, Played, Stop, outside, reads, writes};
use crate::trial::{Trial, Verb, trap};

const SUBJECT: &str = "atomicity";

/// A case for each verb: it is rolled back by an error, then by a trap.
const fn undone(rule: &'static str, steps: &'static [crate::play::Step]) -> Case {
    Case { subject: SUBJECT, rule, steps }
}

macro_rules! undone {
    ($rule:literal, $deed:ident) => {
        undone($rule, {
            fn and_fails(t: &mut Trial) -> Played {
                $deed(t)?;
                Err(Stop::OnPurpose)
            }
            fn and_traps(t: &mut Trial) -> Played {
                $deed(t)?;
                trap()
            }
            const STEPS: &[crate::play::Step] = &[
                writes(prepare),
                writes(and_fails),
                reads(see_as_before),
                writes(and_traps).traps(),
                reads(see_as_before),
                reads(see_as_before).reopened(),
            ];
            STEPS
        })
    };
}

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "What a call wrote is there once it ended well: all of it, for others and after a \
            reopening.",
        steps: &[writes(prepare), reads(see_prepared), reads(see_prepared).reopened()],
    },
    undone!("`append` is undone by an error and by a trap.", append),
    undone!("`save` is undone by an error and by a trap.", save),
    undone!("`reset` is undone by an error and by a trap.", reset),
    undone!("`delete` is undone by an error and by a trap.", delete),
    undone!("`prune` is undone by an error and by a trap.", prune),
    undone!("`restored` is undone by an error and by a trap.", restore),
    undone!("`save-upstream` is undone by an error and by a trap.", save_upstream),
    undone!(
        "`claim` is undone by an error and by a trap, with all that was written beside it.",
        claim
    ),
    undone!("`settings.set` is undone by an error and by a trap.", set),
    Case {
        subject: SUBJECT,
        rule: "A call under which a verb failed is lost, even if it answers ok.",
        steps: &[
            writes(prepare),
            writes(fail_and_say_ok),
            reads(see_as_before),
            writes(prepare_more),
        ],
    },
    Case {
        subject: SUBJECT,
        rule: "Without a transaction every verb of storage and settings fails.",
        steps: &[writes(prepare), outside(use_every_verb), reads(see_as_before)],
    },
];

fn prepare(t: &mut Trial) -> Played {
    t.record(keyed(A, "k"))?;
    t.record(entry(B))?;
    let version = t.record(entry(A))?;
    t.save_cursors(&[live(W, A, 0, version), live(X, A, 1, 1), mark(C, A), live(A, B, 0, 0)])?;
    t.save_upstream(&adopted(A), 1_000)?;
    t.save_upstream(&linked(B), 1_000)?;
    t.set(&[("deed", "before")])?;
    for (name, part) in image(t)? {
        t.note(name, hash(&part))?;
    }
    Ok(())
}

/// All that is stored, by what it is.
fn image(t: &mut Trial) -> Verb<Vec<(&'static str, String)>> {
    let sessions: [Session; 3] = [session(A), session(B), session(C)];
    let mut log = Vec::new();
    let mut sources = Vec::new();
    for session in &sessions {
        log.push(t.history(session, 0, 100)?);
        sources.push(t.upstream_of(session)?);
    }
    let pairs = [pair(W, A), pair(X, A), pair(C, A), pair(A, B), pair(W, B), pair(W, C)];
    let mut lists = Vec::new();
    for query in
        [CursorQuery::Open, CursorQuery::OfWatcher(W.into()), CursorQuery::OnTarget(session(A))]
    {
        lists.push(t.cursors(&query, None, 100)?);
    }
    Ok(Vec::from([
        ("log", format!("{log:?}")),
        ("heads", format!("{:?}", t.heads(&sessions)?)),
        ("cursors", format!("{:?}", t.between(&pairs)?)),
        ("lists", format!("{lists:?}")),
        ("counts", format!("{:?}", t.open_counts()?)),
        ("sources", format!("{sources:?}")),
        ("settings", format!("{:?}", t.get(&["deed", "other"])?)),
    ]))
}

/// FNV-1a, cut to what a setting keeps exactly anyway.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn see_as_before(t: &mut Trial) -> Played {
    for (name, part) in image(t)? {
        let as_before = t.noted(name)? == hash(&part);
        let asked = format!("the {name} after a call that was rolled back");
        t.must(&asked, as_before, "be as before it", &part);
    }
    Ok(())
}

fn see_prepared(t: &mut Trial) -> Played {
    for (name, part) in image(t)? {
        let as_written = t.noted(name)? == hash(&part);
        let asked = format!("the {name} after the call that wrote them ended well");
        t.must(&asked, as_written, "be as that call saw them", &part);
    }
    let rows = t.numbers(&session(A), 0, 100)?.len() + t.numbers(&session(B), 0, 100)?.len();
    t.must_be("how many rows there are of three that were appended", &rows, &3);
    Ok(())
}

fn append(t: &mut Trial) -> Played {
    t.record(keyed(A, "other"))?;
    t.record(entry(C))?;
    Ok(())
}

fn save(t: &mut Trial) -> Played {
    t.save_heads(&[(session(A), head(99)), (session(C), head(98))])?;
    t.save_cursors(&[mark(W, A), live(X, A, 1, 99), live(C, A, 0, 0), live(W, C, 0, 1)])
}

fn reset(t: &mut Trial) -> Played {
    t.reset(W)?;
    t.reset(A)?;
    Ok(())
}

fn delete(t: &mut Trial) -> Played {
    t.delete(&session(A), 2_000)?;
    Ok(())
}

fn prune(t: &mut Trial) -> Played {
    t.prune(crate::contract::PruneRequest {
        keep_rows: 0,
        moved_before: Some(MOST),
        ..NOTHING_DUE
    })?;
    Ok(())
}

fn restore(t: &mut Trial) -> Played {
    t.restored(1 << 32)?;
    Ok(())
}

fn save_upstream(t: &mut Trial) -> Played {
    t.save_upstream(&linked(A), 2_000)?;
    t.save_upstream(&crate::material::unlinked(session(B)), 2_000)?;
    t.save_upstream(&adopted(C), 2_000)
}

/// Both times it gets the link: the first claim is as if never made.
fn claim(t: &mut Trial) -> Played {
    let claimed = t.claim(&due())?;
    let keys: Vec<&str> = claimed.iter().map(|upstream| upstream.session.key.as_str()).collect();
    t.must_be(
        "the links that `claim` takes, whose claim before was rolled back or never was",
        &keys,
        &[A, B],
    );
    append(t)
}

fn set(t: &mut Trial) -> Played {
    t.set(&[("deed", "after"), ("other", "new")])
}

fn fail_and_say_ok(t: &mut Trial) -> Played {
    append(t)?;
    set(t)?;
    queue::enqueue(&[opening(W, 1, Delivery::AnnounceAndWake)]);
    let beyond = storage::restored(MOST);
    t.must_fail("`restored` by 2^53 - 1, where the series has begun", &beyond);
    Ok(())
}

/// Also looks at the news of the step before.
fn prepare_more(t: &mut Trial) -> Played {
    let was = t.news.openings.clone();
    t.must_be("what was delivered of a call under which a verb failed", &was, &[]);
    append(t)
}

fn use_every_verb(t: &mut Trial) -> Played {
    let a = session(A);
    let saved = storage::save(&crate::contract::Changes {
        heads: Vec::new(),
        cursors: Vec::from([live(W, C, 0, 0)]),
    });
    let setting = crate::contract::Setting { name: "deed".into(), value: "after".into() };
    let answers: [(&str, Result<(), StorageFailure>); 16] = [
        ("append", storage::append(&crate::material::request(entry(A))).map(drop)),
        ("save", saved),
        ("cursors", storage::cursors(&CursorQuery::Open, None, 10).map(drop)),
        ("pairs", storage::pairs(&[pair(W, A)]).map(drop)),
        ("open-counts", storage::open_counts().map(drop)),
        ("heads", storage::heads(&[session(A)]).map(drop)),
        ("history", storage::history(&a, 0, 10).map(drop)),
        ("reset", storage::reset(W).map(drop)),
        ("delete", storage::delete(&a, 2_000).map(drop)),
        ("prune", storage::prune(NOTHING_DUE).map(drop)),
        ("restored", storage::restored(1).map(drop)),
        ("upstream-of", storage::upstream_of(&a).map(drop)),
        ("save-upstream", storage::save_upstream(&linked(C), 0)),
        ("claim", storage::claim(&due()).map(drop)),
        ("settings.get", settings::get(&["deed".into()]).map(drop)),
        ("settings.set", settings::set(&[setting])),
    ];
    for (verb, answer) in &answers {
        t.must_fail(&format!("`{verb}` without a transaction"), answer);
    }
    queue::enqueue(&[opening(W, 1, Delivery::Announce)]);
    log::write(Level::Info, "said without a transaction");
    Ok(())
}
