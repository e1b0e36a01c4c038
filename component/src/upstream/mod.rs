//! Adopted sessions: noticing what people do where a session really lives (protocol, section 9).
//!
//! The modules stand in the order in which a check passes them. What is read: [`source`] (which
//! kinds there are; one module each: `claude`, `codex`), [`plan`], [`adopt`]. How bytes become rows:
//! [`lines`], [`row`], with [`digest`] and [`instant`]. What a row is: [`shape`], a table. What counts:
//! [`queued`], [`turns`]. What moves: [`progress`], [`feed`]. For people: [`explain`].

pub mod claude;
pub mod codex;
pub mod source;

pub mod adopt;
pub mod plan;
pub mod turns;

pub mod lines;
pub mod row;
pub mod shape;

pub mod digest;
pub mod instant;
pub mod queued;

pub mod feed;
pub mod progress;

pub mod explain;
