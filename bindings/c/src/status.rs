//! How a function ended: a status, and for each thread the words to the last one.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::text::terminated;

/// How a function ended.
#[repr(i32)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// It did what it says.
    #[default]
    Ok = 0,
    /// A pointer that must point to something is NULL, or a length is none: which one.
    InvalidPointer = 1,
    /// Bytes that must be UTF-8 are not: where.
    NotUtf8 = 2,
    /// The configuration is not JSON, has an unknown member or a value that is not allowed: which one.
    InvalidConfiguration = 3,
    /// The handle is that of no open store: it was closed, never was one, or is of the process that forked
    /// this one.
    NotOpen = 4,
    /// This may not be done in a callback: closing, swapping, or calling beyond 16 callbacks inside
    /// each other.
    InCallback = 5,
    /// The store cannot be opened: why, and what to do.
    Store = 6,
    /// The core cannot be loaded, or does not conform: why.
    Core = 7,
    /// A defect of this library. Whatever it was in was given up; a store stays open, and a
    /// transaction that was not committed is rolled back.
    Defect = 8,
}

/// Why a function failed.
#[derive(Debug)]
pub struct Failure {
    status: Status,
    reason: &'static str,
    message: String,
}

impl Failure {
    /// A failure; `reason` is a stable kebab-case word.
    pub fn new(status: Status, reason: &'static str, message: impl Into<String>) -> Self {
        Self { status, reason, message: message.into() }
    }

    fn defect(panic: Box<dyn Any + Send>) -> Self {
        let words = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(words), _) => (*words).to_owned(),
            (None, Some(words)) => words.clone(),
            (None, None) => "something that is no text".to_owned(),
        };
        // Dropping what somebody else panicked with may panic again.
        std::mem::forget(panic);
        Self::new(
            Status::Defect,
            "defect",
            format!("a defect of headsup: it panicked with {words}"),
        )
    }
}

/// Runs what a function does. Neither a failure nor a panic leaves it as anything but a status.
pub fn guard(act: impl FnOnce() -> Result<(), Failure>) -> Status {
    let outcome =
        catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| Err(Failure::defect(panic)));
    let status = outcome.as_ref().err().map_or(Status::Ok, |failure| failure.status);
    contain(|| remember(outcome.err()));
    status
}

/// Runs what leaves no error behind; nothing if it panicked.
pub fn contain<T>(act: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(act)).map_err(std::mem::forget).ok()
}

thread_local! {
    /// Why the last function on this thread failed, if it did.
    static LAST: RefCell<Option<Words>> = const { RefCell::new(None) };
}

struct Words {
    status: Status,
    reason: CString,
    message: CString,
}

/// The last error as it is lent out.
#[derive(Clone, Copy)]
pub struct Last {
    /// How the last function ended.
    pub status: Status,
    /// What went wrong.
    pub message: *const c_char,
    /// The word for it.
    pub reason: *const c_char,
}

impl Default for Last {
    fn default() -> Self {
        Self { status: Status::Ok, message: c"".as_ptr(), reason: c"".as_ptr() }
    }
}

fn remember(failure: Option<Failure>) {
    let words = failure.map(|Failure { status, reason, message }| Words {
        status,
        reason: terminated(reason),
        message: terminated(message),
    });
    // A thread that is ending has none any more.
    let _ = LAST.try_with(|last| last.replace(words));
}

/// How the last function on this thread ended. The texts live until the next one.
pub fn last() -> Last {
    let lend = |last: &RefCell<Option<Words>>| {
        last.borrow().as_ref().map_or_else(Last::default, |words| Last {
            status: words.status,
            message: words.message.as_ptr(),
            reason: words.reason.as_ptr(),
        })
    };
    LAST.try_with(lend).unwrap_or_default()
}
