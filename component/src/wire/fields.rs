//! The strict reader of an object's fields: every value has exactly the type it must have, null
//! is no value, and no field is passed over.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::fault::Fault;
use super::place::Place;
use crate::contract::{InvalidReason, SessionRef};
use crate::json::{Members, Value};
use crate::refusal::{self, MAX_INTEGER, listed};
use crate::text::{joined, parse};

/// What a reading of fields answers.
pub type Read<T> = Result<T, Box<Fault>>;

/// The longest name of an unknown field that an error repeats, in bytes.
const LONGEST_SHOWN_NAME: usize = 64;

/// The fields of one object.
pub struct Fields<'a> {
    place: &'a Place<'a>,
    members: &'a Members<'a>,
}

impl<'a> Fields<'a> {
    /// These fields, of the object here.
    pub const fn new(members: &'a Members<'a>, place: &'a Place<'a>) -> Self {
        Self { place, members }
    }

    /// The fields of the object here.
    pub fn of(value: &'a Value<'a>, place: &'a Place<'a>) -> Read<Self> {
        match value {
            Value::Object(members) => Ok(Self::new(members, place)),
            _ => Err(wrong_type(place, "an object")),
        }
    }

    /// Refuses every field that is not among these.
    pub fn only(&self, known: &[&[&str]]) -> Read<()> {
        let Some(unknown) = self.members.names().find(|name| !is_among(name, known)) else {
            return Ok(());
        };
        let what = if known.iter().all(|names| names.is_empty()) {
            "there are no fields here; remove it".to_string()
        } else {
            listed("unknown field; the fields here are", known)
        };
        // A name that could be content is not repeated.
        let shown = (1..=LONGEST_SHOWN_NAME).contains(&unknown.len())
            && unknown.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        let place = if shown { self.place_of(unknown) } else { *self.place };
        Err(refuse(InvalidReason::UnknownField, &place, &what))
    }

    /// The place of a field, for reading what it holds.
    pub fn place_of(&self, name: &'a str) -> Place<'a> {
        self.place.member(name)
    }

    /// Whether the field is there.
    pub fn has(&self, name: &str) -> bool {
        self.members.get(name).is_some()
    }

    /// A field's value, if it is there.
    pub fn value_if(&self, name: &str) -> Option<&'a Value<'a>> {
        self.members.get(name)
    }

    /// A field's value.
    pub fn value(&self, name: &str) -> Read<&'a Value<'a>> {
        self.value_if(name).ok_or_else(|| {
            let place = self.place_of(name);
            refuse(InvalidReason::MissingField, &place, "needed and not there")
        })
    }

    /// A text.
    pub fn text(&self, name: &str) -> Read<&'a str> {
        text_at(self.value(name)?, &self.place_of(name))
    }

    /// A text of its own.
    #[inline(never)]
    pub fn owned(&self, name: &str) -> Read<String> {
        self.text(name).map(ToString::to_string)
    }

    /// An optional text of its own.
    #[inline(never)]
    pub fn owned_if(&self, name: &str) -> Read<Option<String>> {
        self.has(name).then(|| self.owned(name)).transpose()
    }

    /// `true` or `false`.
    pub fn flag(&self, name: &str) -> Read<bool> {
        self.value(name)?;
        Ok(self.flag_if(name)?.unwrap_or(false))
    }

    /// An optional `true` or `false`.
    pub fn flag_if(&self, name: &str) -> Read<Option<bool>> {
        self.optional(name, |value, place| match value {
            Value::Bool(flag) => Ok(*flag),
            _ => Err(wrong_type(place, "true or false")),
        })
    }

    /// A version or sequence: an integer from 0 to 2^53 - 1.
    pub fn version(&self, name: &str) -> Read<u64> {
        version_at(self.value(name)?, &self.place_of(name))
    }

    /// An optional version.
    pub fn version_if(&self, name: &str) -> Read<Option<u64>> {
        self.optional(name, version_at)
    }

    /// An optional integer that fits 32 bits; the logic knows its bounds.
    pub fn small_if(&self, name: &str) -> Read<Option<u32>> {
        self.optional(name, |value, place| {
            integer_at(value, place)?
                .and_then(|integer| u32::try_from(integer).ok())
                .ok_or_else(|| out_of_range(place, "an integer from 0 to 4294967295"))
        })
    }

    /// An optional time in ms since the epoch, before it too.
    pub fn time_if(&self, name: &str) -> Read<Option<i64>> {
        self.optional(name, |value, place| {
            integer_at(value, place)?
                .ok_or_else(|| out_of_range(place, "an integer that fits 64 bits"))
        })
    }

    /// A time in ms since the epoch that a clock can show: from 0 to 2^53 - 1.
    pub fn clock_time(&self, name: &str) -> Read<u64> {
        let place = self.place_of(name);
        integer_at(self.value(name)?, &place)?
            .and_then(|integer| u64::try_from(integer).ok())
            .filter(|time| *time <= MAX_INTEGER)
            .ok_or_else(|| out_of_range(&place, "an integer from 0 to 9007199254740991"))
    }

