//! Cores that misbehave and stores that fail: what happens costs the one call that it happens to,
//! which says why, and nobody else anything.
//!
//! `cores` builds the misbehaving core of `tests/hostile`, `stage` runs it over a store and sees
//! everything that comes out; each other module holds one rule's tests.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cores;
mod stage;

mod calls;
mod company;
mod floods;
mod garbage;
mod memory;

mod loading;
mod swap;
mod template;

mod failing_store;
mod limited_file;

mod crossings;
#[allow(dead_code, reason = "the benchmarks use more of it")]
#[path = "../benches/ratios/native.rs"]
mod native;
