//! Section 9: adopted sessions, watched where they really live.

mod adopting;
mod checking;
mod claims;
mod missing;
mod nodes;
mod own_turns;
mod rotation;
mod transcript;
