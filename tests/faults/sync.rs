//! After a failed sync nobody knows what the disk has: the store is not trusted until it is opened
//! again.

use harness::Loss;
use headsup::{Awareness, Durability, Recording};
use tempfile::TempDir;

use crate::disk::{Disk, Fault};
use crate::vfs;
use crate::work::{CHECKPOINT_PAGES, WATCHER, Work};

/// The sync works again from the second time on, and is not believed.
fn refuses_all_work(store: &Awareness, work: &mut Work) {
    for _ in 0..3 {
        match store.record(work.goal("one")).unwrap() {
            Recording::Failed { reason, message } => {
                assert_eq!(reason, "store-failed");
                assert!(message.contains("sync") && message.contains("open"), "{message}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(store.take(WATCHER).unwrap_err().reason(), "store-failed");
        assert!(store.unwatch(WATCHER, "agent:main:telegram:w").is_err());
    }
}

#[test]
fn after_a_failed_sync_the_store_refuses_work_until_it_is_opened_again() {
    vfs::register();
    let folder = TempDir::new().unwrap();
    let disk = Disk::of(folder.path(), None);
    let mut work = Work::new(folder.path(), Durability::Full);
    let store = work.open(harness::NOON).unwrap();
    store.watch(WATCHER, "agent:main:telegram:w", false).unwrap();
    disk.breaks(Fault::Sync);
    refuses_all_work(&store, &mut work);
    assert!(disk.struck());
    drop(store);
    let store = work.reopened();
    assert!(matches!(
        store.record(work.goal("one")).unwrap(),
        Recording::Recorded(_) | Recording::Duplicate(_)
    ));
    work.resumed(&store);
    work.ledger.check(&store, &work.path(), Loss::None);
}

/// SQLite brings commits into the file by itself, and says nothing if that fails.
#[test]
fn a_sync_that_fails_after_a_commit_that_stands_counts_as_well() {
    vfs::register();
    let folder = TempDir::new().unwrap();
    let disk = Disk::of(folder.path(), None);
    let mut work = Work::new(folder.path(), Durability::Normal);
    let store = work.open(harness::NOON).unwrap();
    // With this durability, nothing but bringing commits into the file waits for the disk.
    disk.breaks(Fault::Sync);
    for number in 0.. {
        assert!(number < 10 * CHECKPOINT_PAGES, "no commit was brought into the file");
        let run = format!("run-{number}");
        match store.record(work.goal(&run)).unwrap() {
            Recording::Recorded(version) => work.ledger.recorded(&run, version),
            other => panic!("{other:?}"),
        }
        if disk.struck() {
            break;
        }
    }
    refuses_all_work(&store, &mut work);
    drop(store);
    let store = work.reopened();
    work.resumed(&store);
    work.ledger.check(&store, &work.path(), Loss::None);
}
