//! The C ABI of headsup.
