//! The command `headsup` from outside: what it prints, how it ends, and what it leaves on the disk.

// A test that cannot be set up has failed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod configuration;
mod doctor;
mod documented;
mod help;
mod looking;
mod plugin;
mod replay;
mod serve;
mod stores;
mod upstreams;

use harness::command as binary;
