//! Looking into a store: it changes nothing, and makes nothing where there is none.

use std::fs;
use std::path::Path;

use super::*;
use crate::contract::StorageFault;

const KEY: &str = "agent:main:a";

#[test]
fn readers_and_inspections_make_no_store() {
    let (folder, options) = on_disk();
    for options in [options, StoreOptions::new(":memory:")] {
        for opened in [Store::open_reader(&options), Store::inspect(&options)] {
            let failure = opened.unwrap_err();
            assert_eq!(failure.fault, StorageFault::Failed);
            assert!(failure.message.contains("no store here"), "{}", failure.message);
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn an_inspection_sees_commits_that_are_still_beside_the_file_and_changes_nothing() {
    let (folder, options) = on_disk();
    let mut store = Store::open(&options).unwrap();
    write(&mut store, |store| record(store, entry(KEY)));
    // As a process that was killed leaves it: with commits beside the file.
    let copy = StoreOptions::new(folder.path().join("copy.db"));
    let beside = |path: &Path| path.with_extension("db-wal");
    fs::copy(&options.path, &copy.path).unwrap();
    fs::copy(beside(&options.path), beside(&copy.path)).unwrap();
    let before = (fs::read(&copy.path).unwrap(), fs::read(beside(&copy.path)).unwrap());
    let mut inspected = Store::inspect(&copy).unwrap();
    let page = read(&mut inspected, |store| store.history(&session(KEY), 0, 9).unwrap());
    assert_eq!(page.rows.len(), 1);
    assert_eq!(inspected.begin_write().unwrap_err().fault, StorageFault::ReadOnly);
    drop(inspected);
    let after = (fs::read(&copy.path).unwrap(), fs::read(beside(&copy.path)).unwrap());
    assert_eq!(after, before);
}

#[test]
fn a_file_without_anything_of_ours_is_not_a_store_to_inspect() {
    let (_folder, options) = made_by_a_gateway("CREATE TABLE sessions (x)");
    for opened in [Store::inspect(&options), Store::open_reader(&options)] {
        let failure = opened.unwrap_err();
        assert_eq!(failure.fault, StorageFault::Failed);
        assert!(failure.message.contains("nothing of headsup's"), "{}", failure.message);
    }
}

/// A store in a folder where nothing may be written, unless this process may write anywhere.
#[cfg(unix)]
fn in_a_read_only_folder(file_mode: u32) -> (TempDir, StoreOptions, bool) {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, options) = on_disk();
    write(&mut Store::open(&options).unwrap(), |store| record(store, entry(KEY)));
    let inner = options.path.parent().unwrap();
    fs::set_permissions(&options.path, fs::Permissions::from_mode(file_mode)).unwrap();
    fs::set_permissions(inner, fs::Permissions::from_mode(0o555)).unwrap();
    let all_powerful = fs::write(inner.join("probe"), "").is_ok();
    (folder, options, all_powerful)
}

#[cfg(unix)]
#[test]
fn a_store_in_a_read_only_place_can_be_inspected_and_says_why_it_cannot_be_opened() {
    use std::os::unix::fs::PermissionsExt as _;
    for file_mode in [0o444, 0o644] {
        let (folder, options, all_powerful) = in_a_read_only_folder(file_mode);
        let mut inspected = Store::inspect(&options).unwrap();
        let page = read(&mut inspected, |store| store.history(&session(KEY), 0, 9).unwrap());
        assert_eq!(page.rows.len(), 1);
        drop(inspected);
        let beside = options.path.with_file_name("new.db");
        let below = options.path.with_file_name("new").join("new.db");
        for path in [&options.path, &beside, &below] {
            match Store::open(&StoreOptions::new(path)) {
                Ok(_) => assert!(all_powerful),
                Err(failure) => assert_eq!(failure.fault, StorageFault::ReadOnly, "{failure:?}"),
            }
        }
        let inner = options.path.parent().unwrap();
        fs::set_permissions(inner, fs::Permissions::from_mode(0o755)).unwrap();
        drop(folder);
    }
}
