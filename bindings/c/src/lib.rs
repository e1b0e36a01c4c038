//! The C ABI of headsup: what any language with a foreign function interface calls. The header
//! `include/headsup.h` is made from this crate; what its callers have to know stands at its top, from
//! `header.txt`.
//!
//! Every function runs under [`status::guard`], so that no panic reaches a caller. What a caller can do
//! wrong without breaking C's own rules is an error code: handles are numbers in a table and never
//! pointers, so that a closed one is just not found.

// The one layer that talks to a foreign language: each `unsafe` says what it relies on.
#![allow(unsafe_code)]

mod abi;
mod configuration;
mod listener;
mod status;
mod stores;
mod text;

#[cfg(test)]
mod tests;
