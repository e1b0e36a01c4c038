//! How the statements run: by index, and prepared once.

use std::path::PathBuf;

use rusqlite::{Connection, StatementStatus};

use super::super::open::CACHED_STATEMENTS;
use super::super::statements::{
    ALL, APPEND_SETTLED, CLAIM_DUE, CURSORS_OPEN, CURSORS_OPEN_OF, UPSTREAM_OF,
};
use super::upstream::{adopted, nothing};
use super::*;
use crate::contract::{ClaimRequest, CursorQuery, PruneRequest, Setting};

/// The steps of a plan, as SQLite words them.
fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let steps = statement.raw_query().mapped(|row| row.get(3)).collect::<Result<_, _>>();
    steps.unwrap()
}

/// A store with enough in it for statistics to matter, and with the statistics.
fn analysed() -> Store {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        for n in 0..300 {
            let target = format!("agent:main:t{}", n % 30);
            record(store, Entry { dedupe_key: Some(format!("k{n}")), ..entry(&target) });
            let notified = u64::from(n % 3 == 0);
            save_cursors(store, vec![live(&format!("agent:main:w{n}"), &target, 0, notified)]);
            store.save_upstream(&adopted(&format!("agent:main:t{n}")), 0).unwrap();
        }
    });
    store.connection.execute_batch("ANALYZE").unwrap();
    // As if opened now: what was prepared before is outdated by the statistics.
    store.connection.flush_prepared_statement_cache();
    store
}

fn whole_store_by_design(file: &str) -> bool {
    ["prune/", "restored/"].iter().any(|folder| file.starts_with(folder))
}

/// Listing all open notices goes through an index that holds those alone, and counting them through
/// a table that has a row a watcher; claiming goes through the adopted sessions, and a list of kinds
/// of source; the others read no table.
fn is_bounded_scan(step: &str) -> bool {
    step.ends_with("INDEX session_watch_cursors_open")
        || step == "SCAN headsup_open_counts"
        || step == "SCAN link"
        || step == "SCAN json_each VIRTUAL TABLE INDEX 1:"
        || step == "SCAN CONSTANT ROW"
        || step.starts_with("SCAN (subquery-")
        || step == "SCAN sqlite_schema"
}

#[test]
fn every_statement_finds_its_rows_by_index_and_sorts_nothing() {
    for store in [Store::in_memory().unwrap(), analysed()] {
        for (file, sql) in ALL.iter().filter(|(file, _)| !whole_store_by_design(file)) {
            for step in plan(&store.connection, sql) {
                let scans = step.starts_with("SCAN") && !is_bounded_scan(&step);
                assert!(!scans, "{file}: {step}");
                assert!(!step.contains("TEMP B-TREE"), "{file}: {step}");
            }
        }
    }
}

/// A list of more than two words in a constraint was such a table, made and dropped twice a record:
/// a quarter of its cost, which no query plan shows.
#[test]
fn no_statement_that_records_builds_a_table_in_memory() {
    let store = Store::in_memory().unwrap();
    let recording = |file: &str| {
        ["append/", "save/", "save_upstream/", "claim/take"].iter().any(|one| file.starts_with(one))
    };
    for (file, sql) in ALL.iter().filter(|(file, _)| recording(file)) {
        let mut program = store.connection.prepare(&format!("EXPLAIN {sql}")).unwrap();
        let steps = program.raw_query().mapped(|row| row.get::<_, String>(1));
        for step in steps.map(Result::unwrap) {
            let builds = step == "OpenEphemeral" || step == "OpenAutoindex" || step == "SorterOpen";
            assert!(!builds, "{file}: {step}");
        }
    }
}

#[test]
fn settled_and_open_cursors_come_from_their_partial_indexes() {
    for store in [Store::in_memory().unwrap(), analysed()] {
        let first = |sql| plan(&store.connection, sql).swap_remove(0);
        let settled = first(APPEND_SETTLED);
        let index = "session_watch_cursors_settled (target_key=? AND target_agent_id=?)";
        assert!(settled.ends_with(index), "{settled}");
        assert!(first(CURSORS_OPEN_OF).contains("session_watch_cursors_open (watcher_key=?"));
        assert!(first(CURSORS_OPEN).contains("INDEX session_watch_cursors_open"));
    }
}

#[test]
fn whether_a_link_is_watched_is_one_probe_of_an_index_that_has_all_it_takes() {
    for store in [Store::in_memory().unwrap(), analysed()] {
        for sql in [CLAIM_DUE, UPSTREAM_OF] {
            let steps = plan(&store.connection, sql);
            let index = "USING COVERING INDEX session_watch_cursors_by_target \
                (target_key=? AND target_agent_id=? AND state=?)";
            let probe = |step: &String| step.starts_with("SEARCH c ") && step.ends_with(index);
            assert!(steps.iter().any(probe), "{steps:?}");
        }
    }
}

