//! Opaque text: stored and returned byte for byte, up to its largest size; absent is not empty.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::contract::{Entry, Head, Notifying, Session, Source, Upstream};
use crate::material::{A, MOST, adopted, entry, head, link, live, of_agent, pair, session};
use crate::play::{Case, Played, reads, writes};
use crate::trial::Trial;

const SUBJECT: &str = "text";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "Text comes back byte for byte: quotes, backslashes, wildcards, digits, any Unicode.",
        steps: &[writes(store_odd_text), reads(see_odd_text), reads(see_odd_text).reopened()],
    },
    Case {
        subject: SUBJECT,
        rule: "Absent is not empty.",
        steps: &[writes(store_empty_and_absent), reads(see_empty_and_absent)],
    },
    Case {
        subject: SUBJECT,
        rule: "The longest texts that the contract allows fit.",
        steps: &[writes(store_longest), reads(see_longest)],
    },
    Case {
        subject: SUBJECT,
        rule: "Keys that differ in a byte are different: by case, by composition, by a space.",
        steps: &[writes(store_likes), reads(see_likes)],
    },
    Case {
        subject: SUBJECT,
        rule: "Numbers up to 2^53 - 1 come back exactly.",
        steps: &[writes(store_numbers), reads(see_numbers)],
    },
];

/// What some storage somewhere once changed.
const ODD: [&str; 14] = [
    "it's \"quoted\" `so`, and '' twice",
    "back\\slash \\n \\u0041 \\0",
    "100% of_any * ? [a-z] $1 :name @p ?1",
    "  spaces  around  ",
    "007",
    "1e3",
    "null",
    "-- comment /* here */; DROP TABLE x",
    "e\u{301} is not \u{e9}",
    "\u{df} \u{130} \u{131} \u{3a3}\u{3c2}\u{3c3}",
    "\u{1f980}\u{1f469}\u{200d}\u{1f680} \u{10ffff} \u{fffd}",
    "\u{feff}mark first",
    "\u{202e}right to left\u{202c}",
    "{\"a\":1,\"a\":2, \"b\" : 1.0}",
];

fn odd(number: usize) -> Entry {
    let text = ODD[number].to_string();
    Entry {
        actor_id: Some(text.clone()),
        summary: text.clone(),
        session_id: Some(text.clone()),
        run_id: Some(text.clone()),
        payload: Some(text.clone()),
        dedupe_key: Some(text.clone()),
        ..entry(&format!("agent:main:{text}"))
    }
}

fn odd_head(version: u64, number: usize) -> Head {
    let notifying = Notifying { newest: version, actor: Some(ODD[number].to_string()), other: 0 };
    Head { notifying: Some(notifying), ..head(version) }
}

fn odd_upstream(number: usize) -> Upstream {
    let text = ODD[number].to_string();
    let source = Source { place: text.clone(), thread: Some(text.clone()), ..link().source };
    let link =
        crate::contract::Link { source, catalog: text.clone(), state: text.clone(), ..link() };
    Upstream { session: odd(number).session, link: Some(link), sent: text, ..adopted(A) }
}

fn odd_watcher(number: usize) -> String {
    format!("agent:main:w:{}", ODD[number])
}

fn store_odd_text(t: &mut Trial) -> Played {
    for (number, text) in ODD.iter().enumerate() {
        let session = odd(number).session;
        let version = t.record(odd(number))?;
        t.save_heads(&[(session.clone(), odd_head(version, number))])?;
        t.save_cursors(&[crate::material::on(&odd_watcher(number), session, 0, 0)])?;
        t.save_upstream(&odd_upstream(number), 0)?;
        t.set(&[(&format!("odd.{number}"), text)])?;
    }
    Ok(())
}

fn see_odd_text(t: &mut Trial) -> Played {
    for (number, text) in ODD.iter().enumerate() {
        let session = odd(number).session;
        let page = t.history(&session, 0, 10)?;
        let version = page.rows.first().map_or(0, |row| row.sequence);
        let rows: Vec<Entry> = page.rows.into_iter().map(|row| row.entry).collect();
        t.must_be(&format!("the row with the texts {text:?}"), &rows, &[odd(number)]);
        t.must_be("its head", &page.head, &Some(odd_head(version, number)));
        let pair = crate::contract::Pair { watcher: odd_watcher(number), target: session.clone() };
        let cursor = t.between(&[pair])?.pop().flatten();
        let must = crate::material::on(&odd_watcher(number), session.clone(), 0, 0);
        t.must_be(&format!("the cursor with the keys {text:?}"), &cursor, &Some(must));
        let upstream = t.upstream_of(&session)?;
        let must = Upstream { watched: true, ..odd_upstream(number) };
        t.must_be(&format!("`upstream-of` with the texts {text:?}"), &upstream, &must);
        let value = t.get(&[&format!("odd.{number}")])?;
        t.must_be("the setting with that text", &value, &[Some((*text).to_string())]);
    }
    Ok(())
}

