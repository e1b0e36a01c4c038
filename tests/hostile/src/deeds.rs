//! What a core can do wrong.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

use headsup_component::contract::{
    AppendRequest, Changes, Cursor, CursorState, Delivery, Entry, Error, Head, HeadChange,
    InvalidInput, InvalidReason, Level, Notice, Opening, Outcome, Pair, Positions, Provenance,
    Session,
};
use headsup_component::guest::Imports;
use headsup_component::ports::Ports;

/// Does what any call can do wrong; nothing for other words.
pub fn act(word: &str) {
    match word {
        "panic" => explode(word),
        "loop" => spin(),
        "recurse" => _ = descend(1),
        "stack" => _ = pile_up(1),
        "memory-bomb" => hoard(),
        "store-loop" => nag(),
        "log-flood" => babble(),
        "log-large" => imports().log(Level::Warn, &"x".repeat(100 << 20)),
        "log-huge" => imports().log(Level::Warn, &"x".repeat((128 << 20) + 1)),
        "notice-flood" => spam(),
        "wake-flood" => alarm(),
        "lie-cursor" => store_cursor(9, 3),
        "lie-number" => store_head(u64::MAX),
        "write" => append(),
        _ => {}
    }
}

/// Its name and its words are looked for in the log.
#[inline(never)]
fn explode(word: &str) {
    panic!("asked to {word}, and did");
}

#[inline(never)]
fn spin() {
    let mut turns = 0_u64;
    loop {
        turns = black_box(turns + 1);
    }
}

/// Fills the stack of the machine.
#[allow(unconditional_recursion)]
#[inline(never)]
fn descend(depth: u64) -> u64 {
    black_box(descend(black_box(depth) + 1)) + 1
}

/// Fills the stack in linear memory first.
#[allow(unconditional_recursion)]
#[inline(never)]
fn pile_up(depth: u64) -> u64 {
    let ballast = black_box([depth; 8_192]);
    black_box(pile_up(depth + 1)) + ballast[7]
}

#[inline(never)]
fn hoard() {
    let mut hoard: Vec<Vec<u8>> = Vec::new();
    loop {
        hoard.push(black_box(vec![1; 1 << 20]));
    }
}

/// Calls storage for ever.
#[inline(never)]
fn nag() {
    loop {
        _ = black_box(imports().heads(&[session("agent:main:x")]));
    }
}

fn babble() {
    let line = "babble\n".repeat(10_000);
    for _ in 0..1_000 {
        imports().log(Level::Warn, &line);
    }
}

/// 80 MB of openings.
fn spam() {
    for batch in 0..20 {
        let openings: Vec<Opening> = (0..1_000)
            .map(|at| Opening {
                watcher: format!("agent:spam:{batch}:{at}"),
                notice: Notice {
                    target: session("agent:main:x"),
                    since: 0,
                    up_to: 1,
                    text: "x".repeat(4_000),
                },
                delivery: Delivery::AnnounceAndWake,
            })
            .collect();
        imports().enqueue(&openings);
    }
}

/// 10,000 openings for five watchers.
fn alarm() {
    for batch in 0..10 {
        let openings: Vec<Opening> = (0..1_000)
            .map(|at| Opening {
                watcher: format!("agent:spam:{}", at % 5),
                notice: Notice {
                    target: session(&format!("agent:main:{batch}-{at}")),
                    since: 0,
                    up_to: 1,
                    text: "wake up".to_string(),
                },
                delivery: Delivery::AnnounceAndWake,
            })
            .collect();
        imports().enqueue(&openings);
    }
}

/// Ignores what storage thinks of it.
fn store_cursor(last_seen: u64, notified: u64) {
    let cursor = Cursor {
        pair: Pair { watcher: "agent:main:liar".to_string(), target: session("agent:main:x") },
        state: CursorState::Live(Positions {
            last_seen,
            notified,
            provenance: Provenance::Explicit,
        }),
        moved_at: 0,
    };
    _ = imports().save(&Changes { heads: vec![], cursors: vec![cursor] });
}

fn store_head(version: u64) {
    let head = Head { version, watermark: 0, notifying: None, moved_at: 0 };
    let change = HeadChange { session: session("agent:main:x"), head };
    _ = imports().save(&Changes { heads: vec![change], cursors: vec![] });
}

fn append() {
    let entry = Entry {
        session: session("agent:main:x"),
        kind: "created".to_string(),
        actor_type: "system".to_string(),
        actor_id: None,
        occurred_at: 0,
        summary: "smuggled".to_string(),
        session_id: None,
        run_id: None,
        payload: None,
        dedupe_key: None,
    };
    let request =
        AppendRequest { entry, only_if_watched: false, settled: false, named: Vec::new() };
    _ = imports().append(&request);
}

