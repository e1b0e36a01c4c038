//! The logic of headsup: session state awareness, pure and stateless.
//!
//! Natively this is an ordinary library, for property tests and benchmarks; for WASI it is the
//! component. The modules stand in the order in which a signal flows: what it is called
//! ([`session`], [`signal`]), what it moves ([`record`], [`cursor`], [`watch`]), who is told
//! ([`notice`], [`acknowledge`]), how they catch up ([`reconcile`]), what people do elsewhere ([`upstream`]), and what is kept ([`lifecycle`],
//! [`retention`], [`policy`]).
#![cfg_attr(target_family = "wasm", no_std)]

extern crate alloc;

/// The version of the protocol that this logic follows.
pub const PROTOCOL: &str = "0.1.0";

pub mod contract;
pub mod json;
pub mod ports;
pub mod rules;

pub mod refusal;
pub mod session;
pub mod signal;
pub mod text;

pub mod cursor;
pub mod record;
pub mod watch;

pub mod acknowledge;
pub mod notice;
pub mod reconcile;

pub mod upstream;

pub mod lifecycle;
pub mod policy;
pub mod retention;

pub mod wire;

#[cfg(target_family = "wasm")]
pub mod guest;
#[cfg(any(target_family = "wasm", test))]
mod heap;
#[cfg(target_family = "wasm")]
mod runtime;
