//! `save`, `cursors`, `pairs`, `open-counts`.

use super::*;
use crate::contract::{CursorQuery, PendingCount, StorageFault, Watched};

const TARGETS: [&str; 4] = ["agent:main:T", "agent:main:a", "agent:main:b", "agent:main:é"];

/// Three watchers on four targets; every second notice is open; one mark.
fn crowded() -> Store {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        for target in TARGETS {
            let change = HeadChange { session: session(target), head: head(9) };
            save_heads(store, vec![change]);
        }
        for (w, watcher) in ["agent:main:w1", "agent:main:w2", "agent:main:w3"].iter().enumerate() {
            for (t, target) in TARGETS.iter().enumerate() {
                let open = if (w + t) % 2 == 0 { 9 } else { 5 };
                save_cursors(store, vec![live(watcher, target, 5, open)]);
            }
        }
        save_cursors(store, vec![mark("agent:main:w4", "agent:main:a")]);
    });
    store
}

/// What a list holds, read page by page.
fn listed(store: &mut Store, query: &CursorQuery, page: u32) -> Vec<(String, String)> {
    let mut all: Vec<Watched> = Vec::new();
    loop {
        let after = all.last().map(|watched| watched.cursor.pair.clone());
        let next = store.cursors(query, after.as_ref(), page).unwrap();
        let last = next.len() < page as usize;
        all.extend(next);
        if last {
            break;
        }
    }
    assert!(all.iter().all(|watched| watched.head == Some(head(9))));
    all.into_iter().map(|w| (w.cursor.pair.watcher, w.cursor.pair.target.key)).collect()
}

fn is_open((watcher, target): &(String, String)) -> bool {
    let w = usize::from(watcher.as_bytes()[watcher.len() - 1] - b'1');
    let t = TARGETS.iter().position(|t| t == target).unwrap();
    (w + t) % 2 == 0
}

#[test]
fn lists_are_the_same_whatever_the_page_and_in_order_of_bytes() {
    let mut store = crowded();
    let everything: Vec<(String, String)> = ["agent:main:w1", "agent:main:w2", "agent:main:w3"]
        .iter()
        .flat_map(|w| TARGETS.iter().map(move |t| ((*w).to_owned(), (*t).to_owned())))
        .collect();
    let of = |wanted: &dyn Fn(&(String, String)) -> bool| -> Vec<(String, String)> {
        everything.iter().filter(|pair| wanted(pair)).cloned().collect()
    };
    let w2 = "agent:main:w2".to_owned();
    let cases = [
        (CursorQuery::OfWatcher(w2.clone()), of(&|pair| pair.0 == w2)),
        (CursorQuery::OpenOf(w2.clone()), of(&|pair| pair.0 == w2 && is_open(pair))),
        (CursorQuery::OnTarget(session("agent:main:a")), of(&|pair| pair.1 == "agent:main:a")),
        (CursorQuery::Open, of(&is_open)),
        (CursorQuery::OfWatcher("agent:main:w4".into()), Vec::new()),
        (CursorQuery::OnTarget(session("agent:main:none")), Vec::new()),
    ];
    read(&mut store, |store| {
        for (query, expected) in cases {
            for page in [1, 2, 3, 100] {
                assert_eq!(listed(store, &query, page), expected, "{query:?} by {page}");
            }
        }
    });
}

#[test]
fn a_list_goes_on_after_any_pair_also_one_that_is_not_in_it() {
    let mut store = crowded();
    let count = |store: &mut Store, query: &CursorQuery, after: Pair| {
        store.cursors(query, Some(&after), 100).unwrap().len()
    };
    read(&mut store, |store| {
        let of = CursorQuery::OfWatcher("agent:main:w2".into());
        assert_eq!(count(store, &of, pair("agent:main:w1", "agent:main:z")), 4);
        assert_eq!(count(store, &of, pair("agent:main:w2", "agent:main:aa")), 2);
        assert_eq!(count(store, &of, pair("agent:main:w3", "agent:main:0")), 0);
        let on = CursorQuery::OnTarget(session("agent:main:a"));
        assert_eq!(count(store, &on, pair("agent:main:w2", "agent:main:0")), 2);
        assert_eq!(count(store, &on, pair("agent:main:w2", "agent:main:a")), 1);
        assert_eq!(count(store, &on, pair("agent:main:w2", "agent:main:z")), 1);
        assert_eq!(count(store, &on, pair("agent:main:w0", "agent:main:0")), 3);
        assert_eq!(store.cursors(&on, Some(&pair("agent:main:w2", "a")), 0).unwrap(), []);
        assert_eq!(count(store, &CursorQuery::Open, pair("agent:main:w1", "agent:main:z")), 4);
    });
}

#[test]
fn a_cursor_on_a_target_without_a_head_is_listed_without_one() {
    let mut store = Store::in_memory().unwrap();
    let cursor = live("agent:main:w", "agent:main:a", 0, 0);
    write(&mut store, |store| save_cursors(store, vec![cursor.clone()]));
    let of = CursorQuery::OfWatcher("agent:main:w".into());
    let found = read(&mut store, |store| store.cursors(&of, None, 10).unwrap());
    assert_eq!(found, [Watched { cursor, head: None }]);
}

