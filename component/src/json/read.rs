//! Reading JSON text (RFC 8259), which may be anything at all.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter};
use core::mem;

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

impl Display for Malformed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
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
        self.as_integer()?.parse().ok()
    }
}

impl<'a> Members<'a> {
    /// The value of a member; of several with one name, the last counts.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value<'a>> {
        let (_, value) = self.0.iter().rev().find(|(given, _)| given == name)?;
        Some(value)
    }

    /// Removes a member, and returns what [`Members::get`] would have.
    pub fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let mut taken = None;
        self.0.retain_mut(|(given, value)| {
            let stays = given != name;
            if !stays {
                taken = Some(mem::replace(value, Value::Null));
            }
            stays
        });
        taken
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
    let mut reader = Reader { text, at: 0, depth: 0 };
    let value = reader.value()?;
    reader.skip_space();
    if reader.at == text.len() { Ok(value) } else { Err(reader.wrong("more text after the end")) }
}

struct Reader<'a> {
    text: &'a str,
    /// Everything before this byte was read. Always at the start of a character.
    at: usize,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn wrong(&self, what: &'static str) -> Malformed {
        Malformed { what, at: self.at }
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

    fn value(&mut self) -> Result<Value<'a>, Malformed> {
        self.skip_space();
        match self.peek() {
            Some(b'"') => Ok(Value::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => Ok(Value::Number(self.number()?)),
            Some(b'{') => Ok(Value::Object(self.nested(Self::members)?)),
            Some(b'[') => Ok(Value::List(self.nested(Self::elements)?)),
            Some(b't') => self.literal("true", Value::Bool(true)),
            Some(b'f') => self.literal("false", Value::Bool(false)),
            Some(b'n') => self.literal("null", Value::Null),
            Some(_) => Err(self.wrong("no value")),
            None => Err(self.wrong("the text ends early")),
        }
    }

    fn literal(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, Malformed> {
        if self.since(self.at, self.at + word.len()) == word {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.wrong("no value"))
        }
    }

    /// Reads what stands between brackets, the opening one being next.
    fn nested<T>(
        &mut self,
        read: impl Fn(&mut Self) -> Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        if self.depth == MAX_DEPTH {
            return Err(self.wrong("nested more than 127 deep"));
        }
        self.depth += 1;
        self.at += 1;
        let inner = read(self)?;
        self.depth -= 1;
        Ok(inner)
    }

    fn elements(&mut self) -> Result<Vec<Value<'a>>, Malformed> {
        let mut elements = Vec::new();
        self.skip_space();
        if self.passes(b']') {
            return Ok(elements);
        }
        loop {
            elements.push(self.value()?);
            self.skip_space();
            if self.passes(b']') {
                return Ok(elements);
            }
            if !self.passes(b',') {
                return Err(self.wrong("neither a comma nor the end of a list"));
            }
        }
    }

    fn members(&mut self) -> Result<Members<'a>, Malformed> {
        let mut members = Vec::new();
        self.skip_space();
        if self.passes(b'}') {
            return Ok(Members(members));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.wrong("no member name"));
            }
            let name = self.string()?;
            self.skip_space();
            if !self.passes(b':') {
                return Err(self.wrong("no colon after a member name"));
            }
            members.push((name, self.value()?));
            self.skip_space();
            if self.passes(b'}') {
                return Ok(Members(members));
            }
            if !self.passes(b',') {
                return Err(self.wrong("neither a comma nor the end of an object"));
            }
        }
    }

    fn number(&mut self) -> Result<&'a str, Malformed> {
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
        Ok(self.since(start, self.at))
    }

    /// What stands between two bytes; nothing if they are not at the bounds of characters, which
    /// [`Reader`] never asks for. (Indexing would bring the panics of `str` into the guest.)
    fn since(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// At least one digit.
    #[inline(never)]
    fn digits(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return Err(self.wrong("no digit"));
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Malformed> {
        self.at += 1;
        let plain = self.plain()?;
        if self.passes(b'"') {
            return Ok(Cow::Borrowed(plain));
        }
        let mut text = String::from(plain);
        while self.passes(b'\\') {
            text.push(self.escaped()?);
            text.push_str(self.plain()?);
        }
        self.at += 1;
        Ok(Cow::Owned(text))
    }

    /// Characters up to the next quote or backslash.
    fn plain(&mut self) -> Result<&'a str, Malformed> {
        let start = self.at;
        loop {
            match self.peek() {
                Some(b'"' | b'\\') => return Ok(self.since(start, self.at)),
                Some(0..=0x1f) => return Err(self.wrong("a control character in a string")),
                Some(_) => self.at += 1,
                None => return Err(self.wrong("the text ends early")),
            }
        }
    }

    /// The character that an escape stands for, its backslash being passed.
    fn escaped(&mut self) -> Result<char, Malformed> {
        let Some(byte) = self.peek() else {
            return Err(self.wrong("the text ends early"));
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
            _ => return Err(self.wrong("an unknown escape")),
        };
        self.at += 1;
        Ok(c)
    }

    /// One UTF-16 unit, or two that are a pair.
    fn unicode(&mut self) -> Result<char, Malformed> {
        const LONE: &str = "half of a surrogate pair";
        let unit = self.hex()?;
        let code = if (0xd800..0xdc00).contains(&unit) {
            if !(self.passes(b'\\') && self.passes(b'u')) {
                return Err(self.wrong(LONE));
            }
            let low = self.hex()?;
            if !(0xdc00..0xe000).contains(&low) {
                return Err(self.wrong(LONE));
            }
            0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
        } else {
            unit
        };
        char::from_u32(code).ok_or_else(|| self.wrong(LONE))
    }

    /// Four hexadecimal digits.
    fn hex(&mut self) -> Result<u32, Malformed> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.wrong("an escape without four hexadecimal digits"));
            };
            unit = unit * 16 + digit;
            self.at += 1;
        }
        Ok(unit)
    }
}
