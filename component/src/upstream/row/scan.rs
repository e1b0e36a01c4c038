//! Passing through a line of JSON (RFC 8259) without building anything of it. What is not asked for
//! is checked and passed over, however large it is and however deep it lies.
//!
//! Strict, but for strings: bytes that are not UTF-8, and halves of surrogate pairs, stand for
//! U+FFFD. A damaged character makes no row unreadable.

use alloc::vec::Vec;

/// Takes in a string piece by piece.
pub(super) trait Sink {
    /// A piece of it. Asked for once a piece, and not once a character, because strings may be large.
    fn push_str(&mut self, piece: &str);

    /// Bytes of it that may not be UTF-8.
    fn push_bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            self.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                self.push_str("\u{fffd}");
            }
        }
    }
}

/// For strings that nobody wants.
pub(super) struct Nowhere;

impl Sink for Nowhere {
    fn push_str(&mut self, _: &str) {}
    fn push_bytes(&mut self, _: &[u8]) {}
}

/// The first bytes of a string, as many as have room.
#[derive(Clone, Copy)]
pub(super) struct Beginning<const ROOM: usize> {
    bytes: [u8; ROOM],
    filled: usize,
    /// Whether more followed.
    is_cut: bool,
}

impl<const ROOM: usize> Beginning<ROOM> {
    pub(super) const EMPTY: Self = Self { bytes: [0; ROOM], filled: 0, is_cut: false };

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }

    /// Whether this is the whole string.
    #[inline(never)]
    pub(super) fn is(&self, word: &str) -> bool {
        !self.is_cut && self.bytes() == word.as_bytes()
    }

    /// The whole string; none if it had more than there is room.
    pub(super) fn whole(&self) -> Option<&[u8]> {
        (!self.is_cut).then(|| self.bytes())
    }
}

impl<const ROOM: usize> Sink for Beginning<ROOM> {
    fn push_str(&mut self, piece: &str) {
        for byte in piece.bytes() {
            let Some(room) = self.bytes.get_mut(self.filled) else {
                self.is_cut = true;
                return;
            };
            *room = byte;
            self.filled += 1;
        }
    }
}

/// A member's name, or a value that is a word: longer than any that means something.
pub(super) type Word = Beginning<48>;

