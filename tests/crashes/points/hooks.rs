//! Points that SQLite gives: before and after each statement of each connection to a store, and in
//! the middle of each commit, once nothing can refuse it any more and before any of it is written.
#![allow(unsafe_code, reason = "SQLite tells of its statements to C functions alone")]

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::OnceLock;

use rusqlite::ffi;

/// Who is told of each point.
static TOLD: OnceLock<fn(&str)> = OnceLock::new();

thread_local! {
    /// Whether connections that this thread opens now are nobody's business.
    static UNHEARD: Cell<bool> = const { Cell::new(false) };
}

/// From now on each point of each connection to a file that is opened later is told.
pub fn tell(told: fn(&str)) {
    TOLD.set(told).expect("one is told");
    // SAFETY: `opened` has the signature with which SQLite calls it, and lives as long as we do.
    let code = unsafe { ffi::sqlite3_auto_extension(Some(opened)) };
    assert_eq!(code, ffi::SQLITE_OK);
}

/// Does something with connections that have no points.
pub fn unheard<T>(act: impl FnOnce() -> T) -> T {
    UNHEARD.set(true);
    let done = act();
    UNHEARD.set(false);
    done
}

fn say(when: &str, what: &str) {
    if let Some(told) = TOLD.get() {
        told(&format!("{when} {what}"));
    }
}

/// A connection was opened.
unsafe extern "C" fn opened(
    db: *mut ffi::sqlite3,
    _: *mut *mut c_char,
    _: *const ffi::sqlite3_api_routines,
) -> c_int {
    // SAFETY: SQLite calls this with a connection that is open; the name, if there is one, ends in
    // a zero byte and outlives this look; the callbacks live as long as the program.
    unsafe {
        let name = ffi::sqlite3_db_filename(db, c"main".as_ptr());
        if UNHEARD.get() || name.is_null() || *name == 0 {
            return ffi::SQLITE_OK;
        }
        ffi::sqlite3_commit_hook(db, Some(committing), ptr::null_mut());
        let events = ffi::SQLITE_TRACE_STMT | ffi::SQLITE_TRACE_PROFILE;
        ffi::sqlite3_trace_v2(db, events, Some(traced), ptr::null_mut())
    }
}

/// A statement begins, or a trigger of it, or it has ended.
unsafe extern "C" fn traced(
    event: c_uint,
    _: *mut c_void,
    statement: *mut c_void,
    detail: *mut c_void,
) -> c_int {
    // SAFETY: for these events SQLite gives a statement, whose text ends in a zero byte, and where
    // it begins a text of the same kind, which is the trigger's if it is one.
    let (text, begins) = unsafe {
        let text = CStr::from_ptr(ffi::sqlite3_sql(statement.cast()));
        let begins = (event == ffi::SQLITE_TRACE_STMT).then(|| CStr::from_ptr(detail.cast()));
        (text.to_string_lossy(), begins.map(CStr::to_string_lossy))
    };
    match begins {
        Some(trigger) if trigger.starts_with("-- TRIGGER") => say("before", &trigger[3..]),
        Some(_) => say("before", &name_of(&text)),
        None => say("after", &name_of(&text)),
    }
    0
}

unsafe extern "C" fn committing(_: *mut c_void) -> c_int {
    say("in", "a commit");
    0
}

/// The first words of a statement, without the comments before it.
fn name_of(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let first = lines.skip_while(|line| line.is_empty() || line.starts_with("--"));
    let words: Vec<&str> = first.flat_map(str::split_whitespace).take(5).collect();
    words.join(" ")
}
