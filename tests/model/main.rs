//! The whole protocol against a small model: random operations by many watchers on many targets of
//! several agents, with the real component in wasmtime over real SQLite, and everything that can
//! be seen compared after every step.
//!
//! `HEADSUP_MODEL_CASES` sets how many histories are played (100 if unset), `HEADSUP_MODEL_SEED`
//! which ones (always the same if unset, so that a run can be repeated). What ever failed is kept
//! in `tests/model/regressions.txt` and played first.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod check;
mod corners;
mod model;
mod operations;
mod planted;
mod play;
mod seen;

use std::cell::RefCell;

use proptest::test_runner::{Config, FileFailurePersistence, RngSeed, TestRunner};

use crate::corners::Corners;
use crate::operations::histories;
use crate::play::play;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// How many histories are played if nobody says otherwise.
const CASES: u32 = 100;

fn config() -> Config {
    Config {
        cases: u32::try_from(number("HEADSUP_MODEL_CASES", CASES.into())).unwrap_or(u32::MAX),
        rng_seed: RngSeed::Fixed(number("HEADSUP_MODEL_SEED", 1)),
        failure_persistence: None,
        max_shrink_iters: 3_000,
        ..Config::default()
    }
}

#[test]
fn whatever_happens_the_store_answers_as_the_model_does() {
    let mut config = config();
    let regressions = concat!(env!("CARGO_MANIFEST_DIR"), "/model/regressions.txt");
    config.failure_persistence = Some(Box::new(FileFailurePersistence::Direct(regressions)));
    let cases = config.cases;
    let corners = RefCell::new(Corners::default());
    let played = TestRunner::new(config).run(&histories(), |history| {
        play(&history, &mut |operation, seen| corners.borrow_mut().look(operation, seen))
    });
    if let Err(failure) = played {
        panic!("{failure}");
    }
    let missed = corners.borrow().missed();
    assert!(cases < CASES || missed.is_empty(), "{cases} histories never led to {missed:?}");
}
