//! Damage under a store that is open and was read before: nobody else's file is safe from a disk or
//! a program that writes where it must not.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::files::{is_named, offsets, refused};
use super::{Sound, answers, answers_of, builder};

/// Flips a bit where it stands, as whoever has the file open sees it at once.
fn flip(file: &Path, at: usize) {
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let (mut byte, place) = ([0], at as u64);
    if file.read_at(&mut byte, place).unwrap() == 1 {
        byte[0] ^= 1 << (at % 8);
        file.write_at(&byte, place).unwrap();
    }
}

/// Damages place after place of one of the three files, each under a store of its own.
fn damaged_under_an_open_store(suffix: &str, length: usize, dense: usize) {
    let sound = Sound::new();
    for at in offsets(length, dense) {
        let path = sound.copy("open", &sound.database, Some(&sound.log), None);
        let what = format!("byte {at} of {suffix:?}");
        let awareness = builder(&path).open().unwrap();
        assert_eq!(refused(&answers_of(&awareness), &what), 0);
        flip(path.with_extension(format!("db{suffix}")).as_path(), at);
        for _ in 0..2 {
            refused(&answers_of(&awareness), &what);
        }
        drop(awareness);
        // Whoever opens it afterwards gets an answer or a word, too, and `doctor` one.
        let named = is_named(&path);
        let refused = refused(&answers(&path), &what);
        assert!(named || refused == 0, "{what}: {refused} refused, and doctor finds nothing");
    }
}

#[test]
fn a_bit_that_flips_in_the_database_of_an_open_store_is_answered_or_refused_with_a_word() {
    let length = Sound::new().database.len();
    damaged_under_an_open_store("", length, 100);
}

#[test]
fn a_bit_that_flips_in_the_log_of_an_open_store_is_answered_or_refused_with_a_word() {
    let length = Sound::new().log.len();
    damaged_under_an_open_store("-wal", length, 64);
}

#[test]
fn a_bit_that_flips_in_the_shared_memory_of_an_open_store_is_answered_or_refused_with_a_word() {
    // The rest of it is not in use.
    damaged_under_an_open_store("-shm", 1_024, 136);
}
