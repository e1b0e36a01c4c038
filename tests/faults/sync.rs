//! After a failed sync nobody knows what the disk has: the store is not trusted until it is opened
//! again.

use harness::Loss;
use headsup::{Durability, Recording};
use tempfile::TempDir;

use crate::disk::{Disk, Fault};
use crate::vfs;
use crate::work::{WATCHER, Work};

#[test]
fn after_a_failed_sync_the_store_refuses_work_until_it_is_opened_again() {
    vfs::register();
    let folder = TempDir::new().unwrap();
    let disk = Disk::of(folder.path(), None);
    let mut work = Work::new(folder.path(), Durability::Full);
    let store = work.open(harness::NOON).unwrap();
    store.watch(WATCHER, "agent:main:telegram:w", false).unwrap();
    disk.breaks(Fault::Sync);
    // The sync works again from the second time on, and is not believed.
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
