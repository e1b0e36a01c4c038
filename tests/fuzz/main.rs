//! Whatever bytes come in, on stable and without a fuzzer's engine: each target takes the committed
//! examples of `corpus/`, and then mutants of them until its time is over.
//!
//! `make fuzz SECONDS=…` takes longer for each; `HEADSUP_FUZZ_SEED` plays one run again. An input that
//! fails is written to a file that the failure names; it belongs into the corpus once it is fixed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod driver;
mod json;
mod keys;
mod mutate;
mod plugin;
mod rows;
mod transcript;
