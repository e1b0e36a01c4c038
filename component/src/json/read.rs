//! Reading JSON text (RFC 8259), which may be anything at all.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;

use crate::text::{joined, number, parse};

/// How deep lists and objects may lie in one another: far deeper than any request, and far from
/// the end of a guest's stack.
const MAX_DEPTH: u32 = 127;

/// A JSON value. Text without escapes is borrowed from what was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it was written, so that none is too large or loses digits.
    Number(&'a str),
    /// A string.
    Text(Cow<'a, str>),
    /// An array.
    List(Vec<Value<'a>>),
    /// An object.
    Object(Members<'a>),
}

/// The members of an object, in the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

/// Text that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// What is wrong.
    what: &'static str,
    /// The byte at which it is wrong, from 0.
    at: usize,
}

impl Malformed {
    /// What is wrong, and where.
    #[must_use]
    pub fn words(&self) -> String {
        joined(&[self.what, " at byte ", &number(self.at as u64)])
    }
}

impl<'a> Value<'a> {
    /// The text of a string.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An integer as it was written: neither fraction nor exponent.
    #[must_use]
    pub fn as_integer(&self) -> Option<&'a str> {
        match self {
            Self::Number(number) if !number.contains(['.', 'e', 'E']) => Some(number),
            _ => None,
        }
    }

    /// An integer from 0 to 2^64 - 1.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        parse(self.as_integer()?)
    }
}

impl<'a> Members<'a> {
    /// The value of a member; of several with one name, the last counts.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let (_, value) = self.0.iter().rev().find(|(given, _)| given == name)?;
        Some(value)
    }

    /// Takes out what [`Members::get`] would have returned, and leaves null in its place.
    pub fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let (_, value) = self.0.iter_mut().rev().find(|(given, _)| given == name)?;
        Some(mem::replace(value, Value::Null))
    }

    /// The members, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value<'a>)> {
        self.0.iter().map(|(name, value)| (name.as_ref(), value))
    }

    /// The names of the members.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_ref())
    }
}

/// Reads one JSON value, with white space around it.
///
/// # Errors
/// Text that is anything else, or lists and objects more than 127 deep.
pub fn read(text: &str) -> Result<Value<'_>, Malformed> {
    let mut reader = Reader { text, at: 0, depth: 0, wrong: "" };
    reader.document().ok_or(Malformed { what: reader.wrong, at: reader.at })
}

struct Reader<'a> {
    text: &'a str,
    /// Everything before this byte was read. Always at the start of a character.
    at: usize,
    depth: u32,
    /// What is wrong at `at`, once a reading returned `None`.
    wrong: &'static str,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Option<Value<'a>> {
        let value = self.value()?;
        self.skip_space();
        if self.at == self.text.len() { Some(value) } else { self.wrong("more text after the end") }
    }

    /// Nothing, because this is wrong here.
    fn wrong<T>(&mut self, what: &'static str) -> Option<T> {
        self.wrong = what;
        None
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Passes this byte if it comes next.
    fn passes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        if is_next {
            self.at += 1;
        }
        is_next
    }

    fn value(&mut self) -> Option<Value<'a>> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => Some(Value::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Some(Value::Number(self.number()?)),
            Some(b'{') => Some(Value::Object(self.nested(Self::members)?)),
            Some(b'[') => Some(Value::List(self.nested(Self::elements)?)),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            Some(_) => self.wrong("no value"),
            None => self.wrong("the text ends early"),
        }
    }

    fn literal(&mut self, word: &str, value: Value<'a>) -> Option<Value<'a>> {
        if self.since(self.at, self.at + word.len()) == word {
            self.at += word.len();
            Some(value)
        } else {
            self.wrong("no value")
        }
    }

    /// Reads what stands between brackets, the opening one being next.
    fn nested<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth == MAX_DEPTH {
            return self.wrong("nested more than 127 deep");
        }
        self.depth += 1;
        self.at += 1;
        let inner = read(self)?;
        self.depth -= 1;
        Some(inner)
    }

    fn elements(&mut self) -> Option<Vec<Value<'a>>> {
        let mut elements = Vec::new();
        self.skip_space();
        if self.passes(b']') {
            return Some(elements);
        }
        loop {
            elements.push(self.value()?);
            self.skip_space();
            if self.passes(b']') {
                return Some(elements);
            }
            if !self.passes(b',') {
                return self.wrong("neither a comma nor the end of a list");
            }
        }
    }

    fn members(&mut self) -> Option<Members<'a>> {
        let mut members = Vec::new();
        self.skip_space();
        if self.passes(b'}') {
            return Some(Members(members));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return self.wrong("no member name");
            }
            let name = self.string()?;
            self.skip_space();
            if !self.passes(b':') {
                return self.wrong("no colon after a member name");
            }
            members.push((name, self.value()?));
            self.skip_space();
            if self.passes(b'}') {
                return Some(Members(members));
            }
            if !self.passes(b',') {
                return self.wrong("neither a comma nor the end of an object");
            }
        }
    }

    fn number(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.passes(b'-');
        if !self.passes(b'0') {
            self.digits()?;
        }
        if self.passes(b'.') {
            self.digits()?;
        }
        if self.passes(b'e') || self.passes(b'E') {
            if !self.passes(b'+') {
                self.passes(b'-');
            }
            self.digits()?;
        }
        Some(self.since(start, self.at))
    }

    /// What stands between two bytes; nothing if they are not at the bounds of characters, which
    /// [`Reader`] never asks for. (Indexing would bring the panics of `str` into the guest.)
    fn since(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// At least one digit.
    #[inline(never)]
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return self.wrong("no digit");
        }
        Some(())
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.at += 1;
        let plain = self.plain()?;
        if self.passes(b'"') {
            return Some(Cow::Borrowed(plain));
        }
        let mut text = String::from(plain);
        while self.passes(b'\\') {
            text.push(self.escaped()?);
            text.push_str(self.plain()?);
        }
        self.at += 1;
        Some(Cow::Owned(text))
    }

    /// Characters up to the next quote or backslash.
    fn plain(&mut self) -> Option<&'a str> {
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"' | b'\\') => return Some(self.since(start, self.at)),
                Some(0..=0x1f) => return self.wrong("a control character in a string"),
                Some(_) => self.at += 1,
                None => return self.wrong("the text ends early"),
            }
        }
    }

    /// The character that an escape stands for, its backslash being passed.
    fn escaped(&mut self) -> Option<char> {
        let Some(byte) = self.peek() else {
            return self.wrong("the text ends early");
        };
        let c = match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return self.wrong("an unknown escape"),
        };
        self.at += 1;
        Some(c)
    }

    /// One UTF-16 unit, or two that are a pair.
    fn unicode(&mut self) -> Option<char> {
        const LONE: &str = "half of a surrogate pair";
        let unit = self.hex()?;
        let code = if (0xd800..0xdc00).contains(&unit) {
            if !(self.passes(b'\\') && self.passes(b'u')) {
                return self.wrong(LONE);
            }
            let low = self.hex()?;
            if !(0xdc00..0xe000).contains(&low) {
                return self.wrong(LONE);
            }
            0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
        } else {
            unit
        };
        char::from_u32(code).or_else(|| self.wrong(LONE))
    }

    /// Four hexadecimal digits.
    fn hex(&mut self) -> Option<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return self.wrong("an escape without four hexadecimal digits");
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Some(unit)
    }
}
