//! Keys and identity: what a session, a watcher and an actor are called (protocol, section 2).

use alloc::string::{String, ToString};

use crate::contract::{InvalidInput, InvalidReason, Session, SessionRef};
use crate::refusal::{refuse, within};
use crate::text::{self, cut, trim};

/// The longest canonical key, in bytes.
pub const MAX_KEY_BYTES: usize = 512;
/// The longest agent id, in bytes.
pub const MAX_AGENT_BYTES: usize = 64;
/// The longest id other than a key or an agent id, in bytes.
pub const MAX_ID_BYTES: usize = 256;
/// The longest name (channel, catalog), in characters.
pub const MAX_NAME_CHARS: usize = 64;

/// A canonical key: trimmed, without empty parts, ASCII letters lower case, opaque peer ids as
/// they were. Making it canonical again changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    text: String,
    /// How many bytes of `text` after `agent:` are the agent id; `None` for a bare key.
    agent_bytes: Option<usize>,
}

const QUALIFIER: &str = "agent:";

impl Key {
    /// Checks a key and makes it canonical.
    ///
    /// # Errors
    /// `invalid-key` if it is empty, has a forbidden character, or its first part is `agent`
    /// without being `agent:<agent-id>:<rest>`; `too-long` beyond [`MAX_KEY_BYTES`].
    pub fn parse(field: &str, given: &str) -> Result<Self, InvalidInput> {
        if is_plain(given) {
            return Self::of_canonical(field, given.to_string());
        }
        let trimmed = trim(given);
        if text::has(trimmed, is_forbidden) {
            return Err(refuse(
                InvalidReason::InvalidKey,
                field,
                "a key has no control characters and no line or paragraph separators",
            ));
        }
        Self::of_canonical(field, canonical(trimmed))
    }

    fn of_canonical(field: &str, text: String) -> Result<Self, InvalidInput> {
        if text.is_empty() {
            return Err(refuse(
                InvalidReason::InvalidKey,
                field,
                "a key has at least one part; give the session's key",
            ));
        }
        if text.len() > MAX_KEY_BYTES {
            return Err(refuse(InvalidReason::TooLong, field, "a key has at most 512 bytes"));
        }
        let agent_bytes = match agent_id_bytes(&text) {
            Qualification::Qualified(bytes) => Some(bytes),
            Qualification::Bare => None,
            Qualification::Broken => {
                return Err(refuse(
                    InvalidReason::InvalidKey,
                    field,
                    "a key whose first part is `agent` is `agent:<agent-id>:<rest>`, with an agent id of [a-z0-9][a-z0-9_-]{0,63}",
                ));
            }
        };
        Ok(Self { text, agent_bytes })
    }

    /// The canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The canonical text.
    #[must_use]
    pub fn into_string(self) -> String {
        self.text
    }

    /// The agent id of an agent-qualified key.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.text.get(QUALIFIER.len()..QUALIFIER.len() + self.agent_bytes?)
    }

    /// Whether the key is `agent:<agent-id>:<rest>`.
    #[must_use]
    pub fn is_qualified(&self) -> bool {
        self.agent_bytes.is_some()
    }
}

/// The session that a caller names.
///
/// # Errors
/// Those of [`Key::parse`]; `agent-required` for a bare key without an agent id, `agent-mismatch`
/// for an agent id other than the key's, `invalid-agent` for one that is none. Fields are
/// `<field>.key` and `<field>.agent`.
pub fn resolve(field: &str, given: &SessionRef) -> Result<Session, InvalidInput> {
    // The field's path costs memory: it is put together only for an error.
    resolve_parts(given).map_err(|refusal| within(field, &refusal))
}