/// One of everything that a store can be asked.
fn use_every_verb(store: &mut Store, n: u64) {
    let target = format!("agent:main:t{}", n % 7);
    let keyed = Entry { dedupe_key: Some(format!("n{n}")), ..entry(&target) };
    let watcher = "agent:main:watcher";
    store.begin_write().unwrap();
    store.savepoint().unwrap();
    let named = AppendRequest { named: vec![watcher.into()], ..request(keyed) };
    let sequence = appended(store.append(&named).unwrap()).sequence;
    assert_eq!(store.append(&named).unwrap(), AppendOutcome::Duplicate(sequence));
    let nobody = AppendRequest { only_if_watched: true, ..request(entry("agent:main:nobody")) };
    assert_eq!(store.append(&nobody).unwrap(), AppendOutcome::Unwatched);
    for target in [&target, &format!("agent:main:first{n}")] {
        save_heads(store, vec![HeadChange { session: session(target), head: head(sequence) }]);
    }
    save_cursors(store, vec![live("agent:main:settled", &target, 1, 1)]);
    assert!(!appended(store.append(&request(entry(&target))).unwrap()).cursors.is_empty());
    save_cursors(store, vec![live(watcher, &target, 0, sequence), mark("agent:main:x", &target)]);
    store.set(&[Setting { name: "a.b".into(), value: n.to_string() }]).unwrap();
    use_every_verb_for_sources(store, &target);
    store.release().unwrap();
    store.savepoint().unwrap();
    store.delete(&session(&target), 5_000).unwrap();
    store.reset(watcher).unwrap();
    store.restored(1).unwrap();
    let request = PruneRequest {
        occurred_before: Some(2_000),
        keep_rows: 50,
        moved_before: Some(2_000),
        at_most: 1,
    };
    store.prune(&request).unwrap();
    store.rollback_to().unwrap();
    store.commit().unwrap();
    read(store, |store| {
        store.history(&session(&target), 0, 5).unwrap();
        let queries = [
            CursorQuery::OfWatcher(watcher.into()),
            CursorQuery::OnTarget(session(&target)),
            CursorQuery::OpenOf(watcher.into()),
            CursorQuery::Open,
        ];
        for query in queries {
            assert!(!store.cursors(&query, None, 10).unwrap().is_empty());
        }
        store.pairs(&[pair(watcher, &target)]).unwrap();
        store.open_counts().unwrap();
        store.settings(&["a.b"]).unwrap();
    });
}

fn use_every_verb_for_sources(store: &mut Store, target: &str) {
    let kinds = vec!["claude-node".into()];
    let request = ClaimRequest {
        kinds,
        now: 9_000,
        running_at_most: 7_209_000,
        until: 60_000,
        claimed_too: true,
    };
    store.save_upstream(&adopted(target), 0).unwrap();
    assert!(!store.claim(&request).unwrap().is_empty());
    assert_eq!(store.upstream_of(&session(target)).unwrap().link, adopted(target).link);
    store.save_upstream(&nothing(session(target)), 0).unwrap();
}

#[test]
fn a_statement_is_prepared_once_for_a_connection_whatever_the_statistics() {
    let mut store = analysed();
    for n in 0..500 {
        use_every_verb(&mut store, n);
    }
    assert!(ALL.len() < CACHED_STATEMENTS);
    for (file, sql) in ALL {
        let statement = store.connection.prepare_cached(sql).unwrap();
        assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "{file}");
        // A second copy would have begun to count anew.
        assert!(statement.get_status(StatementStatus::Run) >= 400, "{file} was not kept");
    }
}

#[test]
fn recording_costs_the_same_however_many_watchers_are_pending() {
    let mut store = Store::in_memory().unwrap();
    let target = "agent:main:a";
    let steps = |store: &mut Store| {
        let settled = store.connection.prepare_cached(APPEND_SETTLED).unwrap();
        settled.reset_status(StatementStatus::VmStep);
        drop(settled);
        write(store, |store| store.append(&request(entry(target))).unwrap());
        let settled = store.connection.prepare_cached(APPEND_SETTLED).unwrap();
        settled.get_status(StatementStatus::VmStep)
    };
    write(&mut store, |store| save_cursors(store, vec![live("agent:main:w", target, 0, 1)]));
    let with_one = steps(&mut store);
    write(&mut store, |store| {
        let pending = (0..1_000).map(|n| live(&format!("agent:main:w{n}"), target, 0, 1));
        save_cursors(store, pending.collect());
    });
    assert_eq!(steps(&mut store), with_one);
}

#[test]
fn every_file_opens_with_why_it_exists() {
    let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/sql"))];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("-- "), "{}", path.display());
            files += 1;
        }
    }
    assert!(files >= ALL.len());
}
