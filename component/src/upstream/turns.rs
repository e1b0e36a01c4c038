//! What the gateway says of its own turns: which texts it sent, and whether a turn runs.

use alloc::string::String;

use super::digest::Digest;
use crate::contract::{Error, SessionRef, Upstream};
use crate::ports::Ports;
use crate::refusal::MAX_INTEGER;
use crate::{session, text};

/// How many texts are remembered of a session.
const REMEMBERED: usize = 10;
/// How long a turn counts as running after it was last said, in ms.
pub const RUNNING_MS: u64 = 60 * 60 * 1_000;

/// The gateway sent this text. See `upstreams.sent` in the contract.
pub fn sent(ports: &mut impl Ports, session: &SessionRef, text: &str) -> Result<(), Error> {
    let (now, mut upstream) = load(ports, session)?;
    let digest = Digest::of_text(text);
    // A text of nothing would match every turn without text.
    if digest != Digest::of_text("") {
        upstream.sent = remembered(&upstream.sent, &digest.hex());
        ports.save_upstream(&upstream, now)?;
    }
    Ok(())
}

/// A turn runs, or no longer. See `upstreams.busy` in the contract.
pub fn busy(ports: &mut impl Ports, session: &SessionRef, running: bool) -> Result<(), Error> {
    let (now, mut upstream) = load(ports, session)?;
    upstream.running_until = if running { (now + RUNNING_MS).min(MAX_INTEGER) } else { 0 };
    Ok(ports.save_upstream(&upstream, now)?)
}

/// Until when a turn may be said to run: one that would run for more than twice as long as any was said
/// by a clock that was ahead, and counts for nothing.
#[must_use]
pub fn at_most(now: u64) -> u64 {
    (now + 2 * RUNNING_MS).min(MAX_INTEGER)
}

/// Whether a turn of the session runs.
#[must_use]
pub fn is_running(upstream: &Upstream, now: u64) -> bool {
    upstream.running_until > now && upstream.running_until <= at_most(now)
}

/// Whether the gateway sent this text itself.
#[must_use]
pub fn is_echo(upstream: &Upstream, text: Digest) -> bool {
    let hash = text.hex();
    let mut rest = upstream.sent.as_str();
    while !rest.is_empty() {
        let (known, others) = first_of(rest);
        if known == hash {
            return true;
        }
        rest = others;
    }
    false
}

fn load(ports: &mut impl Ports, session: &SessionRef) -> Result<(u64, Upstream), Error> {
    let session = session::resolve("session", session)?;
    let now = ports.now();
    Ok((now, ports.upstream(&session)?))
}

/// The hashes with this one as the newest, oldest first, one space between two.
fn remembered(before: &str, hash: &str) -> String {
    let mut others = String::new();
    let mut count = 0;
    let mut rest = before;
    while !rest.is_empty() {
        let (known, later) = first_of(rest);
        if known != hash {
            others.push_str(known);
            others.push(' ');
            count += 1;
        }
        rest = later;
    }
    let mut newest = others.as_str();
    for _ in REMEMBERED..=count {
        newest = first_of(newest).1;
    }
    text::joined(&[newest, hash])
}

/// The first hash of a list, and the others.
fn first_of(hashes: &str) -> (&str, &str) {
    text::cut(hashes, b' ').unwrap_or((hashes, ""))
}
