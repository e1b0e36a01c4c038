//! What is stored in trials.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::contract::{
    AppendRequest, ClaimRequest, Cursor, CursorState, Delivery, Entry, Head, Link, Notice,
    Notifying, Opening, Pair, Positions, Provenance, PruneRequest, Session, Source, Upstream,
};

/// Three sessions that are watched, and two that watch.
pub const A: &str = "agent:main:a";
pub const B: &str = "agent:main:b";
pub const C: &str = "agent:main:c";
pub const W: &str = "agent:main:w";
pub const X: &str = "agent:main:x";

/// The largest number there is.
pub const MOST: u64 = (1 << 53) - 1;

/// A session of the agent `main`.
pub fn session(key: &str) -> Session {
    of_agent(key, "main")
}

pub fn of_agent(key: &str, agent: &str) -> Session {
    Session { key: key.to_string(), agent: agent.to_string() }
}

/// With all that an entry can have but a dedupe key; it occurred at 1,000.
pub fn entry(key: &str) -> Entry {
    Entry {
        session: session(key),
        kind: "goal_changed".to_string(),
        actor_type: "human".to_string(),
        actor_id: Some("u7".to_string()),
        occurred_at: 1_000,
        summary: "goal updated".to_string(),
        session_id: Some("s1".to_string()),
        run_id: Some("r1".to_string()),
        payload: Some("{\"turns\":2}".to_string()),
        dedupe_key: None,
    }
}

pub fn keyed(key: &str, dedupe_key: &str) -> Entry {
    Entry { dedupe_key: Some(dedupe_key.to_string()), ..entry(key) }
}

pub fn at(key: &str, occurred_at: u64) -> Entry {
    Entry { occurred_at, ..entry(key) }
}

/// Appends and asks for nothing more.
pub fn request(entry: Entry) -> AppendRequest {
    AppendRequest { entry, only_if_watched: false, settled: false, named: Vec::new() }
}

pub fn pair(watcher: &str, target: &str) -> Pair {
    Pair { watcher: watcher.to_string(), target: session(target) }
}

/// A live, explicit cursor that moved at 1,000.
pub fn live(watcher: &str, target: &str, last_seen: u64, notified: u64) -> Cursor {
    on(watcher, session(target), last_seen, notified)
}

pub fn on(watcher: &str, target: Session, last_seen: u64, notified: u64) -> Cursor {
    let positions = Positions { last_seen, notified, provenance: Provenance::Explicit };
    let pair = Pair { watcher: watcher.to_string(), target };
    Cursor { pair, state: CursorState::Live(positions), moved_at: 1_000 }
}

/// A mark that was left at 1,000.
pub fn mark(watcher: &str, target: &str) -> Cursor {
    Cursor { pair: pair(watcher, target), state: CursorState::Unwatched, moved_at: 1_000 }
}

/// The head of a session whose newest event notified; it moved at 1,000.
pub fn head(version: u64) -> Head {
    let notifying = Notifying { newest: version, actor: Some("u7".to_string()), other: 0 };
    Head { version, watermark: 0, notifying: Some(notifying), moved_at: 1_000 }
}

/// Nothing is due.
pub const NOTHING_DUE: PruneRequest =
    PruneRequest { occurred_before: None, keep_rows: u32::MAX, moved_before: None, at_most: 5_000 };

pub fn link() -> Link {
    Link {
        source: Source {
            kind: "claude-node".to_string(),
            place: "node-1".to_string(),
            thread: Some("thread-1".to_string()),
        },
        catalog: "claude".to_string(),
        generation: 3,
        revision: 8,
        misses: 1,
        claimed: true,
        state: "{\"at\":17}".to_string(),
    }
}

/// All that can be kept of a source.
pub fn adopted(key: &str) -> Upstream {
    Upstream {
        session: session(key),
        link: Some(link()),
        sent: "0a 1b \u{e9}".to_string(),
        running_until: 5_000,
        watched: false,
    }
}

/// A link alone: nothing was sent, and no turn runs.
pub fn linked(key: &str) -> Upstream {
    Upstream { link: Some(link()), ..unlinked(session(key)) }
}

/// What is kept of nothing.
pub fn unlinked(session: Session) -> Upstream {
    Upstream { session, link: None, sent: String::new(), running_until: 0, watched: false }
}

/// At 100,000 for a minute.
pub fn due() -> ClaimRequest {
    ClaimRequest {
        kinds: ["claude-jsonl".to_string(), "claude-node".to_string()].to_vec(),
        now: 100_000,
        running_at_most: 7_300_000,
        until: 160_000,
        claimed_too: false,
    }
}

pub fn opening(watcher: &str, number: u64, delivery: Delivery) -> Opening {
    Opening {
        watcher: watcher.to_string(),
        notice: Notice {
            target: session(A),
            since: number,
            up_to: number + 1,
            text: "Session \"agent:main:a\" was changed by someone else. \u{1f980}".to_string(),
        },
        delivery,
    }
}
