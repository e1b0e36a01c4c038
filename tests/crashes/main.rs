//! Processes that are killed, at random moments and at each point that has a name: what is in the
//! store afterwards is held against the responses that had arrived before.
//!
//! `CRASHES=500` kills so many at random in place of the few that every run of the tests does. Each run
//! begins elsewhere and says `SEED`, which plays it again.

// A test that cannot be set up has failed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod adopted;
mod driver;
mod load;
mod opening;
mod points;
mod pruning;
mod server;
mod swapping;

use harness::Dice;

/// How many kills a test does that does `usual` of 40 in an ordinary run.
fn kills(usual: u64) -> u64 {
    number("CRASHES").map_or(usual, |all| (all * usual).div_ceil(40))
}

/// The dice of a test, which says its seed where it fails.
fn dice() -> Dice {
    let seed = harness::seed();
    eprintln!("SEED={seed}");
    Dice::new(seed)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}
