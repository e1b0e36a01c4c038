//! Who plays in the tests, and their time.

use headsup::{Session, SessionRef};

/// The main session of the agent `main`.
pub const MAIN: &str = "agent:main:main";
/// The main session of another agent.
pub const OPS: &str = "agent:ops:main";
/// A child of [`MAIN`]; as a watcher it is nested.
pub const CHILD: &str = "agent:main:subagent:child";
/// A session of `main` that is neither nested nor a main session.
pub const WORKER: &str = "agent:main:telegram:worker";
/// A group session of `main`.
pub const GROUP: &str = "agent:main:telegram:group:7";

/// In ms.
pub const SECOND: u64 = 1_000;
/// In ms.
pub const MINUTE: u64 = 60 * SECOND;
/// In ms.
pub const HOUR: u64 = 60 * MINUTE;
/// In ms.
pub const DAY: u64 = 24 * HOUR;
/// When tests begin, in ms since the epoch: long enough after it that nothing is clamped to 0.
pub const NOON: u64 = 1_000 * DAY;

/// A bare session, which needs its agent.
#[must_use]
pub fn bare(key: &str, agent: &str) -> SessionRef {
    SessionRef::new(key, agent)
}

/// A session as answers name it.
#[must_use]
pub fn session(key: &str, agent: &str) -> Session {
    Session { key: key.to_owned(), agent: agent.to_owned() }
}