    /// A session: its key, or an object of key and agent.
    pub fn session(&self, name: &str) -> Read<SessionRef> {
        session_at(self.value(name)?, &self.place_of(name))
    }

    /// A list, each element read by `read`.
    pub fn list<T>(
        &self,
        name: &str,
        read: impl Fn(&Value<'_>, &Place<'_>) -> Read<T>,
    ) -> Read<Vec<T>> {
        let mut all = Vec::new();
        self.each(name, &mut |element, place| {
            all.push(read(element, place)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// Passes each element of a list. Not generic: there are lists of many types.
    #[inline(never)]
    fn each(
        &self,
        name: &str,
        pass: &mut dyn FnMut(&Value<'_>, &Place<'_>) -> Read<()>,
    ) -> Read<()> {
        let place = self.place_of(name);
        let Value::List(elements) = self.value(name)? else {
            return Err(wrong_type(&place, "a list"));
        };
        for (at, element) in elements.iter().enumerate() {
            pass(element, &place.element(at))?;
        }
        Ok(())
    }

    /// One of these values, by its word in the same place.
    pub fn word<T: Copy>(&self, name: &str, values: &[T], words: &[&str]) -> Read<T> {
        let value = values.get(self.word_at(name, words)?);
        value.copied().ok_or_else(|| self.no_word(name, words))
    }

    /// Which of these words it is.
    #[inline(never)]
    fn word_at(&self, name: &str, words: &[&str]) -> Read<usize> {
        let given = self.text(name)?;
        let at = words.iter().position(|word| *word == given);
        at.ok_or_else(|| self.no_word(name, words))
    }

    fn no_word(&self, name: &str, words: &[&str]) -> Box<Fault> {
        no_word(InvalidReason::UnknownValue, &self.place_of(name), words)
    }

    fn optional<T>(
        &self,
        name: &str,
        read: impl Fn(&'a Value<'a>, &Place<'_>) -> Read<T>,
    ) -> Read<Option<T>> {
        self.value_if(name).map(|value| read(value, &self.place_of(name))).transpose()
    }
}

fn is_among(name: &str, lists: &[&[&str]]) -> bool {
    for names in lists {
        for known in *names {
            if *known == name {
                return true;
            }
        }
    }
    false
}

/// A text.
pub fn text_at<'v>(value: &'v Value<'_>, place: &Place<'_>) -> Read<&'v str> {
    value.as_text().ok_or_else(|| wrong_type(place, "a text"))
}

/// A session: its key, or an object of key and agent.
pub fn session_at(value: &Value<'_>, place: &Place<'_>) -> Read<SessionRef> {
    match value {
        Value::Text(key) => Ok(SessionRef { key: key.to_string(), agent: None }),
        Value::Object(_) => {
            let fields = Fields::of(value, place)?;
            fields.only(&[&["key", "agent"]])?;
            Ok(SessionRef { key: fields.owned("key")?, agent: fields.owned_if("agent")? })
        }
        _ => Err(wrong_type(place, "a session's key, or an object of key and agent")),
    }
}

/// Refuses what stands at a place.
pub fn refuse(reason: InvalidReason, place: &Place<'_>, what: &str) -> Box<Fault> {
    refusal::refuse(reason, &place.path(), what).into()
}

/// Refuses what stands at a place, because it is none of these words.
pub fn no_word(reason: InvalidReason, place: &Place<'_>, words: &[&str]) -> Box<Fault> {
    refuse(reason, place, &listed("must be one of", &[words]))
}

fn version_at(value: &Value<'_>, place: &Place<'_>) -> Read<u64> {
    value.as_u64().filter(|version| *version <= MAX_INTEGER).ok_or_else(|| {
        refuse(
            InvalidReason::InvalidVersion,
            place,
            "a version is a JSON integer from 0 to 9007199254740991",
        )
    })
}

/// An integer; `None` for one that does not fit 64 bits with its sign.
fn integer_at(value: &Value<'_>, place: &Place<'_>) -> Read<Option<i64>> {
    match value.as_integer() {
        Some(integer) => Ok(signed(integer)),
        None => Err(wrong_type(place, "an integer")),
    }
}

fn signed(integer: &str) -> Option<i64> {
    match integer.strip_prefix('-') {
        Some(digits) => 0_i64.checked_sub_unsigned(parse(digits)?),
        None => i64::try_from(parse(integer)?).ok(),
    }
}

fn wrong_type(place: &Place<'_>, what: &str) -> Box<Fault> {
    refuse(InvalidReason::WrongType, place, &joined(&["must be ", what]))
}

fn out_of_range(place: &Place<'_>, what: &str) -> Box<Fault> {
    refuse(InvalidReason::OutOfRange, place, &joined(&["must be ", what]))
}