fn resolve_parts(given: &SessionRef) -> Result<Session, InvalidInput> {
    let key = Key::parse("key", &given.key)?;
    let refused = |reason, what| Err(refuse(reason, "agent", what));
    if let Some(agent) = &given.agent
        && !is_agent_id(agent)
    {
        let what = "an agent id matches [a-z0-9][a-z0-9_-]{0,63}";
        return refused(InvalidReason::InvalidAgent, what);
    }
    let agent = match (key.agent(), &given.agent) {
        (Some(own), Some(other)) if own != other => {
            let what = "the key belongs to another agent; leave the agent id out";
            return refused(InvalidReason::AgentMismatch, what);
        }
        (Some(own), _) => own.to_string(),
        (None, Some(agent)) => agent.clone(),
        (None, None) => {
            let what = "a bare key exists under every agent; give the agent id";
            return refused(InvalidReason::AgentRequired, what);
        }
    };
    Ok(Session { key: key.into_string(), agent })
}

/// An actor's id: canonical if it is agent-qualified, kept as given otherwise.
///
/// # Errors
/// Those of [`id`]; an agent-qualified id may have as many bytes as a key.
pub fn actor_id(field: &str, given: &str) -> Result<String, InvalidInput> {
    match Key::parse(field, given) {
        Ok(key) if key.is_qualified() => Ok(key.into_string()),
        _ => id(field, given),
    }
}

/// A run, operation, session, dedupe or host id, kept as given.
///
/// # Errors
/// `invalid-id` if it is empty, has white space or a forbidden character; `too-long` beyond
/// [`MAX_ID_BYTES`].
pub fn id(field: &str, given: &str) -> Result<String, InvalidInput> {
    if given.is_empty() {
        return Err(refuse(
            InvalidReason::InvalidId,
            field,
            "an id is not empty; leave the field out if there is none",
        ));
    }
    if given.len() > MAX_ID_BYTES {
        return Err(refuse(InvalidReason::TooLong, field, "an id has at most 256 bytes"));
    }
    let visible = given.bytes().all(|byte| byte.is_ascii_graphic());
    if !visible && text::has(given, |c| c.is_whitespace() || is_forbidden(c)) {
        return Err(refuse(
            InvalidReason::InvalidId,
            field,
            "an id has no white space and no control characters",
        ));
    }
    Ok(given.to_string())
}

/// A channel's or catalog's name, trimmed; `None` if nothing is left.
///
/// # Errors
/// `invalid-name` for a forbidden character, `too-long` beyond [`MAX_NAME_CHARS`].
pub fn name<'a>(field: &str, given: &'a str) -> Result<Option<&'a str>, InvalidInput> {
    let name = trim(given);
    let plain = name.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    if !plain && text::has(name, is_forbidden) {
        return Err(refuse(
            InvalidReason::InvalidName,
            field,
            "a name has no control characters and no line or paragraph separators",
        ));
    }
    if name.len() > MAX_NAME_CHARS && text::count(name) > MAX_NAME_CHARS {
        return Err(refuse(InvalidReason::TooLong, field, "a name has at most 64 characters"));
    }
    Ok((!name.is_empty()).then_some(name))
}

/// Whether a watcher is *nested*: the rest of its key starts with `subagent:`. Nested watchers
/// are never woken.
#[must_use]
pub fn is_nested(watcher: &str) -> bool {
    watcher
        .strip_prefix(QUALIFIER)
        .and_then(|rest| cut(rest, b':'))
        .is_some_and(|(_, rest)| rest.starts_with("subagent:"))
}

/// Characters that would let a name or key break a line or hide: controls (U+0085 among them) and
/// the Unicode line and paragraph separators.
#[must_use]
pub fn is_forbidden(c: char) -> bool {
    c.is_control() || c == '\u{2028}' || c == '\u{2029}'
}

/// Whether a key is canonical as it is, whatever its structure: visible ASCII without capitals and
/// without empty parts. Nearly every key is, and needs no second look.
fn is_plain(key: &str) -> bool {
    let mut last = b':';
    for byte in key.bytes() {
        let plain = byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
        if !plain || (byte == b':' && last == b':') {
            return false;
        }
        last = byte;
    }
    last != b':'
}

