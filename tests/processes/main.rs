//! Several processes on one file: real ones that serve, of which some are stopped or killed, and
//! every order in which two of them can deal with the same notices.
//!
//! `fleet` runs the processes and remembers what each was told; `promises` holds that against the
//! store. With `HEADSUP_LONG=1` processes stand still for ten seconds and the load lasts longer.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod fleet;
mod promises;

mod backup;
mod interleavings;
mod load;
