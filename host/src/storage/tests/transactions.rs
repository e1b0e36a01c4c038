//! Transactions: savepoints, snapshots, two connections, and what happens outside of them.

use std::time::Duration;

use super::*;
use crate::contract::StorageFault;

const KEY: &str = "agent:main:a";

fn numbers(store: &mut Store) -> Vec<u64> {
    let page = store.history(&session(KEY), 0, 100).unwrap();
    page.rows.iter().map(|row| row.sequence).collect()
}

#[test]
fn rolling_back_to_a_savepoint_undoes_one_call_and_keeps_the_others() {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        store.savepoint().unwrap();
        assert_eq!(record(store, entry(KEY)), 1);
        store.release().unwrap();
        store.savepoint().unwrap();
        assert_eq!(record(store, entry(KEY)), 2);
        save_cursors(store, vec![live("agent:main:w", KEY, 0, 0)]);
        store.rollback_to().unwrap();
        assert!(store.in_transaction());
        store.savepoint().unwrap();
        assert_eq!(record(store, entry(KEY)), 2);
        store.release().unwrap();
    });
    read(&mut store, |store| {
        assert_eq!(numbers(store), [1, 2]);
        let state = store.pairs(&[pair("agent:main:w", KEY)]).unwrap();
        assert_eq!(state[0].cursor, None);
    });
}

#[test]
fn a_call_that_fails_halfway_leaves_nothing_after_its_savepoint() {
    let mut store = Store::in_memory().unwrap();
    write(&mut store, |store| {
        record(store, entry(KEY));
        store.savepoint().unwrap();
        record(store, entry(KEY));
        let changes = Changes { heads: Vec::new(), cursors: vec![live("", KEY, 0, 0)] };
        store.save(&changes).unwrap_err();
        store.rollback_to().unwrap();
    });
    assert_eq!(read(&mut store, numbers), [1]);
}

#[test]
fn a_reader_keeps_its_snapshot_while_another_connection_commits() {
    let (_folder, options) = on_disk();
    let mut writer = Store::open(&options).unwrap();
    let mut reader = Store::open_reader(&options).unwrap();
    write(&mut writer, |store| record(store, entry(KEY)));
    reader.begin_read().unwrap();
    write(&mut writer, |store| record(store, entry(KEY)));
    assert_eq!(numbers(&mut reader), [1]);
    reader.rollback();
    assert_eq!(read(&mut reader, numbers), [1, 2]);
}

#[test]
fn a_reader_neither_waits_for_the_writer_nor_sees_what_is_not_committed() {
    let (_folder, options) = on_disk();
    let mut writer = Store::open(&options).unwrap();
    let mut reader = Store::open_reader(&options).unwrap();
    writer.begin_write().unwrap();
    record(&mut writer, entry(KEY));
    assert_eq!(read(&mut reader, numbers), [0; 0]);
    writer.commit().unwrap();
    assert_eq!(read(&mut reader, numbers), [1]);
}

#[test]
fn a_second_writer_is_busy_and_goes_on_when_the_first_is_done() {
    let (_folder, options) = on_disk();
    let options = StoreOptions { busy_timeout: Duration::from_millis(1), ..options };
    let mut first = Store::open(&options).unwrap();
    let mut second = Store::open(&options).unwrap();
    first.begin_write().unwrap();
    let failure = second.begin_write().unwrap_err();
    assert_eq!(failure.fault, StorageFault::Busy);
    assert!(!second.in_transaction());
    record(&mut first, entry(KEY));
    first.commit().unwrap();
    assert_eq!(write(&mut second, |store| record(store, entry(KEY))), 2);
}

#[test]
fn a_verb_that_writes_is_refused_in_a_transaction_that_reads() {
    let (_folder, options) = on_disk();
    let mut writer = Store::open(&options).unwrap();
    let mut reader = Store::open_reader(&options).unwrap();
    assert_eq!(reader.begin_write().unwrap_err().fault, StorageFault::ReadOnly);
    for store in [&mut writer, &mut reader] {
        store.begin_read().unwrap();
        let failure = store.append(&request(entry(KEY))).unwrap_err();
        assert_eq!(failure.fault, StorageFault::Failed);
        assert!(failure.message.contains("only reads"), "{}", failure.message);
        store.rollback();
    }
    assert_eq!(read(&mut writer, numbers), [0; 0]);
}

#[test]
fn a_verb_outside_a_transaction_is_refused() {
    let mut store = Store::in_memory().unwrap();
    assert_eq!(store.heads(&[]).unwrap_err().fault, StorageFault::Failed);
    assert_eq!(store.append(&request(entry(KEY))).unwrap_err().fault, StorageFault::Failed);
    store.rollback();
    assert!(!store.in_transaction());
}

#[test]
fn a_full_store_says_so_loses_nothing_and_goes_on_once_there_is_room() {
    let (_folder, options) = on_disk();
    let mut store = Store::open(&options).unwrap();
    write(&mut store, |store| record(store, entry(KEY)));
    let pages: i64 = store.connection.pragma_query_value(None, "page_count", |r| r.get(0)).unwrap();
    store.connection.pragma_update(None, "max_page_count", pages).unwrap();
    store.begin_write().unwrap();
    let filling = Entry { summary: "x".repeat(1_024), ..entry(KEY) };
    let failure = loop {
        match store.append(&request(filling.clone())) {
            Ok(_) => {}
            Err(failure) => break failure,
        }
    };
    assert_eq!(failure.fault, StorageFault::Full);
    store.rollback();
    assert_eq!(read(&mut store, numbers), [1]);
    store.connection.pragma_update(None, "max_page_count", 1 << 20).unwrap();
    assert_eq!(write(&mut store, |store| record(store, entry(KEY))), 2);
}

#[test]
fn what_was_committed_is_there_for_the_next_process_and_what_was_not_is_not() {
    let (_folder, options) = on_disk();
    let mut store = Store::open(&options).unwrap();
    write(&mut store, |store| record(store, entry(KEY)));
    store.begin_write().unwrap();
    record(&mut store, entry(KEY));
    drop(store);
    let mut store = Store::open(&options).unwrap();
    assert_eq!(read(&mut store, numbers), [1]);
}
