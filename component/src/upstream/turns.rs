//! What the gateway says of its own turns: which texts it sent, and whether a turn runs.

use alloc::string::String;

use super::digest::Digest;
use crate::contract::{Error, SessionRef, Upstream};
use crate::ports::Ports;
use crate::session;

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
    upstream.running_until = if running { now + RUNNING_MS } else { 0 };
    Ok(ports.save_upstream(&upstream, now)?)
}

/// Whether a turn of the session runs.
#[must_use]
pub fn is_running(upstream: &Upstream, now: u64) -> bool {
    upstream.running_until > now
}

/// Whether the gateway sent this text itself.
#[must_use]
pub fn is_echo(upstream: &Upstream, text: Digest) -> bool {
    let hash = text.hex();
    !upstream.sent.is_empty() && upstream.sent.split(' ').any(|known| known == hash)
}

fn load(ports: &mut impl Ports, session: &SessionRef) -> Result<(u64, Upstream), Error> {
    let session = session::resolve("session", session)?;
    let now = ports.now();
    Ok((now, ports.upstream(&session)?))
}

/// The hashes with this one as the newest, oldest first, one space between two.
fn remembered(before: &str, hash: &str) -> String {
    let mut others = 0;
    for known in before.split(' ') {
        others += usize::from(known != hash);
    }
    let mut all = String::new();
    for known in before.split(' ') {
        if known == hash || known.is_empty() {
            continue;
        }
        if others < REMEMBERED {
            all.push_str(known);
            all.push(' ');
        }
        others -= 1;
    }
    all.push_str(hash);
    all
}