fn is_agent_id(text: &str) -> bool {
    let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let (Some(&first), true) = (text.as_bytes().first(), text.len() <= MAX_AGENT_BYTES) else {
        return false;
    };
    word(first) && text.bytes().all(|b| word(b) || b == b'_' || b == b'-')
}

enum Qualification {
    /// Agent-qualified, with an agent id of so many bytes.
    Qualified(usize),
    Bare,
    /// Starts with `agent` and is not agent-qualified.
    Broken,
}

fn agent_id_bytes(key: &str) -> Qualification {
    let Some(rest) = key.strip_prefix(QUALIFIER) else {
        return if key == "agent" { Qualification::Broken } else { Qualification::Bare };
    };
    let id_bytes = rest.bytes().take_while(|byte| *byte != b':').count();
    match rest.get(..id_bytes) {
        Some(id) if is_agent_id(id) && id_bytes + 1 < rest.len() => {
            Qualification::Qualified(id_bytes)
        }
        _ => Qualification::Broken,
    }
}

/// Drops empty parts and lowers ASCII letters, except in opaque peer ids: everything after
/// `agent:<id>:matrix:(channel|group):`, and the one segment after `:signal:group:`. White space
/// that only dropped parts separate from an end of the key is outer white space too: else a
/// canonical key would not stay what it is.
fn canonical(trimmed: &str) -> String {
    let mut key = String::with_capacity(trimmed.len());
    let mut place = Place::Structure;
    let mut rest = Some(trimmed);
    while let Some(remaining) = rest {
        if !remaining.is_empty() && is_matrix_room(&key) {
            push_part(&mut key, "");
            push_matrix_id(&mut key, remaining);
            return key;
        }
        let (part, next) = match cut(remaining, b':') {
            Some((part, next)) => (part, Some(next)),
            None => (remaining, None),
        };
        rest = next;
        let first = key.is_empty();
        let part = if first { part.trim_start() } else { part };
        if matches!(place, Place::SignalId) {
            push_part(&mut key, part);
            place = Place::Structure;
        } else if !part.is_empty() {
            push_part(&mut key, part);
            let start = key.len() - part.len();
            if let Some(part) = key.get_mut(start..) {
                part.make_ascii_lowercase();
                place = place.after(part, first);
            }
        }
    }
    while key.chars().next_back().is_some_and(|c| c == ':' || c.is_whitespace()) {
        key.pop();
    }
    key
}

/// Where in a key a part stands: a Signal group's id follows `:signal:group:`.
enum Place {
    Structure,
    SignalGroup,
    SignalId,
}

impl Place {
    fn after(&self, part: &str, first: bool) -> Self {
        match (self, part) {
            (_, "signal") if !first => Self::SignalGroup,
            (Self::SignalGroup, "group") => Self::SignalId,
            _ => Self::Structure,
        }
    }
}

fn push_part(key: &mut String, part: &str) {
    if !key.is_empty() {
        key.push(':');
    }
    key.push_str(part);
}

/// Whether the key so far is `agent:<id>:matrix:channel` or `…:group`.
fn is_matrix_room(key: &str) -> bool {
    let room = key.strip_prefix(QUALIFIER).and_then(|rest| cut(rest, b':'));
    matches!(room, Some((_, "matrix:channel" | "matrix:group")))
}

/// A Matrix room id, and perhaps `:thread:` and an event id: only the marker is structure.
fn push_matrix_id(key: &mut String, opaque: &str) {
    const MARKER: &str = ":thread:";
    let start = key.len();
    key.push_str(opaque);
    let is_marker = |at: &usize| {
        let here = opaque.as_bytes().get(*at..*at + MARKER.len());
        here.is_some_and(|here| here.eq_ignore_ascii_case(MARKER.as_bytes()))
    };
    if let Some(at) = (0..opaque.len()).rev().find(is_marker)
        && let Some(marker) = key.get_mut(start + at..start + at + MARKER.len())
    {
        marker.make_ascii_lowercase();
    }
}

#[cfg(test)]
mod tests;
