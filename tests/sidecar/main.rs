//! `headsup serve` on a Unix socket and over HTTP, from outside: that both say what standard input
//! and output say, who may ask, what is bounded, what events promise, and how it all ends.

// A test that cannot be set up has failed.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![cfg(unix)]

mod access;
mod client;
mod events;
mod limits;
mod openapi;
mod page;
mod plugin;
mod server;
mod stopping;
mod vectors;
