//! Gives a target its examples, then mutants of them until its time is over.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::mutate::{Chance, mutant};

/// Seconds for each target if nobody says otherwise: a minute for all five.
const SECONDS: u64 = 12;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|text| text.parse().ok())
}

/// The committed examples of a target, in the order of their names.
pub fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).expect("the corpus is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} has no example", folder.display());
    files.iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Feeds a target. It panics where something is wrong with how an input was taken; then the input is
/// kept in a file.
pub fn fuzz(target: &str, examples: &[Vec<u8>], mut run: impl FnMut(&[u8])) {
    let fresh = || {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| u64::from(it.subsec_nanos()))
    };
    let seed = number("HEADSUP_FUZZ_SEED").unwrap_or_else(fresh);
    let seconds = number("HEADSUP_FUZZ_SECONDS").unwrap_or(SECONDS);
    println!("fuzzing {target} for {seconds} s, HEADSUP_FUZZ_SEED={seed}");
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut chance = Chance::new(seed);
    let mut count = 0_u64;
    for example in examples {
        attempt(target, seed, example, &mut run);
    }
    while Instant::now() < until {
        let input = mutant(&mut chance, examples);
        attempt(target, seed, &input, &mut run);
        count += 1;
    }
    println!("{target}: {} examples and {count} mutants", examples.len());
}

fn attempt(target: &str, seed: u64, input: &[u8], run: &mut impl FnMut(&[u8])) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(input))) {
        let file = std::env::temp_dir().join(format!("headsup-fuzz-{target}-{seed}"));
        let kept = std::fs::write(&file, input);
        eprintln!(
            "{target} failed with HEADSUP_FUZZ_SEED={seed}; its input is in {} ({kept:?}); once it \
             is fixed, put it into tests/fuzz/corpus/{target}/",
            file.display()
        );
        resume_unwind(panic);
    }
}
