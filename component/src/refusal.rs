//! Refusing bad input: how every check of the logic builds its error.

use alloc::string::{String, ToString};

use crate::contract::{Error, InvalidInput, InvalidReason, StorageFailure, StorageFault};
use crate::text::joined;

/// The largest sequence, version or timestamp: every language holds it exactly.
pub const MAX_INTEGER: u64 = (1 << 53) - 1;

/// A refusal of `field`. The message starts with the field and says what to do.
#[must_use]
pub fn refuse(reason: InvalidReason, field: &str, what: &str) -> InvalidInput {
    InvalidInput { reason, field: field.to_string(), message: joined(&[field, ": ", what]) }
}

/// Says which words are allowed.
#[must_use]
pub fn listed(what: &str, words: &[&[&str]]) -> String {
    let mut text = what.to_string();
    let mut separator = " ";
    for words in words {
        for word in *words {
            text.push_str(separator);
            text.push_str(word);
            separator = ", ";
        }
    }
    text
}

/// The same refusal with the field seen from outside: `session.key` becomes
/// `signals[3].session.key`.
#[must_use]
pub fn within(prefix: &str, refusal: &InvalidInput) -> InvalidInput {
    InvalidInput {
        reason: refusal.reason,
        field: joined(&[prefix, ".", &refusal.field]),
        message: joined(&[prefix, ".", &refusal.message]),
    }
}

impl From<InvalidInput> for Error {
    fn from(refusal: InvalidInput) -> Self {
        Self::Invalid(refusal)
    }
}

impl From<StorageFailure> for Error {
    fn from(failure: StorageFailure) -> Self {
        Self::Storage(failure)
    }
}

/// A row that breaks the protocol: it is reported, never served.
#[must_use]
#[inline(never)]
pub fn corrupt(what: &str) -> StorageFailure {
    StorageFailure {
        fault: StorageFault::Corrupt,
        message: joined(&[what, "; run `headsup doctor` on the store"]),
    }
}