fn imports() -> Imports {
    Imports::default()
}

fn session(key: &str) -> Session {
    Session { key: key.to_string(), agent: "main".to_string() }
}

/// What `wire.call` returns in place of its response.
pub fn response(word: &str) -> Option<Option<String>> {
    Some(Some(match word {
        "garbage-silence" => return Some(None),
        "garbage-empty" => String::new(),
        "garbage-text" => "all is well".to_string(),
        "garbage-half" => "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outco".to_string(),
        "garbage-list" => "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}]".to_string(),
        "garbage-lines" => {
            let line = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}";
            format!("{line}\n{line}")
        }
        "garbage-huge" => long_response((64 << 20) + 1),
        "long" => long_response(64 << 20),
        _ => return garbled_text(word).map(Some),
    }))
}

/// A response of so many bytes with which nothing else is wrong.
fn long_response(bytes: usize) -> String {
    let (start, end) = (r#"{"jsonrpc":"2.0","id":7,"result":""#, r#""}"#);
    let mut response = String::with_capacity(bytes);
    response.push_str(start);
    response.push_str(&"x".repeat(bytes - start.len() - end.len()));
    response.push_str(end);
    response
}

/// An error whose text is no text.
pub fn garbled(word: &str) -> Option<Error> {
    garbled_text(word).map(|message| {
        Error::Invalid(InvalidInput {
            reason: InvalidReason::InvalidKey,
            field: "session.key".to_string(),
            message,
        })
    })
}

/// What `record` returns in place of what it did: a number that was never given, one that was
/// another's, or that nothing was written.
pub fn outcome(word: &str) -> Option<Outcome> {
    match word {
        "lie-recorded" => Some(Outcome::Recorded(999_999)),
        "lie-again" => Some(Outcome::Recorded(1)),
        "lie-duplicate" => Some(Outcome::Duplicate(999_999)),
        "lie-unwatched" => Some(Outcome::Unwatched),
        _ => None,
    }
}

/// The state version that `changes-since` and `versions` return in place of the session's.
pub fn version(word: &str) -> Option<u64> {
    match word {
        "lie-back" => Some(0),
        "lie-ahead" => Some(u64::MAX),
        _ => None,
    }
}

/// What `take` returns in place of its notices.
pub fn notices(word: &str) -> Option<Vec<Notice>> {
    let notice = |text| Notice { target: session(""), since: 0, up_to: 0, text };
    match word {
        "abi-list" => Some((0..2_000_000).map(|_| notice(String::new())).collect()),
        _ => garbled_text(word).map(|text| vec![notice(text)]),
    }
}

/// Text that breaks the rules of the canonical ABI.
fn garbled_text(word: &str) -> Option<String> {
    match word {
        // SAFETY: none; that is the point. Nothing here reads the text, which the host has to check.
        "abi-utf-eight" => Some(unsafe { String::from_utf8_unchecked(vec![b'a', 0xff, 0xfe]) }),
        // SAFETY: none, as above: it points to the end of the address space and beyond.
        "abi-pointer" => Some(unsafe {
            String::from_raw_parts(core::ptr::without_provenance_mut(0xffff_fff0), 4_096, 4_096)
        }),
        // SAFETY: none, as above: it is longer than any memory.
        "abi-length" => Some(unsafe {
            String::from_raw_parts(core::ptr::without_provenance_mut(16), 0x7fff_ffff, 0x7fff_ffff)
        }),
        _ => None,
    }
}

/// Uses what the C library offers, for which the linker adds an import.
#[cfg(feature = "thief")]
pub fn steal() {
    unsafe extern "C" {
        fn getenv(name: *const core::ffi::c_char) -> *const core::ffi::c_char;
    }
    // SAFETY: the name is a C string.
    black_box(unsafe { getenv(c"HOME".as_ptr()) });
}

/// The same for files.
#[cfg(feature = "reader")]
pub fn read() {
    unsafe extern "C" {
        fn fopen(path: *const core::ffi::c_char, mode: *const core::ffi::c_char) -> *mut u8;
    }
    // SAFETY: both are C strings.
    black_box(unsafe { fopen(c"/etc/passwd".as_ptr(), c"r".as_ptr()) });
}

/// The same for the network: looks up a name and makes a socket.
#[cfg(feature = "caller")]
pub fn connect() {
    unsafe extern "C" {
        fn socket(domain: i32, kind: i32, protocol: i32) -> i32;
        fn gethostbyname(name: *const core::ffi::c_char) -> *mut u8;
    }
    // SAFETY: numbers and a C string.
    black_box(unsafe { (socket(1, 6, 0), gethostbyname(c"example.org".as_ptr())) });
}