fn empty() -> Entry {
    let nothing = Some(String::new());
    Entry {
        actor_id: nothing.clone(),
        summary: String::new(),
        session_id: nothing.clone(),
        run_id: nothing.clone(),
        payload: nothing.clone(),
        dedupe_key: nothing,
        ..entry(A)
    }
}

fn absent() -> Entry {
    Entry {
        actor_id: None,
        summary: String::new(),
        session_id: None,
        run_id: None,
        payload: None,
        dedupe_key: None,
        ..entry(A)
    }
}

/// Heads by an actor without an id, and by one whose id is empty; and without a notifying event.
fn heads() -> [(Session, Head); 3] {
    let by = |actor| Some(Notifying { newest: 9, actor, other: 4 });
    [
        (session("agent:main:1"), Head { notifying: by(None), ..head(9) }),
        (session("agent:main:2"), Head { notifying: by(Some(String::new())), ..head(9) }),
        (session("agent:main:3"), Head { notifying: None, ..head(9) }),
    ]
}

fn store_empty_and_absent(t: &mut Trial) -> Played {
    for entry in [empty(), absent(), absent()] {
        t.record(entry)?;
    }
    t.save_heads(&heads())?;
    t.set(&[("empty", "")])
}

fn see_empty_and_absent(t: &mut Trial) -> Played {
    let page = t.history(&session(A), 0, 10)?;
    let rows: Vec<Entry> = page.rows.into_iter().map(|row| row.entry).collect();
    let asked = "rows whose optional texts are all empty, all absent and all absent";
    t.must_be(asked, &rows, &[empty(), absent(), absent()]);
    for (session, head) in heads() {
        let was = t.head(&session)?;
        t.must_be(
            "a head without an actor's id, with an empty one, or without any event",
            &was,
            &Some(head),
        );
    }
    let values = t.get(&["empty", "never"])?;
    t.must_be(
        "a setting that is empty and one that was never set",
        &values,
        &[Some(String::new()), None],
    );
    Ok(())
}

/// So many bytes, in characters of two bytes as far as they go: sizes are in bytes.
fn long(bytes: usize) -> String {
    let mut text = "\u{e9}".repeat(bytes / 2);
    text.extend((0..bytes % 2).map(|_| 'x'));
    text
}

fn longest_key() -> String {
    format!("agent:main:{}", long(512 - 11))
}

fn longest() -> Entry {
    Entry {
        session: of_agent(&longest_key(), &"a".repeat(64)),
        kind: "human_direct_message".to_string(),
        actor_id: Some(long(512)),
        summary: long(1_024),
        session_id: Some(long(256)),
        run_id: Some(long(256)),
        payload: Some(long(4_096)),
        dedupe_key: Some(long(512)),
        ..entry(A)
    }
}

fn longest_upstream() -> Upstream {
    let source = Source { kind: "k".repeat(64), place: long(4_096), thread: Some(long(256)) };
    let link = crate::contract::Link {
        source,
        catalog: long(256),
        misses: 1_000,
        state: long(65_536),
        ..link()
    };
    Upstream { session: longest().session, link: Some(link), sent: long(1_000), ..adopted(A) }
}

fn longest_name() -> String {
    "n".repeat(64)
}

fn store_longest(t: &mut Trial) -> Played {
    t.record(longest())?;
    t.save_cursors(&[live(&longest_key(), A, 0, 0)])?;
    t.save_upstream(&longest_upstream(), 0)?;
    t.set(&[(&longest_name(), &long(4_096))])
}

fn see_longest(t: &mut Trial) -> Played {
    let page = t.history(&longest().session, 0, 10)?;
    let rows: Vec<Entry> = page.rows.into_iter().map(|row| row.entry).collect();
    t.must(
        "a row whose texts are as long as they may be",
        rows == [longest()],
        "come back as it was",
        &rows,
    );
    let cursor = t.between(&[pair(&longest_key(), A)])?.pop().flatten();
    t.must_be(
        "a cursor whose watcher's key has 512 bytes",
        &cursor,
        &Some(live(&longest_key(), A, 0, 0)),
    );
    let upstream = t.upstream_of(&longest().session)?;
    t.must(
        "a link whose texts are as long as they may be",
        upstream == longest_upstream(),
        "come back as it was",
        &upstream,
    );
    let value = t.get(&[&longest_name()])?;
    t.must(
        "a setting of 4,096 bytes whose name has 64",
        value == [Some(long(4_096))],
        "come back as it was",
        &value,
    );
    Ok(())
}

