//! The file of an open store is removed, or another one is put in its place: what is written to the
//! open one would be lost with it.

use std::fs;
use std::path::Path;

use harness::command::{Running, headsup, request, text};
use harness::{CHILD, WORKER, doctor};
use headsup::storage::{Store, StoreOptions};
use headsup::{Awareness, Error, OpenError, Recording, StorageFault};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{builder, goal};

const OLD: &str = "moved.db";

/// Moves a store with what lies beside it.
fn shift(from: &Path, to: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let beside = |path: &Path| path.with_extension(format!("db{suffix}"));
        if beside(from).exists() {
            fs::rename(beside(from), beside(to)).unwrap();
        }
    }
}

fn version(awareness: &Awareness) -> Result<u64, Error> {
    awareness.changes_since(CHILD, 0, None).map(|delta| delta.state_version)
}

/// Nothing is written, read or made, and the words say what happened.
fn refuses(awareness: &Awareness, what: &str) {
    let Recording::Failed { reason, message, .. } = awareness.record(goal(CHILD)).unwrap() else {
        panic!("{what}: recorded")
    };
    assert_eq!(reason, "store-failed", "{what}");
    assert!(message.contains("removed or replaced"), "{what}: {message}");
    let Err(Error::Storage(failure)) = version(awareness) else { panic!("{what}: read") };
    assert_eq!(failure.fault, StorageFault::Failed, "{what}");
    assert!(failure.message.contains("removed or replaced"), "{what}: {failure:?}");
}

#[test]
fn a_store_that_is_removed_or_replaced_refuses_work_until_its_own_file_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let (path, old) = (folder.path().join("store.db"), folder.path().join(OLD));
    let other = folder.path().join("other.db");
    drop(builder(&other).open().unwrap());
    let awareness = builder(&path).open().unwrap();
    for round in 1..=3 {
        awareness.record(goal(CHILD)).unwrap();
        shift(&path, &old);
        refuses(&awareness, "removed");
        assert!(!path.exists(), "nothing is made in its place");
        fs::copy(&other, &path).unwrap();
        refuses(&awareness, "replaced");
        let served = fs::read(&other).unwrap();
        assert_eq!(fs::read(&path).unwrap(), served, "the other file is left alone");
        shift(&old, &path);
        assert_eq!(version(&awareness).unwrap(), round, "what was acknowledged is there");
    }
    drop(awareness);
    assert_eq!(doctor(&path).unwrap(), Vec::<String>::new());
}

#[test]
fn another_store_in_its_place_is_served_once_it_is_opened_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (path, other) = (folder.path().join("store.db"), folder.path().join("other.db"));
    drop(builder(&other).open().unwrap());
    let awareness = builder(&path).open().unwrap();
    awareness.record(goal(CHILD)).unwrap();
    shift(&path, &folder.path().join(OLD));
    fs::rename(&other, &path).unwrap();
    refuses(&awareness, "replaced");
    drop(awareness);
    let awareness = builder(&path).open().unwrap();
    assert_eq!(version(&awareness).unwrap(), 0);
    awareness.record(goal(CHILD)).unwrap();
    assert_eq!(version(&awareness).unwrap(), 1);
}

#[test]
fn a_store_behind_a_link_is_known_by_the_file_that_the_link_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("store.db"), folder.path().join("link.db"));
    drop(builder(&path).open().unwrap());
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let awareness = builder(&link).open().unwrap();
    awareness.record(goal(CHILD)).unwrap();
    assert_eq!(version(&awareness).unwrap(), 1);
    fs::remove_file(&link).unwrap();
    refuses(&awareness, "the link is gone");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    awareness.record(goal(CHILD)).unwrap();
    assert_eq!(version(&awareness).unwrap(), 2);
}

/// What is acknowledged before and after is in the file, whoever takes away what lies beside it.
fn survives_without(gone: &[&str], put_back: bool) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let awareness = builder(&path).open().unwrap();
    for _ in 0..3 {
        awareness.record(goal(CHILD)).unwrap();
    }
    assert_eq!(version(&awareness).unwrap(), 3);
    for suffix in gone {
        let beside = path.with_extension(format!("db{suffix}"));
        fs::remove_file(&beside).unwrap();
        if put_back {
            fs::write(&beside, "").unwrap();
        }
    }
    refuses(&awareness, &format!("{gone:?} are gone"));
    let copy = folder.path().join("copy.db");
    fs::copy(&path, &copy).unwrap();
    assert_eq!(version(&builder(&copy).open().unwrap()).unwrap(), 3, "{gone:?}: as if killed now");
    drop(awareness);
    let awareness = builder(&path).open().unwrap();
    assert_eq!(version(&awareness).unwrap(), 3, "{gone:?}");
    awareness.record(goal(CHILD)).unwrap();
    assert_eq!(version(&awareness).unwrap(), 4, "{gone:?}");
    drop(awareness);
    assert_eq!(doctor(&path).unwrap(), Vec::<String>::new());
}

#[test]
fn a_store_whose_log_or_shared_memory_is_taken_away_refuses_work_and_loses_nothing() {
    for gone in [&["-wal"][..], &["-shm"], &["-wal", "-shm"]] {
        survives_without(gone, false);
    }
}

#[test]
fn an_empty_log_in_place_of_the_open_one_is_noticed() {
    survives_without(&["-wal"], true);
}

