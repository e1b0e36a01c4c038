//! A gateway as the tests play it.

use std::ops::Deref;
use std::path::Path;
use std::sync::OnceLock;

use headsup::{
    Awareness, Builder, Engine, Plugin, Provenance, Recording, SessionRef, Signal, WatchEntry,
};
use serde_json::{Value, json};

use crate::names::NOON;
use crate::news::{Ears, News};

/// The engine of this process's tests: one, because each has a thread of its own.
#[must_use]
pub fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| Engine::new(None).expect("this machine runs compiled cores"))
}

/// The built-in core, compiled once for all tests of this process.
#[must_use]
pub fn core() -> Plugin {
    static CORE: OnceLock<Plugin> = OnceLock::new();
    CORE.get_or_init(|| Plugin::built_in(engine()).expect("the built-in core loads")).clone()
}

/// An [`Awareness`] with a manual clock and ears. Everything it says has to be heard before it is
/// dropped.
pub struct Gateway {
    awareness: Awareness,
    ears: Ears,
}

/// The typed calls.
impl Deref for Gateway {
    type Target = Awareness;

    fn deref(&self) -> &Awareness {
        &self.awareness
    }
}

impl Gateway {
    /// A gateway over a store in memory, at [`NOON`].
    #[must_use]
    pub fn open() -> Self {
        Self::on(":memory:", NOON)
    }

    /// A gateway over the store in this file at this time, in ms since the epoch. Opening it
    /// recovers, as a start does.
    #[must_use]
    pub fn on(path: impl AsRef<Path>, now: u64) -> Self {
        Self::with(Awareness::builder(path).manual_clock(now))
    }

    /// A gateway that is opened like this, with the built-in core and ears.
    #[must_use]
    pub fn with(builder: Builder) -> Self {
        let ears = Ears::default();
        let awareness =
            builder.plugin(core()).listener(ears.clone()).open().expect("a store of a test opens");
        Self { awareness, ears }
    }

    /// What came out since the last time.
    #[must_use]
    pub fn news(&self) -> Vec<News> {
        self.ears.take()
    }

    /// Asserts that exactly this came out since the last time, in the short form of [`News`].
    #[track_caller]
    pub fn hears<const N: usize>(&self, expected: [&str; N]) {
        let heard: Vec<String> = self.news().iter().map(ToString::to_string).collect();
        assert_eq!(heard, expected, "what came out");
    }

    /// Records a signal and returns its version.
    #[track_caller]
    pub fn records(&self, signal: Signal) -> u64 {
        match self.record(signal) {
            Ok(Recording::Recorded(version)) => version,
            other => panic!("not recorded: {other:?}"),
        }
    }

    /// Starts an explicit watch.
    #[track_caller]
    pub fn watches(&self, watcher: &str, target: impl Into<SessionRef>) {
        let answer = self.watch(watcher, target, false).expect("a watch");
        assert_eq!(answer, headsup::WatchAnswer::Watched);
    }

    /// A watcher's cursor on a target, if it has one.
    #[must_use]
    pub fn entry(&self, watcher: &str, target: impl Into<SessionRef>) -> Option<WatchEntry> {
        let on_target = self.watchers_of(target).expect("a list");
        on_target.into_iter().find(|entry| entry.watcher == watcher)
    }

    /// The same in short: provenance and the three positions, such as `explicit 1 2 3`; or `none`.
    #[must_use]
    pub fn cursor(&self, watcher: &str, target: impl Into<SessionRef>) -> String {
        let Some(entry) = self.entry(watcher, target) else {
            return "none".to_owned();
        };
        let provenance = match entry.provenance {
            Provenance::Spawn => "spawn",
            Provenance::Explicit => "explicit",
            Provenance::Ambient => "ambient",
        };
        assert_eq!(entry.pending, entry.material > entry.last_seen, "pending");
        format!("{provenance} {} {} {}", entry.last_seen, entry.notified, entry.material)
    }

    /// Moves the clock forwards by so many ms.
    #[track_caller]
    pub fn passes(&self, ms: u64) {
        self.set_clock(self.now() + ms).expect("a manual clock");
    }

    /// A JSON-RPC call's result.
    #[track_caller]
    #[must_use]
    pub fn answer(&self, method: &str, params: &Value) -> Value {
        let response = self.respond(method, params);
        match response.get("result") {
            Some(result) => result.clone(),
            None => panic!("{method} {params}: {response}"),
        }
    }

    /// The stable reason why a JSON-RPC call was refused, and the field that its message names.
    #[track_caller]
    #[must_use]
    pub fn refusal(&self, method: &str, params: &Value) -> (String, String) {
        let response = self.respond(method, params);
        let text = |pointer: &str| match response.pointer(pointer).and_then(Value::as_str) {
            Some(text) => text.to_owned(),
            None => panic!("{method} {params} was not refused: {response}"),
        };
        let message = text("/error/message");
        let field = message.split(':').next().unwrap_or_default().to_owned();
        (text("/error/data/reason"), field)
    }

    fn respond(&self, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = self.call(&request.to_string()).expect("a request with an id is answered");
        serde_json::from_str(&response).expect("a response is JSON")
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let unheard = self.news();
        if !std::thread::panicking() {
            assert!(unheard.is_empty(), "more came out than the test expected: {unheard:?}");
        }
    }
}
