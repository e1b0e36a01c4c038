//! Writing JSON: one line of text, members in the order in which they are written.

use alloc::string::String;

use super::read::Value;
use crate::text::{push_digit, push_number};

/// A JSON object as text; `members` writes its members.
#[must_use]
pub fn object(members: impl FnOnce(&mut Writer)) -> String {
    let mut out = Writer::begin();
    members(&mut out);
    out.end()
}

/// Writes JSON from left to right and puts the commas. Whoever opens, closes.
pub struct Writer {
    text: String,
    /// Whether a value was written here, so that the next one needs a comma.
    after_value: bool,
}

impl Writer {
    /// The beginning of a text that is one object, with room for most.
    #[inline(never)]
    fn begin() -> Self {
        let mut out = Self::empty();
        out.open_object();
        out
    }

    fn empty() -> Self {
        Self { text: String::with_capacity(64), after_value: false }
    }

    /// The whole text.
    #[inline(never)]
    fn end(mut self) -> String {
        self.close_object();
        self.text
    }

    /// Starts an object.
    pub fn open_object(&mut self) {
        self.start().push('{');
        self.after_value = false;
    }

    /// Ends an object.
    pub fn close_object(&mut self) {
        self.text.push('}');
        self.after_value = true;
    }

    /// Starts a list.
    pub fn open_list(&mut self) {
        self.start().push('[');
        self.after_value = false;
    }

    /// Ends a list.
    pub fn close_list(&mut self) {
        self.text.push(']');
        self.after_value = true;
    }

    /// Starts a member of an object; its value comes next. Names are our own and need no escape.
    #[inline(never)]
    pub fn name(&mut self, name: &str) -> &mut Self {
        let out = self.start();
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
        self.after_value = false;
        self
    }

    /// A string.
    #[inline(never)]
    pub fn text(&mut self, value: &str) {
        push_text(self.start(), value);
    }

    /// An integer.
    #[inline(never)]
    pub fn number(&mut self, value: u64) {
        push_number(self.start(), value);
    }

    /// `true` or `false`.
    pub fn flag(&mut self, value: bool) {
        self.json(if value { "true" } else { "false" });
    }

    /// A value that was read.
    fn value(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.json("null"),
            Value::Bool(flag) => self.flag(*flag),
            Value::Number(number) => self.json(number),
            Value::Text(text) => self.text(text),
            Value::List(elements) => {
                self.open_list();
                for element in elements {
                    self.value(element);
                }
                self.close_list();
            }
            Value::Object(members) => {
                self.open_object();
                for (name, value) in members.iter() {
                    // Not our own name: it may need escapes.
                    self.text(name);
                    self.text.push(':');
                    self.after_value = false;
                    self.value(value);
                }
                self.close_object();
            }
        }
    }

    /// A value that is JSON text already.
    #[inline(never)]
    pub fn json(&mut self, value: &str) {
        self.start().push_str(value);
    }

    /// Starts a value.
    fn start(&mut self) -> &mut String {
        if self.after_value {
            self.text.push(',');
        }
        self.after_value = true;
        &mut self.text
    }
}

/// A JSON value as text, numbers as they were written.
#[must_use]
pub fn value(value: &Value<'_>) -> String {
    let mut out = Writer::empty();
    out.value(value);
    out.text
}

/// A JSON string.
#[must_use]
pub fn text(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    push_text(&mut out, value);
    out
}

/// Appends a JSON string. Line separators and control characters are escaped beyond what JSON
/// asks for, so that whatever splits lines sees one.
#[inline(never)]
fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        // The first bytes of the characters below: nearly no byte needs a second look.
        if !matches!(byte, 0..=0x1f | b'"' | b'\\' | 0x7f | 0xc2 | 0xe2) {
            continue;
        }
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else { continue };
        if matches!(c, '"' | '\\' | '\u{2028}' | '\u{2029}') || c.is_control() {
            out.push_str(text.get(plain_from..at).unwrap_or_default());
            push_escape(out, c);
            plain_from = at + c.len_utf8();
        }
    }
    out.push_str(text.get(plain_from..).unwrap_or_default());
    out.push('"');
}

#[cold]
#[inline(never)]
fn push_escape(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        other => {
            out.push_str("\\u");
            for place in [12, 8, 4, 0] {
                push_digit(out, u64::from(other) >> place & 15);
            }
        }
    }
}
