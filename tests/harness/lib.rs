//! What the tests of behaviour share: a gateway with a clock of its own, and ears for whatever
//! comes out.
//!
//! A test reads as a conversation: it does something, says what has to be heard, and ends by
//! hearing nothing more, because a [`Gateway`] that is dropped with news unheard fails the test.
// A harness stops a test by panicking; that is what it is for.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::new_without_default
)]

pub mod command;
mod dice;
mod gateway;
mod home;
mod ledger;
mod names;
mod news;
mod older;
pub mod plugins;
mod rows;

pub use dice::{Dice, seed};
pub use gateway::{Gateway, core, engine};
pub use home::Home;
pub use ledger::{Ledger, Loss, doctor};
pub use names::{CHILD, DAY, GROUP, HOUR, MAIN, MINUTE, NOON, OPS, SECOND, WORKER, bare, session};
pub use news::{Ears, News};
pub use older::as_the_first_schema_made_it;
pub use rows::rows;
