//! The logic of headsup: session state awareness, pure and stateless.
//!
//! Natively this is an ordinary library, for property tests and benchmarks; for WASI it is the
//! component. The modules stand in the order in which a signal flows.
#![cfg_attr(target_family = "wasm", no_std)]

extern crate alloc;

pub mod contract;
pub mod ports;
#[cfg(target_family = "wasm")]
mod guest;