/// Pairs of keys that are different and that some comparison somewhere takes for the same.
const LIKES: [&str; 9] = [
    "agent:main:\u{e9}",
    "agent:main:e\u{301}",
    "agent:main:e",
    "agent:main:E",
    "agent:main:\u{c9}",
    "agent:main:ss",
    "agent:main:\u{df}",
    "agent:main:a b",
    "agent:main:a  b",
];

fn store_likes(t: &mut Trial) -> Played {
    for key in LIKES {
        t.record(Entry {
            summary: key.to_string(),
            dedupe_key: Some(key.to_string()),
            ..entry(key)
        })?;
        t.record(Entry {
            summary: key.to_string(),
            dedupe_key: Some(key.to_string()),
            ..entry(A)
        })?;
        t.save_cursors(&[live(key, A, 0, 0)])?;
        t.save_upstream(&Upstream { sent: key.to_string(), ..adopted(key) }, 0)?;
        t.set(&[(key, key)])?;
    }
    Ok(())
}

fn see_likes(t: &mut Trial) -> Played {
    for key in LIKES {
        let page = t.history(&session(key), 0, 100)?;
        let was: Vec<String> = page.rows.into_iter().map(|row| row.entry.summary).collect();
        t.must_be(
            &format!("the summary of the one row of {key:?}, beside keys that look like it"),
            &was,
            &[key.to_string()],
        );
        let was = t.between(&[pair(key, A)])?;
        t.must_be(
            &format!("the cursor of {key:?}, beside keys that look like it"),
            &was,
            &[Some(live(key, A, 0, 0))],
        );
        let was = t.upstream_of(&session(key))?.sent;
        t.must_be(
            &format!("what was sent to {key:?}, beside keys that look like it"),
            was.as_str(),
            key,
        );
        let was = t.get(&[key])?;
        t.must_be(
            &format!("the setting {key:?}, beside names that look like it"),
            &was,
            &[Some(key.to_string())],
        );
    }
    let was = t.numbers(&session(A), 0, 100)?.len();
    t.must_be("rows of one session whose dedupe keys only look alike", &was, &LIKES.len());
    Ok(())
}

fn largest_head() -> Head {
    let notifying = Notifying { newest: MOST - 1, actor: None, other: MOST - 2 };
    Head { version: MOST, watermark: MOST - 3, notifying: Some(notifying), moved_at: MOST }
}

fn largest_cursor() -> crate::contract::Cursor {
    crate::contract::Cursor { moved_at: MOST, ..live("agent:main:w", A, MOST - 1, MOST) }
}

fn largest_upstream() -> Upstream {
    let link = crate::contract::Link { generation: MOST, revision: MOST - 1, ..link() };
    Upstream { link: Some(link), running_until: MOST, ..adopted(A) }
}

fn store_numbers(t: &mut Trial) -> Played {
    for occurred_at in [MOST, MOST - 1, 0, 1_790_000_000_123] {
        t.append(&crate::material::request(crate::material::at(A, occurred_at)))?;
    }
    t.save_heads(&[(session(A), largest_head())])?;
    t.save_cursors(&[largest_cursor()])?;
    t.save_upstream(&largest_upstream(), MOST - 1)
}

fn see_numbers(t: &mut Trial) -> Played {
    let page = t.history(&session(A), 0, 10)?;
    let was: Vec<u64> = page.rows.iter().map(|row| row.entry.occurred_at).collect();
    t.must_be("the times of rows", &was, &[MOST, MOST - 1, 0, 1_790_000_000_123]);
    t.must_be("a head whose numbers are the largest", &page.head, &Some(largest_head()));
    let was = t.between(&[pair("agent:main:w", A)])?;
    t.must_be("a cursor whose numbers are the largest", &was, &[Some(largest_cursor())]);
    let was = t.upstream_of(&session(A))?;
    t.must_be(
        "a link whose numbers are the largest",
        &was,
        &Upstream { watched: true, ..largest_upstream() },
    );
    Ok(())
}
