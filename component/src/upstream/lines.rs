//! Bytes of a file as whole lines. A line ends at byte 0x0A and nowhere else: what other standards
//! call a line break (U+2028, U+0085, a lone carriage return) is text.

/// What some editors put at a file's start: U+FEFF as UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A line of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The byte at which it begins, from 0.
    pub start: usize,
    /// The byte after it, its line feed included.
    pub end: usize,
    /// What it says: without its line feed, one carriage return before that, and the byte order
    /// mark of a file.
    pub text: &'a [u8],
}

impl Line<'_> {
    /// Whether it has nothing but white space, as JSON understands it.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'))
    }
}

/// The whole lines of some bytes, in order. What stands behind the last line feed is none: it may go
/// on.
pub struct Lines<'a> {
    bytes: &'a [u8],
    /// Where the next line begins.
    at: usize,
    at_file_start: bool,
}

impl<'a> Lines<'a> {
    /// Lines of bytes that begin where a line does: the first one of a file, or another.
    #[must_use]
    pub fn new(bytes: &'a [u8], at_file_start: bool) -> Self {
        Self { bytes, at: 0, at_file_start }
    }

    /// Takes what stands behind the whole lines, once they are through: nothing, or a line that has no
    /// line feed yet.
    pub fn rest(&mut self) -> Option<Line<'a>> {
        let end = self.bytes.len();
        let rest = (self.at < end).then(|| self.line(end, end));
        self.at = end;
        rest
    }

    /// The line from here to `end`, its text ending at `text_end`.
    fn line(&self, text_end: usize, end: usize) -> Line<'a> {
        let mut text = self.bytes.get(self.at..text_end).unwrap_or_default();
        if self.at_file_start && self.at == 0 {
            text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        }
        text = text.strip_suffix(b"\r").unwrap_or(text);
        Line { start: self.at, end, text }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let ahead = self.bytes.get(self.at..)?;
        let feed = self.at + ahead.iter().position(|byte| *byte == b'\n')?;
        let line = self.line(feed, feed + 1);
        self.at = line.end;
        Some(line)
    }
}

#[cfg(test)]
mod tests;
