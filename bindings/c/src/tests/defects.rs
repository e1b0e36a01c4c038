//! No panic leaves a function.

use std::ffi::CStr;
use std::ptr::null;

use crate::abi::headsup_last_error;
use crate::status::{Status, contain, guard};

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("again");
    }
}

#[test]
fn a_panic_is_a_status_with_its_words() {
    assert_eq!(guard(|| panic!("the moon is full")), Status::Defect);
    let (mut message, mut reason) = (null(), null());
    // SAFETY: both may be set, and what they are set to is lent until the next function.
    let (message, reason) = unsafe {
        assert_eq!(headsup_last_error(&raw mut message, &raw mut reason), Status::Defect);
        (CStr::from_ptr(message), CStr::from_ptr(reason))
    };
    assert!(message.to_str().unwrap().contains("the moon is full"));
    assert_eq!(reason, c"defect");
}

#[test]
fn a_panic_with_anything_is_contained() {
    assert_eq!(guard(|| std::panic::panic_any(Bomb)), Status::Defect);
    assert_eq!(contain(|| std::panic::panic_any(Bomb)), None::<()>);
    assert_eq!(guard(|| Ok(())), Status::Ok);
}
