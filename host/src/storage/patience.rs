//! Waiting for a lock that another process or connection holds: often, at random, and as long as
//! the busy time-out.
//!
//! SQLite's locks have no queue: whoever asks when one is free gets it. Its own way to wait asks
//! ever more rarely, ten times a second in the end, so that who has waited longest has the worst
//! chance against those who just came. Here everybody asks equally often however long it waits.

use std::hash::{BuildHasher as _, RandomState};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use super::failure::code_of;

/// The shortest rest between two questions, in µs.
const SHORTEST: u64 = 250;

/// The longest rest, in µs. A commit that waits for a disk takes about as long.
const LONGEST: u64 = 2_500;

/// Makes a connection wait for locks for so long, each time anew.
pub(super) fn wait_for_locks(
    connection: &mut Connection,
    patience: Duration,
) -> rusqlite::Result<()> {
    let chance = RandomState::new();
    let mut began = Instant::now();
    connection.busy_handler(Some(move |asked_before: i32| {
        if asked_before == 0 {
            began = Instant::now();
        }
        let left = patience.saturating_sub(began.elapsed());
        let micros = SHORTEST + chance.hash_one((began, asked_before)) % (LONGEST - SHORTEST);
        sleep(Duration::from_micros(micros).min(left));
        !left.is_zero()
    }))
}

/// Asks again, for as long as there is patience, where SQLite gives up by itself: a process that is
/// stopped in the moment in which it holds a lock of the shared memory keeps that for as long as it
/// is stopped, and SQLite waits ten seconds for it, whatever the busy time-out.
pub(super) fn insist<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(error) if gave_up(&error) && began.elapsed() < patience => {}
            other => return other,
        }
    }
}

fn gave_up(error: &rusqlite::Error) -> bool {
    code_of(error) == Some(ErrorCode::FileLockingProtocolFailed)
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn stopped() -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_PROTOCOL), None)
    }

    #[test]
    fn where_sqlite_gives_up_within_the_time_out_it_is_asked_again() {
        let mut asked = 0;
        let answer = insist(Duration::from_mins(1), || {
            asked += 1;
            if asked < 3 { Err(stopped()) } else { Ok(asked) }
        });
        assert_eq!(answer, Ok(3));
    }

    #[test]
    fn beyond_the_time_out_it_is_believed() {
        assert_eq!(insist(Duration::ZERO, || Err::<(), _>(stopped())), Err(stopped()));
    }
}
