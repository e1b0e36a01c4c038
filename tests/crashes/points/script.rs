//! A gateway's day, step by step: each thing that writes, and what has to be pending after it.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use harness::{DAY, HOUR, MINUTE, NOON};
use headsup::{
    Actor, AdoptionRequest, Awareness, Builder, GoalChange, Notice, Plugin, Receipt, SessionRef,
    Signal, Source, Urgency,
};
use serde_json::json;

const MAIN: &str = "agent:main:main";
const OPS: &str = "agent:ops:main";
const OLD: &str = "agent:main:telegram:old";
const A: &str = "agent:main:subagent:a";
const B: &str = "agent:ops:telegram:b";
const ADOPTED: &str = "agent:main:subagent:adopted";

/// A month after the beginning, in ms: what was recorded at the beginning is old.
const TODAY: u64 = NOON + 31 * DAY;
const LATER: u64 = TODAY + 2 * HOUR;

/// A notice: for whom, of which session, since which version.
pub type Pending = (&'static str, &'static str, u64);

/// One thing that the gateway does.
pub struct Step {
    pub name: &'static str,
    /// The time at which it does, in ms.
    pub now: u64,
    /// Does it, and says what it was answered. It may be done again where no answer came.
    pub does: fn(&Day) -> String,
    /// All that is pending once it is done.
    pub pending: &'static [Pending],
}

/// A store that is open, in its folder.
pub struct Day<'a> {
    pub awareness: Awareness,
    folder: &'a Path,
}

/// Where the store is in a folder.
pub fn store(folder: &Path) -> PathBuf {
    folder.join("store.db")
}

fn transcript(folder: &Path) -> PathBuf {
    folder.join("3f2a.jsonl")
}

/// How the store of a folder is opened.
pub fn builder(folder: &Path, core: Plugin, now: u64) -> Builder {
    let builder = Awareness::builder(store(folder)).plugin(core).manual_clock(now);
    builder.source_folders([folder])
}

impl<'a> Day<'a> {
    pub fn of(awareness: Awareness, folder: &'a Path) -> Self {
        Self { awareness, folder }
    }

    pub fn does(&self, step: &Step) -> String {
        self.awareness.set_clock(step.now).unwrap();
        (step.does)(self)
    }

    fn records(&self, signal: Signal) -> String {
        format!("{:?}", self.awareness.record(signal).unwrap())
    }

    fn watches(&self, watcher: &str, target: &str) -> String {
        format!("{:?}", self.awareness.watch(watcher, target, false).unwrap())
    }

    /// Two turns stand in the transcript, of which the gateway sent the first.
    fn has_typed(&self) {
        if !fs::read(transcript(self.folder)).unwrap().is_empty() {
            return;
        }
        let mut file = OpenOptions::new().append(true).open(transcript(self.folder)).unwrap();
        for text in ["run the tests", "and do it twice"] {
            let row = json!({
                "type": "user", "message": {"role": "user", "content": text},
                "timestamp": "1972-10-28T00:00:01.000Z",
            });
            writeln!(file, "{row}").unwrap();
        }
    }

    /// All that is pending, as a step says it.
    pub fn pending(&self) -> Vec<(String, String, u64)> {
        let of = |watcher: &'static str| {
            let notices = self.awareness.take(watcher).unwrap();
            notices.into_iter().map(|it| (watcher.to_owned(), it.target.key, it.since))
        };
        let mut all: Vec<_> = [MAIN, OPS].into_iter().flat_map(of).collect();
        all.sort();
        all
    }

    /// What anybody can see of the store, but how much of a notice was shown.
    pub fn view(&self) -> String {
        let mut view = format!("{:?}\n", self.pending());
        for session in [OLD, A, B, ADOPTED] {
            let delta = self.awareness.changes_since(session, 0, None).unwrap();
            writeln!(view, "{session} {:?} {}", delta.events, delta.history_gap).unwrap();
        }
        for watcher in [MAIN, OPS] {
            for entry in self.awareness.watches_of(watcher).unwrap() {
                let positions = (entry.last_seen, entry.material, entry.provenance);
                writeln!(view, "{watcher} {} {positions:?}", entry.target.key).unwrap();
            }
        }
        view
    }
}

/// Makes what lies beside the store.
pub fn prepare(folder: &Path) {
    fs::write(transcript(folder), "").unwrap();
}

fn goal(session: &str, actor: Actor, key: &str) -> Signal {
    Signal::goal_changed(session, GoalChange::Updated, actor).dedupe_key(key)
}

fn shown(notices: &[Notice]) -> String {
    let all = notices.iter().map(|it| format!("{} {}..{}", it.target.key, it.since, it.up_to));
    all.collect::<Vec<_>>().join(", ")
}

