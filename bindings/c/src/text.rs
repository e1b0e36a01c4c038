//! What crosses: bytes that a caller lends, places that it wants set, texts that are given to it.

use std::ffi::{CString, c_char};
use std::ptr::{NonNull, null_mut};
use std::slice;

use crate::status::{Failure, Status};

/// Bytes that the caller lends until the function returns.
///
/// # Safety
/// `bytes` is null or points to `length` bytes that nobody changes meanwhile.
pub unsafe fn lent<'a>(
    name: &str,
    bytes: *const c_char,
    length: usize,
) -> Result<&'a [u8], Failure> {
    if bytes.is_null() {
        return Err(null(name));
    }
    // No object is longer: whoever says so passed a negative number.
    if isize::try_from(length).is_err() {
        let message = format!("the length of {name} is {length}, which no memory holds");
        return Err(Failure::new(Status::InvalidPointer, "invalid-length", message));
    }
    // SAFETY: it is not null and not too long, and the caller says that it points to so many bytes.
    Ok(unsafe { slice::from_raw_parts(bytes.cast(), length) })
}

/// Bytes as text.
pub fn utf8<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, Failure> {
    str::from_utf8(bytes).map_err(|error| {
        let message = format!("{name} is not UTF-8: {error}");
        Failure::new(Status::NotUtf8, "not-utf8", message)
    })
}

/// A place of the caller's that is to be set. It may hold anything before, so there is no reference
/// to it.
pub struct Place<T>(NonNull<T>);

impl<T> Place<T> {
    /// The place, set to a first value.
    ///
    /// # Safety
    /// `place` is null or may be written to, for as long as this lives.
    pub unsafe fn new(name: &str, place: *mut T, first: T) -> Result<Self, Failure> {
        let mut place = Self(NonNull::new(place).ok_or_else(|| null(name))?);
        place.set(first);
        Ok(place)
    }

    /// Sets it.
    pub fn set(&mut self, value: T) {
        // SAFETY: who made this said that it may be written to.
        unsafe { self.0.write(value) }
    }
}

/// Where a caller wants a text: NULL and 0 until one is given.
pub struct Answer {
    text: Place<*mut c_char>,
    length: Option<Place<usize>>,
}

impl Answer {
    /// The place for a text, and for its length if that is wanted.
    ///
    /// # Safety
    /// Each is null or may be written to, for as long as this lives.
    pub unsafe fn new(
        name: &str,
        text: *mut *mut c_char,
        length: *mut usize,
    ) -> Result<Self, Failure> {
        // SAFETY: what is asked for here is what the caller says.
        unsafe {
            let length =
                if length.is_null() { None } else { Some(Place::new("length", length, 0)?) };
            Ok(Self { text: Place::new(name, text, null_mut())?, length })
        }
    }

    /// Gives a text to the caller, who takes it back with `headsup_free`.
    pub fn give(&mut self, text: String) {
        let text = terminated(text);
        if let Some(length) = &mut self.length {
            length.set(text.as_bytes().len());
        }
        self.text.set(text.into_raw());
    }
}

/// Frees what was given.
///
/// # Safety
/// `text` is null, or was given by [`Answer::give`] and not taken back yet.
pub unsafe fn take_back(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the caller says that it came from `CString::into_raw`.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// A text with a NUL at its end and nowhere else. JSON and keys have none; should a core log one, it
/// is replaced.
pub fn terminated(text: impl Into<String>) -> CString {
    CString::new(text.into()).unwrap_or_else(|error| {
        let mut bytes = error.into_vec();
        bytes.iter_mut().filter(|byte| **byte == 0).for_each(|byte| *byte = b' ');
        CString::new(bytes).unwrap_or_default()
    })
}

fn null(name: &str) -> Failure {
    let message = format!("{name} is NULL, and must point to something");
    Failure::new(Status::InvalidPointer, "null-pointer", message)
}
