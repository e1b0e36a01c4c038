//! Writing JSON: one line of text, members in the order in which they are written.

use alloc::string::String;
use core::fmt::Write;

/// A JSON object as text.
pub fn object(build: impl FnOnce(&mut Object<'_>)) -> String {
    let mut out = String::new();
    push_object(&mut out, build);
    out
}

/// Appends a JSON object.
pub fn push_object(out: &mut String, build: impl FnOnce(&mut Object<'_>)) {
    out.push('{');
    build(&mut Object { out, empty: true });
    out.push('}');
}

/// Appends a JSON string. Line separators and control characters are escaped beyond what JSON
/// asks for, so that whatever splits lines sees one.
pub fn push_text(out: &mut String, text: &str) {
    out.push('"');
    let mut plain_from = 0;
    for (at, c) in text.char_indices() {
        let escaped = matches!(c, '"' | '\\' | '\u{2028}' | '\u{2029}') || c.is_control();
        if escaped {
            out.push_str(&text[plain_from..at]);
            push_escape(out, c);
            plain_from = at + c.len_utf8();
        }
    }
    out.push_str(&text[plain_from..]);
    out.push('"');
}

fn push_escape(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        other => {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(other));
        }
    }
}

/// An object being written.
pub struct Object<'a> {
    out: &'a mut String,
    empty: bool,
}

impl Object<'_> {
    /// A member that holds a string.
    pub fn text(&mut self, name: &str, value: &str) {
        push_text(self.member(name), value);
    }

    /// A member that holds a string, if there is one.
    pub fn text_if(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    /// A member that holds an integer.
    pub fn number(&mut self, name: &str, value: impl Into<u64>) {
        let value: u64 = value.into();
        // Writing to a string cannot fail.
        let _ = write!(self.member(name), "{value}");
    }

    /// A member that holds `true` or `false`.
    pub fn flag(&mut self, name: &str, value: bool) {
        self.member(name).push_str(if value { "true" } else { "false" });
    }

    /// A member whose value is JSON text already.
    pub fn json(&mut self, name: &str, value: &str) {
        self.member(name).push_str(value);
    }

    /// A member that holds an object.
    pub fn object(&mut self, name: &str, build: impl FnOnce(&mut Object<'_>)) {
        push_object(self.member(name), build);
    }

    /// A member that holds an array; `push` appends one element.
    pub fn list<T>(
        &mut self,
        name: &str,
        elements: impl IntoIterator<Item = T>,
        mut push: impl FnMut(&mut String, T),
    ) {
        let out = self.member(name);
        out.push('[');
        for (at, element) in elements.into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            push(out, element);
        }
        out.push(']');
    }

    /// Starts a member. Names are the surface's own and need no escape.
    fn member(&mut self, name: &str) -> &mut String {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\":");
        self.out
    }
}
