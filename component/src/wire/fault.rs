//! Errors as JSON-RPC knows them: a code, a stable reason word, and the field that is wrong.

use alloc::boxed::Box;
use alloc::string::String;

use super::reasons::{invalid_word, storage_word};
use crate::contract::{Error, Failure, InvalidInput, StorageFailure};
use crate::json::Writer;
use crate::text::{joined, number};

/// A JSON-RPC error code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// −32700: the text is not JSON, or not UTF-8.
    Parse,
    /// −32600: the JSON is no request, or the request is too long.
    Request,
    /// −32601: there is no such method here, or the host does not offer it as it is set up.
    Method,
    /// −32602: the params are wrong.
    Params,
    /// −32000: the store or the core failed.
    Failed,
}

impl Code {
    const fn number(self) -> &'static str {
        match self {
            Self::Parse => "-32700",
            Self::Request => "-32600",
            Self::Method => "-32601",
            Self::Params => "-32602",
            Self::Failed => "-32000",
        }
    }
}

/// What an error response says. It travels in a box: nearly every function here may hand one on, and
/// a pointer is less to hand on than four fields.
#[derive(Debug)]
pub struct Fault {
    pub code: Code,
    /// Kebab-case, for programs; never changes.
    pub reason: &'static str,
    /// The offending field as the caller wrote it.
    pub field: Option<String>,
    /// For people. Names the field and says what to do; never quotes what a field held.
    pub message: String,
}

impl Fault {
    pub fn new(code: Code, reason: &'static str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { code, reason, field: None, message: message.into() })
    }

    /// The same of an envelope: it is no request.
    pub fn of_envelope(mut self: Box<Self>) -> Box<Self> {
        self.code = Code::Request;
        self
    }

    /// Writes the value of `error` in a response.
    pub fn write(&self, out: &mut Writer) {
        out.open_object();
        out.name("code").json(self.code.number());
        out.name("message").text(&self.message);
        out.name("data").open_object();
        out.name("reason").text(self.reason);
        if let Some(field) = &self.field {
            out.name("field").text(field);
        }
        out.close_object();
        out.close_object();
    }
}

impl From<StorageFailure> for Box<Fault> {
    fn from(failure: StorageFailure) -> Self {
        Fault::new(Code::Failed, storage_word(failure.fault), failure.message)
    }
}

impl From<InvalidInput> for Box<Fault> {
    fn from(refusal: InvalidInput) -> Self {
        Self::new(Fault {
            code: Code::Params,
            reason: invalid_word(refusal.reason),
            field: Some(refusal.field),
            message: refusal.message,
        })
    }
}

impl From<Error> for Box<Fault> {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(refusal) => refusal.into(),
            Error::Storage(failure) => failure.into(),
        }
    }
}

impl From<Failure> for Box<Fault> {
    fn from(failure: Failure) -> Self {
        let (code, reason, before, varying, behind) = match failure {
            Failure::Storage(failure) => return failure.into(),
            Failure::Trap(what) => {
                let before = "the core failed and nothing was changed: ";
                (Code::Failed, "plugin-trap", before, what, "")
            }
            Failure::Timeout(ms) => (
                Code::Failed,
                "plugin-timeout",
                "the core did not answer within ",
                number(ms),
                " ms and nothing was changed; if that happens again, ask for less in one call \
                 (fewer signals or watchers; take, and acknowledge in parts, rather than drain) or \
                 raise the deadline",
            ),
            Failure::Overloaded => {
                let what = "too many calls are waiting and nothing was changed; try again later";
                (Code::Failed, "overloaded", what, String::new(), "")
            }
            Failure::TooLong(limit) => {
                let (before, behind) = ("a request has at most ", " bytes; send it in parts");
                (Code::Request, "too-long", before, number(limit), behind)
            }
            Failure::TooMany(limit) => {
                let (before, behind) = ("a batch has at most ", " requests; send them in several");
                (Code::Request, "too-many", before, number(limit), behind)
            }
            Failure::NotUtf8 => {
                let what = "a request is JSON text in UTF-8";
                (Code::Parse, "not-utf8", what, String::new(), "")
            }
            Failure::Unavailable(why) => {
                let before = "this method is not available here: ";
                (Code::Method, "unavailable", before, why, "")
            }
        };
        Fault::new(code, reason, joined(&[before, &varying, behind]))
    }
}
