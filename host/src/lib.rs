//! x
pub mod contract;
