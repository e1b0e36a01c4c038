//! Which bytes of an open file are read.

use std::fs::File;
use std::io;

use super::system;
use crate::contract::Start;

/// Most bytes of one read: 64 MiB, and some before them to recognise the place by.
const MOST: u32 = (64 << 20) + 4_096;

/// Bytes before the end in which a line feed is looked for.
pub(super) const FURTHEST: u64 = 64 << 20;

/// Bytes looked at in one step.
const STEP: u64 = 64 << 10;

/// Where the bytes begin that are asked for, in a file of this size.
pub(super) fn start(file: &File, start: &Start, size: u64) -> io::Result<u64> {
    match start {
        Start::Byte(start) => Ok(*start),
        Start::BeforeEnd(bytes) => before_end(file, u64::from(*bytes), size),
    }
}

/// So many bytes before the end, or twice as far and so on until a line feed follows.
fn before_end(file: &File, bytes: u64, size: u64) -> io::Result<u64> {
    let mut back = bytes.clamp(1, FURTHEST);
    let mut looked_at = size;
    loop {
        let start = size.saturating_sub(back);
        if start == 0 || back == FURTHEST || has_line_feed(file, start, looked_at)? {
            return Ok(start);
        }
        looked_at = start;
        back = (back * 2).min(FURTHEST);
    }
}

fn has_line_feed(file: &File, mut start: u64, end: u64) -> io::Result<bool> {
    while start < end {
        let step = (end - start).min(STEP);
        // At most a step, which fits.
        let at_most = u32::try_from(step).unwrap_or(u32::MAX);
        if read(file, start, at_most, end)?.contains(&b'\n') {
            return Ok(true);
        }
        start += step;
    }
    Ok(false)
}

/// So many bytes from there, up to this end; fewer if the file has become shorter.
pub(super) fn read(file: &File, start: u64, at_most: u32, end: u64) -> io::Result<Vec<u8>> {
    let asked = u64::from(at_most.min(MOST)).min(end.saturating_sub(start));
    let mut bytes = vec![0; usize::try_from(asked).unwrap_or(usize::MAX)];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match system::read_at(file, rest, start + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}
