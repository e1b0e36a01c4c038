//! A gateway that keeps a server busy, a few requests at a time, and enters in the ledger what it
//! asks and what it is told. Each answer is checked as it comes; the store, afterwards.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use harness::{Dice, Ledger};
use serde_json::{Value, json};

use crate::server::Line;

pub const TARGETS: [&str; 4] = [
    "agent:main:subagent:a",
    "agent:main:subagent:b",
    "agent:main:telegram:c",
    "agent:ops:telegram:d",
];
pub const WATCHERS: [&str; 3] = ["agent:main:main", "agent:ops:main", "agent:main:telegram:c"];

/// What all drivers of a store share.
pub struct Shared {
    pub ledger: Mutex<Ledger>,
    /// Responses so far.
    pub answers: AtomicU64,
    /// Whether to come to an end.
    pub over: AtomicBool,
}

impl Shared {
    pub fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap()
    }
}

/// A request that waits for its response, with what was known before it was sent.
enum Open {
    Record { run: String, before: u64 },
    Many { runs: Vec<String> },
    Take { watcher: &'static str, seen: Vec<u64> },
    Acknowledge { watcher: &'static str, target: String, up_to: u64 },
    Status { target: &'static str, after: u64, before: u64 },
}

pub struct Driver<'a> {
    shared: &'a Shared,
    line: Line,
    dice: Dice,
    name: String,
    count: u64,
    /// Notices that were taken and wait to be acknowledged.
    taken: Vec<(&'static str, Value)>,
}

impl<'a> Driver<'a> {
    pub fn new(shared: &'a Shared, line: Line, dice: Dice, name: String) -> Self {
        Self { shared, line, dice, name, count: 0, taken: Vec::new() }
    }

    /// Goes on until it is told to stop, which closes the server's input, or the server dies.
    pub fn drive(mut self) {
        while !self.shared.over.load(Ordering::SeqCst) {
            let wanted = 1 + self.dice.below(6);
            let mut open = Vec::new();
            for _ in 0..wanted {
                let (waiting, method, params) = self.next();
                if !self.line.send(method, &params) {
                    break;
                }
                open.push(waiting);
            }
            for waiting in open {
                let Some(response) = self.line.response() else { return };
                self.shared.answers.fetch_add(1, Ordering::SeqCst);
                self.answered(waiting, &response);
            }
        }
    }

    fn next(&mut self) -> (Open, &'static str, Value) {
        if let Some((watcher, notice)) = self.taken.pop() {
            let target = notice["target"].as_str().unwrap().to_owned();
            let up_to = notice["upTo"].as_u64().unwrap();
            self.shared.ledger().acknowledges(watcher, &target, up_to);
            let params = json!({"watcher": watcher, "notices": [notice]});
            return (Open::Acknowledge { watcher, target, up_to }, "acknowledge", params);
        }
        match self.dice.below(10) {
            0..5 => self.record(),
            5 => self.many(),
            6 | 7 => {
                let watcher = *self.dice.pick(&WATCHERS);
                let ledger = self.shared.ledger();
                let seen = TARGETS.iter().map(|target| ledger.seen(watcher, target)).collect();
                (Open::Take { watcher, seen }, "take", json!({"watcher": watcher}))
            }
            _ => {
                let target = *self.dice.pick(&TARGETS);
                let before = self.shared.ledger().version(target);
                let after = before.saturating_sub(self.dice.below(30));
                let params = json!({"session": target, "changesSince": after});
                (Open::Status { target, after, before }, "status", params)
            }
        }
    }

    /// One signal; now and then it was asked for before, by somebody who got no answer.
    fn record(&mut self) -> (Open, &'static str, Value) {
        let again = self.dice.below(8) == 0;
        let unanswered = if again { self.shared.ledger().unanswered() } else { Vec::new() };
        let (run, target) = match unanswered.first() {
            Some(_) => self.dice.pick(&unanswered).clone(),
            None => (self.run(), (*self.dice.pick(&TARGETS)).to_owned()),
        };
        let mut ledger = self.shared.ledger();
        ledger.asks(&run, &target);
        let before = ledger.version(&target);
        drop(ledger);
        let params = self.signal(&run, &target);
        (Open::Record { run, before }, "record", params)
    }

    fn many(&mut self) -> (Open, &'static str, Value) {
        let (mut runs, mut signals) = (Vec::new(), Vec::new());
        for _ in 0..4 {
            let (run, target) = (self.run(), *self.dice.pick(&TARGETS));
            self.shared.ledger().asks(&run, target);
            signals.push(self.signal(&run, target));
            runs.push(run);
        }
        (Open::Many { runs }, "recordMany", json!({"signals": signals}))
    }

    fn run(&mut self) -> String {
        self.count += 1;
        format!("{}-{}", self.name, self.count)
    }

    /// By a person, or by one of the watchers, who hears nothing of it.
    fn signal(&mut self, run: &str, target: &str) -> Value {
        let actor = match self.dice.below(3) {
            0 => json!({"type": "agent", "id": self.dice.pick(&WATCHERS)}),
            _ => json!({"type": "human"}),
        };
        let change = *self.dice.pick(&["created", "updated", "cleared"]);
        json!({
            "session": target, "kind": "goal_changed", "change": change, "actor": actor,
            "runId": run, "dedupeKey": run,
        })
    }

    fn answered(&mut self, waiting: Open, response: &Value) {
        let result = &response["result"];
        assert!(result.is_object(), "{response}");
        let mut ledger = self.shared.ledger();
        match waiting {
            Open::Record { run, before } => {
                let version = version_of(result);
                let is_new = result["outcome"] == "recorded";
                assert!(!is_new || version > before, "{version} was given after {before}");
                ledger.recorded(&run, version);
            }
            Open::Many { runs } => {
                for (run, outcome) in runs.iter().zip(result["outcomes"].as_array().unwrap()) {
                    ledger.recorded(run, version_of(outcome));
                }
            }
            Open::Take { watcher, seen } => {
                for notice in result["notices"].as_array().unwrap() {
                    let at = TARGETS.iter().position(|target| notice["target"] == *target);
                    let (at, since) = (at.unwrap(), notice["since"].as_u64().unwrap());
                    assert!(since >= seen[at], "acknowledged and shown again: {notice}");
                    // Some are never acknowledged: the turn died.
                    if self.dice.below(4) > 0 {
                        self.taken.push((watcher, notice.clone()));
                    }
                }
            }
            Open::Acknowledge { watcher, target, up_to } => {
                if result["acknowledged"] == 1 {
                    ledger.acknowledged(watcher, &target, up_to);
                }
            }
            Open::Status { target, after, before } => {
                let version = result["stateVersion"].as_u64().unwrap();
                assert!(version >= before, "{target} went back from {before} to {version}");
                ledger.tells(target, version);
                let delta = &result["stateChanges"];
                assert_eq!(delta["historyGap"], false, "{response}");
                let events = delta["events"].as_array().unwrap();
                let numbers = events.iter().map(|event| event["sequence"].as_u64().unwrap());
                ledger.read(target, after, numbers.collect());
            }
        }
    }
}

fn version_of(outcome: &Value) -> u64 {
    let is_there = outcome["outcome"] == "recorded" || outcome["outcome"] == "duplicate";
    assert!(is_there, "{outcome}");
    outcome["stateVersion"].as_u64().unwrap()
}
