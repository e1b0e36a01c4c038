//! x
pub mod contract;
pub mod storage;
