//! Two processes that deal with the same watcher's notices: every order of the calls of two small
//! scripts, held against the protocol after each call.

use std::collections::BTreeSet;

use harness::{Gateway, NOON};
use headsup::{Actor, Awareness, Durability, GoalChange, Notice, Recording, Signal};

/// What a process does next with the notices of the one watcher.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Somebody else changes the target.
    Change,
    /// Shows what is pending and remembers it.
    Take,
    /// Acknowledges what it showed last.
    Acknowledge,
    /// Shows and acknowledges at once.
    Drain,
    /// Puts everything pending back, as a start does.
    Recover,
}

use Step::{Acknowledge, Change, Drain, Recover, Take};

/// What processes do, each with another reason to go wrong.
const SCRIPTS: &[&[Step]] = &[
    &[Take, Acknowledge, Take, Acknowledge],
    &[Take, Change, Acknowledge],
    &[Recover, Take, Acknowledge],
    &[Take, Recover, Acknowledge],
    &[Change, Recover, Drain],
    &[Change, Take, Drain],
];

/// What the protocol says of one watcher and one target.
#[derive(Default)]
struct Truth {
    last_seen: u64,
    notified: u64,
    material: u64,
    /// Every position up to which a notice was shown.
    shown: BTreeSet<u64>,
}

impl Truth {
    fn pending(&self) -> Option<(u64, u64)> {
        (self.material > self.last_seen).then_some((self.last_seen, self.notified))
    }

    fn changes(&mut self, sequence: u64) {
        self.material = sequence;
        if self.notified == self.last_seen {
            self.notified = sequence;
        }
    }

    /// Whether it counts.
    fn acknowledges(&mut self, (since, up_to): (u64, u64)) -> bool {
        let counts = self.last_seen == since && since < up_to && up_to <= self.notified;
        if counts {
            self.last_seen = up_to;
            self.notified = self.material;
        }
        counts
    }
}

/// One process, and what it showed last.
struct Process<'a> {
    gateway: &'a Gateway,
    shown: Vec<Notice>,
}

/// One watcher and one target that nobody else has anything to do with.
struct Case {
    watcher: String,
    target: String,
    truth: Truth,
    /// What was done, for whoever has to find out why it failed.
    done: Vec<(usize, Step)>,
}

impl Case {
    fn step(&mut self, at: usize, step: Step, process: &mut Process<'_>) {
        self.done.push((at, step));
        let gateway = process.gateway;
        match step {
            Change => self.change(gateway),
            Take => {
                process.shown = gateway.take(&self.watcher).unwrap();
                let shown = self.one(&process.shown);
                assert_eq!(shown, self.truth.pending(), "{:?}", self.done);
                self.truth.shown.extend(shown.map(|(_, up_to)| up_to));
            }
            Acknowledge => {
                let notices = &process.shown;
                let answer = gateway.acknowledge(&self.watcher, notices).unwrap();
                let counts =
                    self.one(notices).is_some_and(|notice| self.truth.acknowledges(notice));
                assert_eq!(answer.acknowledged, u32::from(counts), "{:?}", self.done);
                let reopened = self.truth.pending().filter(|_| counts);
                assert_eq!(self.one(&answer.reopened), reopened, "{:?}", self.done);
            }
            Drain => {
                let drained = gateway.drain(&self.watcher).unwrap();
                let shown = self.one(&drained.notices);
                assert_eq!(shown, self.truth.pending(), "{:?}", self.done);
                if let Some(notice) = shown {
                    self.truth.shown.insert(notice.1);
                    assert!(self.truth.acknowledges(notice));
                }
                assert_eq!(self.one(&drained.reopened), self.truth.pending(), "{:?}", self.done);
            }
            Recover => {
                let pending = u32::from(self.truth.pending().is_some());
                assert_eq!(gateway.recover().unwrap().pending, pending, "{:?}", self.done);
                self.truth.notified = self.truth.material.max(self.truth.last_seen);
            }
        }
    }

    fn change(&mut self, gateway: &Gateway) {
        let signal =
            Signal::goal_changed(self.target.as_str(), GoalChange::Updated, Actor::human());
        let Recording::Recorded(sequence) = gateway.record(signal).unwrap() else {
            panic!("not recorded: {:?}", self.done)
        };
        self.truth.changes(sequence);
    }

    /// At most one notice, of this target, as its two positions.
    fn one(&self, notices: &[Notice]) -> Option<(u64, u64)> {
        assert!(notices.len() <= 1, "{notices:?}: {:?}", self.done);
        let notice = notices.first()?;
        assert_eq!(notice.target.key, self.target);
        Some((notice.since, notice.up_to))
    }

    /// The promises, whichever process is asked.
    fn holds(&self, processes: &[Process<'_>; 2]) {
        let Truth { last_seen, shown, .. } = &self.truth;
        for process in processes {
            let listed = process.gateway.take(&self.watcher).unwrap();
            assert_eq!(self.one(&listed), self.truth.pending(), "{:?}", self.done);
        }
        assert!(
            *last_seen == 0 || shown.contains(last_seen),
            "{last_seen} was acknowledged and never shown: {:?}",
            self.done
        );
    }
}

/// Every order of so many steps of one and so many of the other: which process is next.
fn orders(one: usize, other: usize) -> Vec<Vec<usize>> {
    if one + other == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, left) in [(0, one), (1, other)] {
        if left > 0 {
            for mut rest in orders(one - usize::from(at == 0), other - usize::from(at == 1)) {
                rest.insert(0, at);
                all.push(rest);
            }
        }
    }
    all
}

fn play(gateways: &[Gateway; 2], number: usize, scripts: [&[Step]; 2], order: &[usize]) {
    let mut case = Case {
        watcher: format!("agent:main:w{number}"),
        target: format!("agent:main:t{number}"),
        truth: Truth::default(),
        done: Vec::new(),
    };
    gateways[0].watches(&case.watcher, case.target.as_str());
    // Something is pending at the start, or most of it would be about nothing.
    case.change(&gateways[0]);
    let [one, other] = gateways;
    let mut processes = [one, other].map(|gateway| Process { gateway, shown: Vec::new() });
    let mut rest = scripts.map(|script| script.iter());
    for at in order {
        let step = *rest[*at].next().unwrap();
        case.step(*at, step, &mut processes[*at]);
        case.holds(&processes);
    }
    let Truth { last_seen, notified, material, .. } = &case.truth;
    let cursor = gateways[1].cursor(&case.watcher, case.target.as_str());
    assert_eq!(cursor, format!("explicit {last_seen} {notified} {material}"), "{:?}", case.done);
    // Whatever they left, one of them gets, and then nobody anything.
    gateways[1].drain(&case.watcher).unwrap();
    gateways[1].drain(&case.watcher).unwrap();
    for gateway in gateways {
        assert_eq!(gateway.take(&case.watcher).unwrap(), []);
        assert!(gateway.pending().unwrap().is_empty());
        drop(gateway.news());
    }
}

#[test]
fn two_processes_that_take_acknowledge_and_recover_keep_the_promises_in_every_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let open = || {
        let builder = Awareness::builder(&path).manual_clock(NOON);
        Gateway::with(builder.durability(Durability::Normal))
    };
    let gateways = [open(), open()];
    let mut number = 0;
    for (at, one) in SCRIPTS.iter().enumerate() {
        for other in &SCRIPTS[at..] {
            for order in orders(one.len(), other.len()) {
                play(&gateways, number, [*one, *other], &order);
                number += 1;
            }
        }
    }
    assert!(number > 500, "{number} orders");
}