/// The numbers in it are those of the events: 1 is the old one, 2 the child's beginning, and so on.
pub const STEPS: &[Step] = &[
    Step {
        name: "record what will be old",
        now: NOON,
        does: |day| day.records(goal(OLD, Actor::human(), "old")),
        pending: &[],
    },
    Step {
        name: "recover, which prunes",
        now: TODAY,
        does: |day| format!("{:?}", day.awareness.recover().unwrap().pending),
        pending: &[],
    },
    Step { name: "watch", now: TODAY, does: |day| day.watches(MAIN, A), pending: &[] },
    Step { name: "watch beside it", now: TODAY, does: |day| day.watches(OPS, A), pending: &[] },
    Step {
        name: "spawn",
        now: TODAY,
        does: |day| day.records(Signal::child_spawned(B, "run-1", Actor::agent(MAIN))),
        pending: &[],
    },
    Step {
        name: "record",
        now: TODAY,
        does: |day| day.records(goal(A, Actor::human(), "first")),
        pending: &[(MAIN, A, 0), (OPS, A, 0)],
    },
    Step {
        name: "record while it is pending",
        now: TODAY,
        does: |day| day.records(goal(A, Actor::human(), "second")),
        pending: &[(MAIN, A, 0), (OPS, A, 0)],
    },
    Step {
        name: "record again what was recorded",
        now: TODAY,
        does: |day| day.records(goal(A, Actor::human(), "first")),
        pending: &[(MAIN, A, 0), (OPS, A, 0)],
    },
    Step {
        name: "record many",
        now: TODAY,
        does: |day| {
            let many = vec![
                goal(B, Actor::human(), "many-1"),
                goal(A, Actor::agent(MAIN), "many-2"),
                goal(B, Actor::human(), "many-3").watcher(OPS),
            ];
            format!("{:?}", day.awareness.record_many(many).unwrap())
        },
        pending: &[(MAIN, A, 0), (MAIN, B, 2), (OPS, A, 0), (OPS, B, 0)],
    },
    Step {
        name: "take",
        now: TODAY,
        does: |day| shown(&day.awareness.take(MAIN).unwrap()),
        pending: &[(MAIN, A, 0), (MAIN, B, 2), (OPS, A, 0), (OPS, B, 0)],
    },
    Step {
        name: "acknowledge",
        now: TODAY,
        does: |day| {
            // As it was taken: what came since opens it anew, for what another did.
            let receipt = Receipt { target: SessionRef::from(A), since: 0, up_to: 3 };
            let answer = day.awareness.acknowledge(MAIN, [receipt]).unwrap();
            format!("{} {}", answer.acknowledged, shown(&answer.reopened))
        },
        pending: &[(MAIN, A, 3), (MAIN, B, 2), (OPS, A, 0), (OPS, B, 0)],
    },
    Step {
        name: "recover",
        now: TODAY,
        does: |day| format!("{:?}", day.awareness.recover().unwrap().pending),
        pending: &[(MAIN, A, 3), (MAIN, B, 2), (OPS, A, 0), (OPS, B, 0)],
    },
    Step {
        name: "drain",
        now: TODAY,
        does: |day| shown(&day.awareness.drain(OPS).unwrap().notices),
        pending: &[(MAIN, A, 3), (MAIN, B, 2)],
    },
    Step {
        name: "unwatch",
        now: TODAY,
        does: |day| format!("{:?}", day.awareness.unwatch(OPS, B).unwrap()),
        pending: &[(MAIN, A, 3), (MAIN, B, 2)],
    },
    Step {
        name: "record for one who no longer watches",
        now: TODAY,
        does: |day| day.records(goal(B, Actor::human(), "third").watcher(OPS)),
        pending: &[(MAIN, A, 3), (MAIN, B, 2)],
    },
    Step {
        name: "adopt",
        now: TODAY,
        does: |day| {
            let source = Source::claude_file(transcript(day.folder).to_str().unwrap());
            let request = AdoptionRequest::new(ADOPTED, source, "claude");
            format!("{}", day.awareness.adopt(request).unwrap().adopted)
        },
        pending: &[(MAIN, A, 3), (MAIN, B, 2)],
    },
    Step {
        name: "watch what was adopted",
        now: TODAY,
        does: |day| day.watches(MAIN, ADOPTED),
        pending: &[(MAIN, A, 3), (MAIN, B, 2)],
    },
    Step {
        name: "send a text of its own",
        now: TODAY,
        does: |day| format!("{:?}", day.awareness.sent(ADOPTED, "run the tests").unwrap()),
        pending: &[(MAIN, A, 3), (MAIN, B, 2)],
    },
    Step {
        name: "check",
        now: TODAY + MINUTE,
        does: |day| {
            day.has_typed();
            format!("{:?}", day.awareness.check_upstreams().unwrap())
        },
        pending: &[(MAIN, A, 3), (MAIN, ADOPTED, 9), (MAIN, B, 2)],
    },
    Step {
        name: "record for the other",
        now: TODAY + MINUTE,
        does: |day| day.records(goal(A, Actor::human(), "fourth")),
        pending: &[(MAIN, A, 3), (MAIN, ADOPTED, 9), (MAIN, B, 2), (OPS, A, 6)],
    },
    Step {
        name: "reset",
        now: TODAY + MINUTE,
        does: |day| format!("{:?}", day.awareness.reset(OPS).unwrap()),
        pending: &[(MAIN, A, 3), (MAIN, ADOPTED, 9), (MAIN, B, 2)],
    },
    Step {
        name: "delete",
        now: TODAY + MINUTE,
        does: |day| format!("{:?}", day.awareness.delete(A).unwrap()),
        pending: &[(MAIN, ADOPTED, 9), (MAIN, B, 2)],
    },
    Step {
        name: "prune",
        now: LATER,
        does: |day| format!("{:?}", day.awareness.prune(Urgency::IfDue).unwrap()),
        pending: &[(MAIN, ADOPTED, 9), (MAIN, B, 2)],
    },
    Step {
        name: "mark as restored",
        now: LATER,
        does: |day| day.awareness.restored().unwrap().to_string(),
        pending: &[(MAIN, ADOPTED, 9), (MAIN, B, 2)],
    },
];
