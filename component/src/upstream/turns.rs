//! What the gateway says of its own turns: which texts it sent, and whether a turn runs.

use super::digest::Digest;
use crate::contract::{Error, OwnTurns, SessionRef, Upstream};
use crate::ports::Ports;
use crate::session;

/// How many texts are remembered of a session.
const REMEMBERED: usize = 10;
/// How long a turn counts as running after it was last said, in ms.
pub const RUNNING_MS: u64 = 60 * 60 * 1_000;

/// The gateway sent this text. See `upstreams.sent` in the contract.
pub fn sent(ports: &mut impl Ports, session: &SessionRef, text: &str) -> Result<(), Error> {
    let digest = Digest::of_text(text);
    if digest == Digest::of_text("") {
        // It would match every turn without text.
        session::resolve("session", session)?;
        return Ok(());
    }
    change(ports, session, |turns, _| {
        let hash = digest.hex();
        turns.sent.retain(|known| *known != hash);
        turns.sent.push(hash);
        if turns.sent.len() > REMEMBERED {
            turns.sent.remove(0);
        }
    })
}

/// A turn runs, or no longer. See `upstreams.busy` in the contract.
pub fn busy(ports: &mut impl Ports, session: &SessionRef, running: bool) -> Result<(), Error> {
    change(ports, session, |turns, now| {
        turns.running_until = if running { now + RUNNING_MS } else { 0 };
    })
}

/// Whether a turn of the session runs.
#[must_use]
pub fn is_running(upstream: &Upstream, now: u64) -> bool {
    upstream.turns.as_ref().is_some_and(|turns| turns.running_until > now)
}

/// Whether the gateway sent this text itself.
#[must_use]
pub fn is_echo(upstream: &Upstream, text: Digest) -> bool {
    let Some(turns) = &upstream.turns else { return false };
    let hash = text.hex();
    turns.sent.iter().any(|known| *known == hash)
}

fn change(
    ports: &mut impl Ports,
    session: &SessionRef,
    change: impl FnOnce(&mut OwnTurns, u64),
) -> Result<(), Error> {
    let session = session::resolve("session", session)?;
    let now = ports.now();
    let mut upstream = ports.upstream(&session)?;
    let mut turns = upstream.turns.take().unwrap_or_default();
    change(&mut turns, now);
    turns.moved_at = now;
    upstream.turns = Some(turns);
    Ok(ports.save_upstream(&upstream)?)
}

impl Default for OwnTurns {
    fn default() -> Self {
        Self { sent: alloc::vec::Vec::new(), running_until: 0, moved_at: 0 }
    }
}