#[test]
fn open_counts_are_by_watcher_and_leave_out_those_without() {
    let mut store = crowded();
    write(&mut store, |store| {
        let settled = TARGETS.map(|target| live("agent:main:w2", target, 9, 9));
        save_cursors(store, settled.into());
    });
    let expected = ["agent:main:w1", "agent:main:w3"]
        .map(|watcher| PendingCount { watcher: watcher.into(), notices: 2 });
    assert_eq!(read(&mut store, |store| store.open_counts().unwrap()), expected);
}

#[test]
fn open_counts_follow_every_way_in_which_a_notice_opens_and_goes() {
    let counts = |store: &mut Store| {
        let counts = read(store, |store| store.open_counts().unwrap());
        counts.iter().map(|count| (count.watcher.clone(), count.notices)).collect::<Vec<_>>()
    };
    let one = |watcher: &str, notices| vec![(watcher.to_owned(), notices)];
    let watcher = "agent:main:w";
    let mut store = Store::in_memory().unwrap();
    let steps: [(Cursor, Vec<(String, u32)>); 8] = [
        (live(watcher, "agent:main:a", 0, 0), vec![]),
        (live(watcher, "agent:main:a", 0, 1), one(watcher, 1)),
        (live(watcher, "agent:main:a", 0, 5), one(watcher, 1)),
        (live(watcher, "agent:main:b", 0, 1), one(watcher, 2)),
        (live(watcher, "agent:main:a", 5, 5), one(watcher, 1)),
        (mark(watcher, "agent:main:b"), vec![]),
        (live(watcher, "agent:main:b", 1, 2), one(watcher, 1)),
        (live(watcher, "agent:main:a", 5, 6), one(watcher, 2)),
    ];
    for (cursor, expected) in steps {
        write(&mut store, |store| save_cursors(store, vec![cursor]));
        assert_eq!(counts(&mut store), expected);
    }
    write(&mut store, |store| store.delete(&session("agent:main:a"), 1).unwrap());
    assert_eq!(counts(&mut store), one(watcher, 1));
    write(&mut store, |store| store.reset(watcher).unwrap());
    assert_eq!(counts(&mut store), []);
}

#[test]
fn pairs_answer_in_the_order_asked_with_cursor_mark_and_head() {
    let mut store = Store::in_memory().unwrap();
    let cursor = live("agent:main:w", "agent:main:a", 1, 2);
    let marked = mark("agent:main:w", "agent:main:b");
    write(&mut store, |store| {
        save_cursors(store, vec![cursor.clone(), marked.clone()]);
        let change = HeadChange { session: session("agent:main:a"), head: head(2) };
        save_heads(store, vec![change]);
        let asked = [
            pair("agent:main:w", "agent:main:b"),
            pair("agent:main:x", "agent:main:a"),
            pair("agent:main:w", "agent:main:a"),
            pair("agent:main:x", "agent:main:x2"),
        ];
        let answer = store.pairs(&asked).unwrap();
        let answer: Vec<_> = answer.into_iter().map(|state| (state.cursor, state.head)).collect();
        let expected = [
            (Some(marked), None),
            (None, Some(head(2))),
            (Some(cursor), Some(head(2))),
            (None, None),
        ];
        assert_eq!(answer, expected);
    });
}

#[test]
fn saving_replaces_whatever_stood_between_the_pair() {
    let mut store = Store::in_memory().unwrap();
    let states = [
        live("agent:main:w", "agent:main:a", 0, 3),
        live("agent:main:w", "agent:main:a", 3, 3),
        mark("agent:main:w", "agent:main:a"),
        mark("agent:main:w", "agent:main:a"),
        live("agent:main:w", "agent:main:a", 4, 4),
    ];
    for cursor in states {
        write(&mut store, |store| save_cursors(store, vec![cursor.clone()]));
        let asked = [pair("agent:main:w", "agent:main:a")];
        let answer = read(&mut store, |store| store.pairs(&asked).unwrap());
        assert_eq!(answer[0].cursor, Some(cursor));
    }
}

#[test]
fn the_tables_hold_the_order_of_positions() {
    let mut store = Store::in_memory().unwrap();
    let wrong = [
        live("agent:main:w", "agent:main:a", 4, 3),
        live("agent:main:w", "agent:main:a", 0, 1 << 53),
        live("agent:main:w", "agent:main:w", 0, 0),
        live("", "agent:main:a", 0, 0),
    ];
    for cursor in wrong {
        store.begin_write().unwrap();
        let changes = Changes { heads: Vec::new(), cursors: vec![cursor] };
        assert_eq!(store.save(&changes).unwrap_err().fault, StorageFault::Failed);
        store.rollback();
    }
    let notifying = Some(Notifying { newest: 4, actor: None, other: 4 });
    for head in [Head { version: 3, ..head(4) }, Head { notifying, ..head(4) }] {
        store.begin_write().unwrap();
        let heads = vec![HeadChange { session: session("agent:main:a"), head }];
        let changes = Changes { heads, cursors: Vec::new() };
        assert!(store.save(&changes).is_err());
        store.rollback();
    }
}
