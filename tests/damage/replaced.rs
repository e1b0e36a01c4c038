//! The file of an open store is removed, or another one is put in its place: what is written to the
//! open one would be lost with it.

use std::fs;
use std::path::Path;

use harness::{CHILD, doctor};
use headsup::{Awareness, Error, Recording, StorageFault};

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
