//! Power loss and faults of the disk, without a disk: SQLite runs over a file system of the tests
//! that fails, tears or ends at any one operation of a day's work. What is left is opened again and
//! held against what was told before.
//!
//! Ordinary runs take a sample of the operations, another one each time, and say its `SEED`, which
//! takes it again; `FAULTS=all` takes every one.

// A test that cannot be set up has failed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod disk;
mod every;
mod sync;
mod vfs;
mod work;
