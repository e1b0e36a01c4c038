//! The words of refusals and of storage faults, stable in every answer. The host compiles this very
//! file too, for its typed errors: both sides say the same because it stands once.

use crate::contract::{InvalidReason, StorageFault};

/// The name of a refusal on the wire, which is its name in the contract.
pub(crate) fn invalid_word(reason: InvalidReason) -> &'static str {
    match reason {
        InvalidReason::InvalidKey => "invalid-key",
        InvalidReason::AgentRequired => "agent-required",
        InvalidReason::AgentMismatch => "agent-mismatch",
        InvalidReason::InvalidAgent => "invalid-agent",
        InvalidReason::InvalidId => "invalid-id",
        InvalidReason::InvalidName => "invalid-name",
        InvalidReason::InvalidVersion => "invalid-version",
        InvalidReason::TooLong => "too-long",
        InvalidReason::TooMany => "too-many",
        InvalidReason::OutOfRange => "out-of-range",
        InvalidReason::MissingField => "missing-field",
        InvalidReason::UnknownField => "unknown-field",
        InvalidReason::UnknownKind => "unknown-kind",
        InvalidReason::UnknownValue => "unknown-value",
        InvalidReason::WrongType => "wrong-type",
        InvalidReason::WrongActor => "wrong-actor",
        InvalidReason::InvalidTemplate => "invalid-template",
        InvalidReason::InvalidPath => "invalid-path",
        InvalidReason::SourceMissing => "source-missing",
        InvalidReason::SourceUnavailable => "source-unavailable",
        InvalidReason::SourceRefused => "source-refused",
    }
}

/// The name of a storage fault on the wire.
pub(crate) fn storage_word(fault: StorageFault) -> &'static str {
    match fault {
        StorageFault::Busy => "store-busy",
        StorageFault::Full => "store-full",
        StorageFault::Corrupt => "store-corrupt",
        StorageFault::ReadOnly => "store-read-only",
        StorageFault::TooNew => "store-too-new",
        StorageFault::ForeignSchema => "foreign-schema",
        StorageFault::Failed => "store-failed",
    }
}
