//! Bits and ends.

use std::path::Path;

use headsup::StorageFault;

use super::{Sound, answers, is_typed};

/// How many places of a file are damaged.
fn places() -> usize {
    if std::env::var_os("HEADSUP_LONG").is_some() { 1_000 } else { 50 }
}

/// Places all over a file: its first hundred bytes, where its headers are, and then by a stride
/// that meets every part of a page.
pub fn offsets(length: usize, dense: usize) -> impl Iterator<Item = usize> {
    let stride = (length / places()).max(1) | 1;
    (0..dense.min(length)).chain((dense..length).step_by(stride))
}

pub fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut damaged = bytes.to_vec();
    damaged[at] ^= 1 << (at % 8);
    damaged
}

/// Whatever is wrong has a word; returns how many calls were refused.
pub fn refused(told: &[Result<String, String>], what: &str) -> usize {
    let reasons: Vec<&String> = told.iter().filter_map(|answer| answer.as_ref().err()).collect();
    for reason in &reasons {
        assert!(is_typed(reason), "{what}: {reason}");
    }
    reasons.len()
}

#[test]
fn a_database_with_a_flipped_bit_answers_or_says_why_not() {
    let sound = Sound::new();
    let mut found = 0;
    for at in offsets(sound.database.len(), 100) {
        let damaged = flipped(&sound.database, at);
        let path = sound.copy("bit", &damaged, Some(&sound.log), None);
        let named = is_named(&path);
        let refused = refused(&answers(&path), &format!("byte {at}"));
        assert!(named || refused == 0, "byte {at}: {refused} refused, and doctor finds nothing");
        found += refused;
    }
    assert!(found > 0, "no damage was found at all");
}

/// Whether `doctor` says that something is wrong: a rule that is broken, or why it cannot look.
pub fn is_named(path: &Path) -> bool {
    match harness::doctor(path) {
        Ok(violations) => !violations.is_empty(),
        Err(failure) => {
            let about_the_file = failure.fault != StorageFault::Busy;
            assert!(about_the_file && !failure.message.contains("defect"), "{failure:?}");
            true
        }
    }
}

#[test]
fn a_database_that_was_cut_answers_or_says_why_not() {
    let sound = Sound::new();
    let mut found = 0;
    for length in offsets(sound.database.len(), 8) {
        let path = sound.copy("cut", &sound.database[..length], None, None);
        let named = is_named(&path);
        let refused = refused(&answers(&path), &format!("{length} bytes"));
        // An empty file is no damage: it becomes a store.
        assert!(named || refused == 0, "{length} bytes: {refused} refused, and all is well");
        found += refused;
    }
    assert!(found > 0, "no damage was found at all");
}

/// Of a log that is damaged SQLite takes what stands before the damage: whole commits, as before a
/// loss of power. So an answer is the right one of some moment: the log's events are a beginning.
#[test]
fn a_log_with_a_flipped_bit_or_a_cut_end_leaves_a_beginning_of_what_was_committed() {
    let sound = Sound::new();
    for at in offsets(sound.log.len(), 64) {
        let damaged = [flipped(&sound.log, at), sound.log[..at].to_vec()];
        for (log, what) in damaged.iter().zip(["bit", "cut"]) {
            let path = sound.copy("log", &sound.database, Some(log), None);
            let what = format!("{what} at {at}");
            assert_eq!(refused(&answers(&path), &what), 0, "{what}");
            let file = rusqlite::Connection::open(&path).unwrap();
            let row = |sql: &str| file.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
            let count = row("SELECT count(*) FROM session_state_events");
            assert_eq!(row("SELECT max(sequence) FROM session_state_events"), count, "{what}");
            assert_eq!(row("SELECT max(version) FROM session_state_heads"), count, "{what}");
            let checked: String =
                file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(checked, "ok", "{what}");
        }
    }
}

/// The shared memory is an index of the log that whoever opens the file first makes anew.
#[test]
fn damaged_shared_memory_changes_no_answer() {
    let sound = Sound::new();
    for at in offsets(sound.shared.len(), 136) {
        let damaged = [flipped(&sound.shared, at), sound.shared[..at].to_vec()];
        for (shared, what) in damaged.iter().zip(["bit", "cut"]) {
            let path = sound.copy("shm", &sound.database, Some(&sound.log), Some(shared));
            assert_eq!(answers(&path), sound.truth, "{what} at {at}");
        }
    }
}
