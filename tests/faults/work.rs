//! A day's work on a store: everything that writes, in turn. Whatever fails is left undone, as a
//! gateway would, and asked for once more.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use harness::{DAY, Ledger, MINUTE, NOON, core};
use headsup::{
    Actor, AdoptionRequest, Awareness, Durability, GoalChange, Kind, Recording, Signal, Source,
    WatchAnswer,
};
use serde_json::{Value, json};

pub const WATCHER: &str = "agent:main:main";
const TARGETS: [&str; 2] = ["agent:main:subagent:a", "agent:ops:telegram:b"];
const OLD: &str = "agent:main:telegram:old";
const ADOPTED: &str = "agent:main:subagent:adopted";

/// Pages of commits beside the file before they are brought into it.
pub const CHECKPOINT_PAGES: u32 = 40;

/// When the work is done, in ms: everything of a month before is old.
const TODAY: u64 = NOON + 31 * DAY;

/// A store, and what its gateway was told.
pub struct Work {
    pub folder: PathBuf,
    pub durability: Durability,
    pub ledger: Ledger,
    /// How many turns a person typed into the transcript.
    typed: u64,
    adopted: bool,
}

impl Work {
    pub fn new(folder: &Path, durability: Durability) -> Self {
        let ledger = Ledger::default();
        let work = Self { folder: folder.to_owned(), durability, ledger, typed: 0, adopted: false };
        fs::create_dir(work.sources()).unwrap();
        fs::write(work.transcript(), "").unwrap();
        work
    }

    pub fn path(&self) -> PathBuf {
        self.folder.join("store.db")
    }

    fn sources(&self) -> PathBuf {
        self.folder.join("sources")
    }

    fn transcript(&self) -> PathBuf {
        self.sources().join("3f2a.jsonl")
    }

    pub fn open(&self, now: u64) -> Option<Awareness> {
        let builder = Awareness::builder(self.path()).plugin(core()).manual_clock(now);
        // Few pages, so that a day's work brings commits into the file more than once.
        let builder = builder.durability(self.durability).checkpoint_pages(CHECKPOINT_PAGES);
        builder.source_folders([self.sources()]).open().ok()
    }

    /// All of it, with the store opened twice.
    pub fn done(&mut self) {
        if let Some(store) = self.open(NOON) {
            self.morning(&store);
        }
        if let Some(store) = self.open(TODAY) {
            self.evening(&store);
        }
    }

    fn morning(&mut self, store: &Awareness) {
        for _ in 0..3 {
            let _ = store.record(goal(OLD, Actor::human()));
        }
        store.set_clock(TODAY).unwrap();
        let _ = store.recover();
        for target in TARGETS {
            if store.watch(WATCHER, target, false) == Ok(WatchAnswer::Watched) {
                self.ledger.watched(WATCHER, target);
            }
        }
        self.records(store, "one", TARGETS[0], &Actor::human());
        self.records(store, "two", TARGETS[1], &Actor::agent(WATCHER));
        self.acknowledges(store);
        self.records(store, "three", TARGETS[0], &Actor::human());
        self.records(store, "four", TARGETS[1], &Actor::human());
        self.adopts(store);
        store.swap(&core());
        self.drains(store);
    }

    fn evening(&mut self, store: &Awareness) {
        self.records(store, "five", TARGETS[1], &Actor::human());
        self.adopts(store);
        self.checks(store);
        let _ = store.recover();
        self.drains(store);
        self.records(store, "six", TARGETS[0], &Actor::human());
    }

    /// Records what was never answered, and looks for turns: then all is done whatever failed.
    pub fn resumed(&mut self, store: &Awareness) {
        for (run, session) in self.ledger.unanswered() {
            self.records(store, &run, &session, &Actor::human());
        }
        if self.adopted {
            let _ = store.watch(WATCHER, ADOPTED, false);
            self.checks(store);
        }
    }

    /// No turn was told twice; and none is missing, if all that were typed were looked for.
    pub fn turns_are_told(&self, store: &Awareness, all: bool) {
        let delta = store.changes_since(ADOPTED, 0, None).unwrap();
        let human = delta.events.iter().filter(|it| it.kind == Kind::HumanDirectMessage);
        let turns = human.map(|event| {
            let payload: Value = serde_json::from_str(event.payload.as_deref().unwrap()).unwrap();
            payload["turns"].as_u64().unwrap_or(1)
        });
        let told: u64 = turns.sum();
        assert!(told <= self.typed, "{told} of {} turns", self.typed);
        assert!(!all || !self.adopted || told == self.typed, "{told} of {} turns", self.typed);
    }

    fn records(&mut self, store: &Awareness, run: &str, session: &str, actor: &Actor) {
        self.ledger.asks(run, session);
        // A recording that failed is simply made again.
        for _ in 0..2 {
            let signal = goal(session, actor.clone()).run_id(run).dedupe_key(run);
            match store.record(signal).unwrap() {
                Recording::Recorded(version) | Recording::Duplicate(version) => {
                    return self.ledger.recorded(run, version);
                }
                Recording::Unwatched => panic!("a goal is recorded whoever watches"),
                Recording::Failed { .. } => {}
            }
        }
    }

    fn acknowledges(&mut self, store: &Awareness) {
        for notice in store.take(WATCHER).unwrap_or_default() {
            self.ledger.acknowledges(WATCHER, &notice.target.key, notice.up_to);
            if let Ok(answer) = store.acknowledge(WATCHER, [&notice])
                && answer.acknowledged == 1
            {
                self.ledger.acknowledged(WATCHER, &notice.target.key, notice.up_to);
            }
        }
    }

    fn drains(&mut self, store: &Awareness) {
        self.ledger.drains(WATCHER);
        if let Ok(drained) = store.drain(WATCHER) {
            for notice in drained.notices.iter().filter(|it| it.target.key != ADOPTED) {
                self.ledger.acknowledged(WATCHER, &notice.target.key, notice.up_to);
            }
        }
    }

    /// Where a person goes on, once it is certain that the session was adopted.
    fn adopts(&mut self, store: &Awareness) {
        let source = Source::claude_file(self.transcript().to_str().unwrap());
        let adopted = store.adopt(AdoptionRequest::new(ADOPTED, source, "claude"));
        if adopted.is_ok() && store.watch(WATCHER, ADOPTED, false).is_ok() {
            self.adopted = true;
            self.checks(store);
        }
    }

    fn checks(&mut self, store: &Awareness) {
        self.typed += 1;
        let row = json!({
            "type": "user", "message": {"role": "user", "content": format!("turn {}", self.typed)},
            "timestamp": "1972-10-28T00:00:01.000Z",
        });
        let mut file = OpenOptions::new().append(true).open(self.transcript()).unwrap();
        writeln!(file, "{row}").unwrap();
        store.set_clock(store.now() + MINUTE).unwrap();
        let _ = store.check_upstreams();
    }

    /// A signal of this run on the first target.
    pub fn goal(&mut self, run: &str) -> Signal {
        self.ledger.asks(run, TARGETS[0]);
        goal(TARGETS[0], Actor::human()).run_id(run).dedupe_key(run)
    }

    /// The store after whatever happened, opened by somebody for whom the disk is well.
    pub fn reopened(&self) -> Awareness {
        self.open(TODAY + 10 * MINUTE).expect("the store opens again")
    }
}

fn goal(session: &str, actor: Actor) -> Signal {
    Signal::goal_changed(session, GoalChange::Updated, actor)
}
