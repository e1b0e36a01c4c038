//! An input as lines, whatever comes in and however long it is.

use std::io::{self, BufRead, ErrorKind};

/// One line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Without its end.
    Whole(&'a [u8]),
    /// It had more bytes than the limit, and is gone.
    TooLong,
}

/// Splits an input into lines, of which it keeps at most one, and of that no more than the limit.
pub(super) struct Lines<R> {
    input: R,
    limit: usize,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Lines of this input, of at most so many bytes each.
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self { input, limit, line: Vec::new() }
    }

    /// The next line; nothing at the end of the input.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let mut too_long = false;
        let mut begun = false;
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                break;
            }
            begun = true;
            let end = available.iter().position(|byte| *byte == b'\n');
            let piece = &available[..end.unwrap_or(available.len())];
            // One more for a `\r` that does not count.
            if too_long || self.line.len() + piece.len() > self.limit + 1 {
                too_long = true;
            } else {
                self.line.extend_from_slice(piece);
            }
            let consumed = piece.len() + usize::from(end.is_some());
            self.input.consume(consumed);
            if end.is_some() {
                break;
            }
        }
        if !begun {
            return Ok(None);
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        if too_long || self.line.len() > self.limit {
            // A long line must not hold its memory for ever.
            self.line = Vec::new();
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(&self.line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an input is split into; `None` stands for a line that is too long.
    fn lines(input: &[u8], limit: usize) -> Vec<Option<Vec<u8>>> {
        // One byte at a time: a line must not depend on how it arrives.
        let mut lines = Lines::new(io::BufReader::with_capacity(1, input), limit);
        let mut all = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            all.push(match line {
                Line::Whole(line) => Some(line.to_vec()),
                Line::TooLong => None,
            });
        }
        all
    }

    #[test]
    fn a_line_ends_with_a_newline_a_carriage_return_or_the_input() {
        let found = lines(b"a\r\n\nb\rc\nd", 10);
        let expected: [&[u8]; 4] = [b"a", b"", b"b\rc", b"d"];
        assert_eq!(found, expected.map(|line| Some(line.to_vec())));
        assert_eq!(lines(b"", 10), []);
    }

    #[test]
    fn a_line_at_the_limit_is_whole_and_one_byte_more_is_too_long() {
        assert_eq!(
            lines(b"1234\n12345\n1234\r\n12345\r\nx", 4),
            [Some(b"1234".to_vec()), None, Some(b"1234".to_vec()), None, Some(b"x".to_vec()),]
        );
    }
}
