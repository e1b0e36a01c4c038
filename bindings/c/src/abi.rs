//! The functions of the header, in its order.

use std::ffi::c_char;

use crate::configuration::Configuration;
use crate::listener::{Listener, Nesting};
use crate::status::{self, Status, guard};
use crate::stores::{self, Core};
use crate::text::{self, Answer, Place, lent, utf8};

/// What this header describes. A library that answers another number to `headsup_abi` is another one:
/// do not call it.
pub const HEADSUP_ABI: u32 = 1;

/// An open store. Never 0, never used again for another one: a closed handle stays closed.
pub type Handle = u64;

/// Opens a store and recovers: what is pending is announced to `listener` before this returns.
///
/// `configuration` is a JSON object of `length` bytes, with the sections and keys of
/// `headsup.example.toml` (without `log`), of which only `store.path` must be there; and beside them:
/// `manual_clock_ms` (time stands there and moves only by the method `clock`), `monitor` (true: check
/// adopted sessions every minute; default false), `recover` (default true), `read_only` (default
/// false). A member that it does not know is an error that names it.
///
/// `listener` may be NULL; what it points to is copied. On success `handle` is set; on failure it is 0,
/// and nobody is called any more.
///
/// # Safety
/// `configuration` points to `length` bytes, `handle` to a handle; both may be NULL, which is an error.
/// `listener` is NULL or points to one whose functions may be called as its fields say.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headsup_open(
    configuration: *const c_char,
    length: usize,
    listener: *const Listener,
    handle: *mut Handle,
) -> Status {
    guard(|| {
        // SAFETY: the caller says that it is null or points to a handle.
        let mut handle = unsafe { Place::new("handle", handle, 0)? };
        Nesting::check()?;
        // SAFETY: the caller says that it is null or points to so many bytes.
        let json = unsafe { lent("configuration", configuration, length)? };
        // SAFETY: the caller says that it is null or points to a listener.
        let listener = unsafe { listener.as_ref() }.copied().unwrap_or_default();
        let configuration = Configuration::parse(utf8("configuration", json)?)?;
        handle.set(stores::open(&configuration, listener)?);
        Ok(())
    })
}

/// Answers a JSON-RPC request, or a batch of them, of `length` bytes. Whatever it asks for, its failures
/// too are responses, and the status is `HEADSUP_STATUS_OK`. `listener` hears what it causes before this
/// returns.
///
/// `response` is set to the response, which is yours to free with `headsup_free` and ends with a NUL that
/// `response_length` does not count; to NULL if there is none: for a notification, or a blank request.
/// `response_length` may be NULL. A request that is not UTF-8 has `HEADSUP_STATUS_NOT_UTF8`, and a
/// response all the same. With every other status there is none.
///
/// # Safety
/// `request` points to `length` bytes, `response` and `response_length` to what they are set in; each may
/// be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headsup_call(
    handle: Handle,
    request: *const c_char,
    length: usize,
    response: *mut *mut c_char,
    response_length: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: the caller says that each is null or points to what it is set in.
        let mut response = unsafe { Answer::new("response", response, response_length)? };
        Nesting::check()?;
        // SAFETY: the caller says that it is null or points to so many bytes.
        let request = unsafe { lent("request", request, length)? };
        let store = stores::find(handle)?;
        let answer = store.calls.answer(request);
        // With a manual clock: nobody else prunes.
        store.calls.awareness().tidy();
        if let Some(answer) = answer {
            response.give(answer);
        }
        utf8("request", request).map(drop)
    })
}

/// Serves all calls to come with the core in the file `path`, of `length` bytes in UTF-8; with the
/// built-in one if `path` is NULL. Calls in flight end with the core that they began with. With
/// `conforming` other than 0 only if it answers the conformance vectors of the protocol, which takes a
/// second or so. On failure nothing was changed. Not in a callback.
///
/// # Safety
/// `path` is NULL or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headsup_swap(
    handle: Handle,
    path: *const c_char,
    length: usize,
    conforming: i32,
) -> Status {
    guard(|| {
        Nesting::refuse("headsup_swap")?;
        let core = if path.is_null() {
            Core::BuiltIn
        } else {
            // SAFETY: it is not null, and the caller says that it points to so many bytes.
            let path = unsafe { lent("path", path, length)? };
            Core::File(utf8("path", path)?.into())
        };
        stores::find(handle)?.swap(&core, conforming != 0)
    })
}

/// Which core serves: a JSON object with `name`, `version` and `protocol`, which is yours to free with
/// `headsup_free`. `core_length` may be NULL.
///
/// # Safety
/// `core` and `core_length` point to what they are set in; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headsup_core(
    handle: Handle,
    core: *mut *mut c_char,
    core_length: *mut usize,
) -> Status {
    guard(|| {
        // SAFETY: the caller says that each is null or points to what it is set in.
        let mut core = unsafe { Answer::new("core", core, core_length)? };
        core.give(stores::find(handle)?.describe_core());
        Ok(())
    })
}

/// Closes a store. Calls that run on other threads end as if nothing had happened; calls that begin now
/// get `HEADSUP_STATUS_NOT_OPEN`. This waits for those that run and for callbacks: once it returned
/// `HEADSUP_STATUS_OK`, no callback runs or will run, `user` may be freed, and the file is released. Not
/// in a callback.
#[unsafe(no_mangle)]
pub extern "C" fn headsup_close(handle: Handle) -> Status {
    guard(|| {
        Nesting::refuse("headsup_close")?;
        stores::close(handle)
    })
}

/// Frees a text that was given to you, once. NULL is allowed. The text must be as it was.
///
/// # Safety
/// `text` is NULL or was given by this library, and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headsup_free(text: *mut c_char) {
    // SAFETY: the caller says that this library gave it, and that nobody freed it.
    status::contain(|| unsafe { text::take_back(text) });
}

/// What the last of the functions above but `headsup_free` returned on this thread. `message` is set to
/// what went wrong and what to do, in English, and `reason` to a stable word for it, as in `data.reason`
/// of a response; both to an empty text after success. Either may be NULL. The texts are lent until one
/// of those functions is called again on this thread.
///
/// # Safety
/// `message` and `reason` are NULL or point to what they are set in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headsup_last_error(
    message: *mut *const c_char,
    reason: *mut *const c_char,
) -> Status {
    let last = status::contain(status::last);
    let last = last.unwrap_or_default();
    // SAFETY: the caller says that each is null or points to what it is set in.
    unsafe {
        if let Some(message) = message.as_mut() {
            *message = last.message;
        }
        if let Some(reason) = reason.as_mut() {
            *reason = last.reason;
        }
    }
    last.status
}

/// The version of headsup, for people: lent for ever.
#[unsafe(no_mangle)]
pub extern "C" fn headsup_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// `HEADSUP_ABI` as it was when the library was built.
#[unsafe(no_mangle)]
pub extern "C" fn headsup_abi() -> u32 {
    HEADSUP_ABI
}