/// Stands in a line; everything before was read. Each function passes what it says, after white
/// space, or answers none because the line is not JSON.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(line: &'a [u8]) -> Self {
        Self { line, at: 0 }
    }

    /// The byte that comes next, white space passed.
    #[inline(never)]
    pub(super) fn next(&mut self) -> Option<u8> {
        loop {
            let byte = self.peek()?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    /// Passes this byte if it comes next, white space passed.
    #[inline(never)]
    fn passes(&mut self, byte: u8) -> bool {
        let passes = self.next() == Some(byte);
        self.at += usize::from(passes);
        passes
    }

    /// Passes the start of an object or list, if one comes next.
    pub(super) fn opens(&mut self, bracket: u8) -> bool {
        self.passes(bracket)
    }

    /// Passes to the next member of an object: whether there is one, its name read and its value being
    /// next, or the end was passed. `is_first`: none was passed before.
    pub(super) fn member(&mut self, is_first: &mut bool, name: &mut Word) -> Option<bool> {
        let there = self.another(b'}', is_first)?;
        if there {
            *name = Word::EMPTY;
            self.name(name)?;
        }
        Some(there)
    }

    /// Passes to the next element of a list or object: whether there is one, or the end was passed.
    pub(super) fn another(&mut self, end: u8, is_first: &mut bool) -> Option<bool> {
        if self.passes(end) {
            return Some(false);
        }
        if !*is_first && !self.passes(b',') {
            return None;
        }
        *is_first = false;
        Some(true)
    }

    fn name(&mut self, sink: &mut dyn Sink) -> Option<()> {
        if self.next()? != b'"' {
            return None;
        }
        self.string(sink)?;
        self.passes(b':').then_some(())
    }

    /// Passes one value of any kind. Iterative, so that no nesting ends the stack.
    pub(super) fn skip(&mut self) -> Option<()> {
        let mut open = Nesting::default();
        loop {
            match self.next()? {
                b'{' => {
                    self.at += 1;
                    if !self.passes(b'}') {
                        open.push(true);
                        self.name(&mut Nowhere)?;
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    if !self.passes(b']') {
                        open.push(false);
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            // A value ended, and with it all that it was the last of.
            loop {
                let Some(in_object) = open.top() else { return Some(()) };
                if self.passes(b',') {
                    if in_object {
                        self.name(&mut Nowhere)?;
                    }
                    break;
                }
                if !self.passes(if in_object { b'}' } else { b']' }) {
                    return None;
                }
                open.pop();
            }
        }
    }

    fn scalar(&mut self) -> Option<()> {
        match self.next()? {
            b'"' => self.string(&mut Nowhere),
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            _ => self.number(),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Option<()> {
        self.line.get(self.at..)?.starts_with(word).then(|| self.at += word.len())
    }

    fn number(&mut self) -> Option<()> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        Some(())
    }

    /// Passes this byte if it comes next, without any white space.
    #[inline(never)]
    fn take(&mut self, byte: u8) -> bool {
        let takes = self.peek() == Some(byte);
        self.at += usize::from(takes);
        takes
    }

    /// At least one digit.
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > start).then_some(())
    }

    /// Passes a string, its quote being next.
    pub(super) fn string(&mut self, sink: &mut dyn Sink) -> Option<()> {
        self.at += 1;
        loop {
            let start = self.at;
            while !matches!(self.peek()?, b'"' | b'\\' | 0..=0x1f) {
                self.at += 1;
            }
            sink.push_bytes(self.line.get(start..self.at)?);
            let end = self.peek()?;
            self.at += 1;
            match end {
                b'"' => return Some(()),
                b'\\' => self.escape(sink)?,
                _ => return None,
            }
        }
    }

    /// Passes an escape, its backslash being passed.
    fn escape(&mut self, sink: &mut dyn Sink) -> Option<()> {
        let byte = self.peek()?;
        self.at += 1;
        let c = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => self.unicode()?,
            _ => return None,
        };
        sink.push_str(c.encode_utf8(&mut [0; 4]));
        Some(())
    }

    /// One UTF-16 unit, or two that are a pair. Half a pair stands alone: what follows it is a
    /// character of its own.
    fn unicode(&mut self) -> Option<char> {
        let unit = self.hex()?;
        if !(0xd800..0xdc00).contains(&unit) {
            return Some(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        let behind = self.at;
        if self.take(b'\\') && self.take(b'u') {
            let low = self.hex()?;
            if (0xdc00..0xe000).contains(&low) {
                return char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
            }
        }
        self.at = behind;
        Some(char::REPLACEMENT_CHARACTER)
    }

    /// Four hexadecimal digits.
    fn hex(&mut self) -> Option<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit * 16 + char::from(self.peek()?).to_digit(16)?;
            self.at += 1;
        }
        Some(unit)
    }
}

/// Which brackets are open, one bit each: set for an object. A line has room for many millions.
#[derive(Default)]
struct Nesting {
    bits: Vec<u8>,
    depth: usize,
}

impl Nesting {
    fn push(&mut self, is_object: bool) {
        let (byte, bit) = (self.depth / 8, self.depth % 8);
        if bit == 0 {
            self.bits.push(0);
        }
        if let Some(bits) = self.bits.get_mut(byte) {
            *bits |= u8::from(is_object) << bit;
        }
        self.depth += 1;
    }

    /// Whether the innermost is an object; none if none is open.
    fn top(&self) -> Option<bool> {
        let last = self.depth.checked_sub(1)?;
        Some(self.bits.get(last / 8)? >> (last % 8) & 1 == 1)
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        let (byte, bit) = (self.depth / 8, self.depth % 8);
        if let Some(bits) = self.bits.get_mut(byte) {
            *bits &= !(1 << bit);
        }
        self.bits.truncate(self.depth.div_ceil(8));
    }
}
