//! Several gateways on one store, for thousands of steps: they come and go, each with a clock of its
//! own that jumps, their storage fails under them, what they are told is lost or acknowledged twice,
//! cores are swapped, and adopted sessions have files that grow, are replaced and vanish.
//!
//! The protocol's model and what `tests/model/` checks by it are used as they are there. What is
//! added: every step is recorded, as what was asked, answered and heard; and the checkers of
//! `promises.rs`, which know nothing of the model, go over the whole recorded history. `planted.rs`
//! shows that they find what they are there for.
//!
//! `make sim SEED=… STEPS=…` plays one history. It depends on its seed alone.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[allow(dead_code, reason = "what promises.rs finds out from the whole history")]
#[path = "../model/check.rs"]
mod check;
#[path = "../model/model/mod.rs"]
mod model;
#[allow(dead_code, reason = "strategies of whole histories are the model test's own")]
#[path = "../model/operations.rs"]
mod operations;
#[path = "../model/seen.rs"]
mod seen;

mod ask;
mod disk;
mod faults;
mod history;
mod links;
mod planted;
mod process;
mod promises;
mod steps;
mod world;

use std::time::{Duration, Instant};

use crate::world::World;

/// For how long, in s, histories without a seed of their own are played.
const BUDGET: u64 = 45;

/// Steps of a history if nobody says otherwise.
const STEPS: u64 = 800;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().filter(|text| !text.is_empty()).and_then(|text| text.parse().ok())
}

/// Plays a history and checks it. What is wrong comes with how to play it again. What never happened
/// in it.
fn simulate(seed: u64, steps: u64) -> Vec<&'static str> {
    println!("simulating seed {seed}, {steps} steps");
    let mut world = World::new(seed);
    let played = world.play(steps);
    let history = world.into_history();
    let checked = played.and_then(|()| promises::all(&history));
    if let Err(wrong) = checked {
        panic!("{wrong}\nto see it again: make sim SEED={seed} STEPS={steps}");
    }
    let (counts, never) = history::summary(&history);
    println!("{counts}");
    never
}

#[test]
fn every_promise_holds_on_a_history_that_is_always_the_same() {
    let never = simulate(1, STEPS);
    assert!(never.is_empty(), "the history never led to {never:?}");
}

/// With a seed, the history of that seed; without, one after the other until the time is over.
#[test]
fn every_promise_holds_on_a_history_that_is_always_another() {
    let steps = number("HEADSUP_SIM_STEPS").unwrap_or(STEPS);
    if let Some(seed) = number("HEADSUP_SIM_SEED") {
        simulate(seed, steps);
        return;
    }
    let (begun, budget) = (Instant::now(), Duration::from_secs(BUDGET));
    let first = u64::from(std::process::id()) ^ u64::from(fresh_bits());
    for seed in first.. {
        simulate(seed, steps);
        if begun.elapsed() >= budget {
            return;
        }
    }
}

fn fresh_bits() -> u32 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(0, |since| since.subsec_nanos())
}

#[test]
fn the_same_seed_is_the_same_history() {
    let played = || {
        let mut world = World::new(7);
        world.play(120).unwrap();
        format!("{:?}", world.into_history())
    };
    assert!(played() == played(), "two histories of one seed differ");
}
