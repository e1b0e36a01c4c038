//! Sessions that start over or go (protocol, section 8).

use crate::contract::{Error, Removal, SessionRef};
use crate::ports::Ports;
use crate::session::{self, Key};

/// How far `restored` raises sequences and watermarks: further than any store can have got since
/// its backup was made.
pub const RESTORED_BY: u64 = 1 << 32;

/// Removes the cursors that a session holds as watcher. See `maintenance.reset` in the contract.
pub fn reset(ports: &mut impl Ports, session: &SessionRef) -> Result<Removal, Error> {
    let session = session::resolve("session", session)?;
    // A bare session holds no cursors: the same key under another agent would answer for it.
    let holds_cursors = Key::parse("session.key", &session.key)?.is_qualified();
    let cursors = if holds_cursors { ports.reset(&session.key)? } else { 0 };
    Ok(Removal { cursors, events: 0 })
}

/// Removes a session and every cursor with it on either side. See `maintenance.delete` in the
/// contract.
pub fn delete(ports: &mut impl Ports, session: &SessionRef) -> Result<Removal, Error> {
    let session = session::resolve("session", session)?;
    let now = ports.now();
    Ok(ports.delete(&session, now)?)
}

/// Marks the store as restored from a backup. Returns the new position of the series.
pub fn restored(ports: &mut impl Ports) -> Result<u64, Error> {
    Ok(ports.restored(RESTORED_BY)?)
}
