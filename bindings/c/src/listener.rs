//! Who hears of news: functions of the caller's, and what they may do meanwhile.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use host::rpc::Notification;
use host::{Level, Notice};

use crate::status::{Failure, Status};
use crate::stores::Closing;
use crate::text::terminated;

/// Callbacks that run inside each other on one thread, at most.
const DEEPEST: u32 = 16;

/// A notice, lent to the callback until it returns. All texts are UTF-8 and end with a NUL.
#[repr(C)]
pub struct NoticeView {
    /// The key of the session that is to be told.
    pub watcher: *const c_char,
    /// The key of the session that changed.
    pub target: *const c_char,
    /// The agent of the session that changed.
    pub agent: *const c_char,
    /// The version of the session that the watcher knows; what came after it is the delta.
    pub since: u64,
    /// The version that the notice reaches.
    pub up_to: u64,
    /// What the watcher's next turn is told.
    pub text: *const c_char,
    /// All of it as the JSON-RPC notification `notice`, on one line.
    pub json: *const c_char,
}

/// What a log line is about.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// What was lost or could not be done.
    Error = 1,
    /// What an operator should know.
    Warn = 2,
    /// What happened.
    Info = 3,
    /// Details.
    Debug = 4,
}

/// Who hears of news. Each function may be NULL. Each is called on the thread of the call that caused
/// the news, after its commit and before it returns; or, for later wakes and for what the monitor finds,
/// on a thread of the library's own: also two at once. What their pointers point to is lent until they
/// return.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Listener {
    /// Yours: passed to each function, and never looked at.
    pub user: *mut c_void,
    /// A notice opened for a watcher, or recovery found it pending.
    pub notice: Option<unsafe extern "C-unwind" fn(user: *mut c_void, notice: *const NoticeView)>,
    /// The session with the key `watcher` should run: it has a notice pending. `json` is the JSON-RPC
    /// notification `wake`, on one line.
    pub wake: Option<
        unsafe extern "C-unwind" fn(user: *mut c_void, watcher: *const c_char, json: *const c_char),
    >,
    /// One line for an operator. `json` is the JSON-RPC notification `log`, on one line; NULL for what
    /// happened and for details, of which no notification tells.
    pub log: Option<
        unsafe extern "C-unwind" fn(
            user: *mut c_void,
            level: LogLevel,
            message: *const c_char,
            json: *const c_char,
        ),
    >,
}

// SAFETY: the pointers are only handed back. The header asks for functions, and a `user`, that any
// thread may call with.
unsafe impl Send for Listener {}
// SAFETY: as above; the header says that two may be called at once.
unsafe impl Sync for Listener {}

impl Default for Listener {
    /// Nobody.
    fn default() -> Self {
        Self { user: null_mut(), notice: None, wake: None, log: None }
    }
}

/// Passes news on. The host drops it when the store is closed and nobody will be called any more.
pub struct Relay {
    listener: Listener,
    _closing: Closing,
}

impl Relay {
    /// Passes news to this one.
    pub fn new(listener: Listener, closing: Closing) -> Self {
        Self { listener, _closing: closing }
    }
}

impl host::Listener for Relay {
    fn notice(&self, watcher: &str, notice: &Notice) {
        let Some(hear) = self.listener.notice else { return };
        let json = terminated(Notification::notice(watcher, notice).line());
        let watcher = terminated(watcher);
        let (target, agent) = (terminated(&*notice.target.key), terminated(&*notice.target.agent));
        let text = terminated(&*notice.text);
        let view = NoticeView {
            watcher: watcher.as_ptr(),
            target: target.as_ptr(),
            agent: agent.as_ptr(),
            since: notice.since,
            up_to: notice.up_to,
            text: text.as_ptr(),
            json: json.as_ptr(),
        };
        let _nesting = Nesting::enter();
        // SAFETY: who opened the store said that it may be called so; everything it is lent lives on.
        unsafe { hear(self.listener.user, &raw const view) }
    }

    fn wake(&self, watcher: &str) {
        let Some(hear) = self.listener.wake else { return };
        let json = terminated(Notification::wake(watcher).line());
        let watcher = terminated(watcher);
        let _nesting = Nesting::enter();
        // SAFETY: as above.
        unsafe { hear(self.listener.user, watcher.as_ptr(), json.as_ptr()) }
    }

    fn log(&self, level: Level, message: &str) {
        let Some(hear) = self.listener.log else { return };
        let json = Notification::log(level, message).map(|news| terminated(news.line()));
        let json_or_null = json.as_ref().map_or_else(null, |json| json.as_ptr());
        let message = terminated(message);
        let level = match level {
            Level::Error => LogLevel::Error,
            Level::Warn => LogLevel::Warn,
            Level::Info => LogLevel::Info,
            Level::Debug => LogLevel::Debug,
        };
        let _nesting = Nesting::enter();
        // SAFETY: as above.
        unsafe { hear(self.listener.user, level, message.as_ptr(), json_or_null) }
    }
}

thread_local! {
    /// How many callbacks run on this thread inside each other. It has nothing to drop, so that it is
    /// there as long as the thread is.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A callback that runs on this thread.
pub struct Nesting(());

impl Nesting {
    fn enter() -> Self {
        DEPTH.set(DEPTH.get() + 1);
        Self(())
    }

    /// Whether this thread may begin another call: callbacks whose calls cause callbacks would use up
    /// its stack.
    pub fn check() -> Result<(), Failure> {
        if DEPTH.get() < DEEPEST {
            return Ok(());
        }
        let message = format!(
            "{DEEPEST} callbacks run inside each other on this thread: hand over to a thread of your \
             own, and call from there"
        );
        Err(Failure::new(Status::InCallback, "in-callback", message))
    }

    /// What waits for callbacks, or for calls, may not run in one.
    pub fn refuse(function: &str) -> Result<(), Failure> {
        if DEPTH.get() == 0 {
            return Ok(());
        }
        let message = format!(
            "{function} waits for what runs, and a callback is part of it: hand over to a thread of \
             your own, and call from there"
        );
        Err(Failure::new(Status::InCallback, "in-callback", message))
    }
}

impl Drop for Nesting {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}