#[test]
fn no_other_connection_is_opened_beside_one_whose_log_or_shared_memory_was_taken_away() {
    for gone in [&["-wal"][..], &["-shm"], &["-wal", "-shm"]] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let first = builder(&path).open().unwrap();
        first.record(goal(CHILD)).unwrap();
        for suffix in gone {
            fs::remove_file(path.with_extension(format!("db{suffix}"))).unwrap();
        }
        let Err(OpenError::Storage(failure)) = builder(&path).open() else {
            panic!("{gone:?}: opened")
        };
        assert_eq!(failure.fault, StorageFault::Failed, "{gone:?}");
        assert!(failure.message.contains("removed or replaced"), "{gone:?}: {failure:?}");
        // Its first read would open a connection, too.
        let Err(Error::Storage(failure)) = version(&first) else { panic!("{gone:?}: read") };
        assert!(failure.message.contains("removed or replaced"), "{gone:?}: {failure:?}");
        refuses(&first, "by its own writer");
        drop(first);
        assert_eq!(version(&builder(&path).open().unwrap()).unwrap(), 1, "{gone:?}");
    }
}

#[test]
fn a_writer_that_was_closed_is_not_opened_again_beside_a_reader_whose_log_was_taken_away() {
    for gone in [&["-wal"][..], &["-shm"], &["-wal", "-shm"]] {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions::new(folder.path().join("store.db"));
        builder(&options.path).open().unwrap().record(goal(CHILD)).unwrap();
        let writer = Store::open(&options).unwrap();
        let reader = Store::open_reader(&options).unwrap();
        drop(writer);
        for suffix in gone {
            fs::remove_file(options.path.with_extension(format!("db{suffix}"))).unwrap();
        }
        for opened in
            [Store::open(&options), Store::open_reader(&options), Store::inspect(&options)]
        {
            let failure = opened.map(|_| ()).unwrap_err();
            assert!(failure.message.contains("removed or replaced"), "{gone:?}: {failure:?}");
        }
        drop(reader);
        drop(Store::open(&options).unwrap());
        assert_eq!(version(&builder(&options.path).open().unwrap()).unwrap(), 1, "{gone:?}");
    }
}

/// A process whose log or shared memory was taken away, and another one that opened the store since and
/// records.
struct Usurped {
    folder: TempDir,
    awareness: Awareness,
    other: Running,
    /// What became of the other's record.
    told: Value,
}

impl Usurped {
    fn new(gone: &[&str], checkpoint_pages: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        // The tables are in the file, the records in the log alone.
        drop(builder(&path).open().unwrap());
        let awareness = builder(&path).open().unwrap();
        for _ in 0..3 {
            awareness.record(goal(CHILD)).unwrap();
        }
        for suffix in gone {
            fs::remove_file(path.with_extension(format!("db{suffix}"))).unwrap();
        }
        let config = folder.path().join("headsup.toml");
        fs::write(&config, format!("[store]\ncheckpoint_pages = {checkpoint_pages}\n")).unwrap();
        let arguments = ["serve", "--stdio", "--db", text(&path), "--config", text(&config)];
        let mut other = Running::start(&mut headsup(arguments));
        let signal = json!({
            "session": WORKER, "kind": "goal_changed", "change": "updated", "actor": {"type": "human"},
        });
        other.send(&request(1, "record", &signal));
        let told = loop {
            // What comes without a question is a line of the log.
            let line = other.next();
            if line["id"] == 1 {
                break line["result"].clone();
            }
        };
        Self { folder, awareness, other, told }
    }

    /// Ends both, and returns the versions that each had brought about, as they are then.
    fn ends(mut self, writes: bool, killed_first: bool) -> (Option<u64>, Option<u64>) {
        let path = self.folder.path().join("store.db");
        if killed_first {
            self.other.child.kill().unwrap();
            self.other.child.wait().unwrap();
        }
        if writes {
            refuses(&self.awareness, "its log is gone");
        }
        drop(self.awareness);
        drop(self.other);
        assert_eq!(doctor(&path).unwrap(), Vec::<String>::new());
        let versions = builder(&path).open().unwrap().versions([CHILD, WORKER]).unwrap();
        (versions[0], versions[1])
    }
}

/// However often the other brings its log into the file, whether the first notices by a call or when it
/// closes, and whichever of them ends first.
fn usurped(gone: &[&str], holds: impl Fn(&str, &Value, Option<u64>, Option<u64>)) {
    for checkpoint_pages in [1, 4_000] {
        for (writes, killed_first) in [(false, false), (false, true), (true, false), (true, true)] {
            let usurped = Usurped::new(gone, checkpoint_pages);
            let told = usurped.told.clone();
            let what = format!("{gone:?} {checkpoint_pages} {writes} {killed_first}: {told}");
            let (ours, theirs) = usurped.ends(writes, killed_first);
            holds(&what, &told, ours, theirs);
        }
    }
}

#[test]
fn what_another_process_was_told_after_the_log_was_taken_away_is_there_whatever_the_first_does() {
    usurped(&["-wal", "-shm"], |what, told, _, theirs| {
        assert_eq!((&told["outcome"], theirs), (&json!("recorded"), Some(1)), "{what}");
    });
}

#[test]
fn what_either_was_told_is_there_where_the_shared_memory_alone_was_taken_away() {
    usurped(&["-shm"], |what, told, ours, theirs| {
        assert_eq!((ours, theirs), (Some(3), told["stateVersion"].as_u64()), "{what}");
        assert_eq!(theirs, Some(4), "{what}");
    });
}

#[test]
fn a_process_that_finds_another_log_than_the_shared_memory_says_is_refused_and_nothing_is_lost() {
    usurped(&["-wal"], |what, told, ours, theirs| {
        assert_eq!((&told["outcome"], theirs), (&json!("failed"), None), "{what}");
        assert_eq!(ours, Some(3), "{what}");
    });
}
