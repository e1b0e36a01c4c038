//! What C's own tests in `bindings/c/tests` cannot do: the vectors, with the comparison that they need;
//! the header; and panics.

mod defects;
mod header;
mod vectors;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

use crate::abi::{Handle, headsup_call, headsup_close, headsup_free, headsup_open};
use crate::listener::{Listener, LogLevel, NoticeView};
use crate::status::Status;

/// Lines that were heard, each with its end.
#[derive(Default)]
struct Heard(Mutex<Vec<u8>>);

impl Heard {
    fn listener(&self) -> Listener {
        let user = (&raw const *self).cast_mut().cast();
        Listener { user, notice: Some(notice), wake: Some(wake), log: Some(log) }
    }

    fn add(&self, line: &[u8]) {
        let mut lines = self.0.lock().unwrap();
        lines.extend_from_slice(line);
        lines.push(b'\n');
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

/// SAFETY of all three: `user` is that of [`Heard::listener`], which outlives the store, and the texts
/// are lent until they return.
unsafe extern "C-unwind" fn notice(user: *mut c_void, notice: *const NoticeView) {
    unsafe { heard(user, (*notice).json) }
}

unsafe extern "C-unwind" fn wake(user: *mut c_void, _: *const c_char, json: *const c_char) {
    unsafe { heard(user, json) }
}

unsafe extern "C-unwind" fn log(
    user: *mut c_void,
    _: LogLevel,
    _: *const c_char,
    json: *const c_char,
) {
    if !json.is_null() {
        unsafe { heard(user, json) }
    }
}

unsafe fn heard(user: *mut c_void, json: *const c_char) {
    unsafe { (*user.cast::<Heard>()).add(CStr::from_ptr(json).to_bytes()) }
}

fn open(configuration: &str, listener: &Listener) -> Handle {
    let mut handle = 0;
    let (bytes, length) = (configuration.as_ptr().cast(), configuration.len());
    // SAFETY: everything that is passed lives until it returns; the listener is one of `Heard`.
    let status = unsafe { headsup_open(bytes, length, listener, &raw mut handle) };
    assert_eq!(status, Status::Ok);
    handle
}

fn call(handle: Handle, request: &str) -> Option<Vec<u8>> {
    let (mut response, mut length) = (null_mut(), 0);
    // SAFETY: everything that is passed lives until it returns, and the response is freed once.
    unsafe {
        let (bytes, size) = (request.as_ptr().cast(), request.len());
        let status = headsup_call(handle, bytes, size, &raw mut response, &raw mut length);
        assert_eq!(status, Status::Ok);
        if response.is_null() {
            return None;
        }
        let bytes = CStr::from_ptr(response).to_bytes().to_vec();
        assert_eq!(bytes.len(), length);
        headsup_free(response);
        Some(bytes)
    }
}

fn close(handle: Handle) {
    assert_eq!(headsup_close(handle), Status::Ok);
}

#[test]
fn a_listener_may_be_left_out() {
    let mut handle = 0;
    let memory = r#"{"store":{"path":":memory:"}}"#;
    // SAFETY: everything that is passed lives until it returns.
    let status =
        unsafe { headsup_open(memory.as_ptr().cast(), memory.len(), null(), &raw mut handle) };
    assert_eq!(status, Status::Ok);
    close(handle);
}
