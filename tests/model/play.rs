//! Plays a history on a store and on the model, and checks after every step.

use std::path::PathBuf;

use harness::{Gateway, NOON};
use headsup::{Awareness, Durability, Notice, Policy, Receipt, Recording, Signal, WatchAnswer};
use proptest::test_runner::TestCaseError;
use tempfile::TempDir;

use crate::check::{self, Ledger, Verdict};
use crate::model::Model;
use crate::operations::{History, Operation, at_its_time, resolved, session_ref};
use crate::seen::Seen;

const HISTORY_DAYS: u32 = 7;
const CURSOR_DAYS: u32 = 30;

/// Changes what is seen after an operation; plants a fault, or does nothing.
pub type Distort<'a> = &'a mut dyn FnMut(&Operation, &mut Seen);

/// Plays a history. What it says when something is wrong is for people.
pub fn play(history: &History, distort: Distort<'_>) -> Result<(), TestCaseError> {
    let mut game = Game::start(history);
    for (step, operation) in history.operations.iter().enumerate() {
        game.step(operation, distort)
            .map_err(|wrong| TestCaseError::fail(format!("step {step}, {operation:?}\n{wrong}")))?;
    }
    Ok(())
}

struct Game {
    gateway: Gateway,
    model: Model,
    policy: Policy,
    /// Absent: the store is in memory.
    folder: Option<TempDir>,
    /// Every notice that was ever taken, with its watcher.
    taken: Vec<(String, Notice)>,
    ledger: Ledger,
    before: Option<Seen>,
}

impl Game {
    fn start(history: &History) -> Self {
        let folder = (!history.in_memory).then(|| TempDir::new().expect("a folder"));
        let policy = Policy {
            notice_template: String::new(),
            history_days: HISTORY_DAYS,
            history_rows: history.rows,
            cursor_days: CURSOR_DAYS,
        };
        let mut model = Model::new(NOON, &policy);
        model.start();
        let gateway = open(folder.as_ref(), &policy, NOON);
        Self {
            gateway,
            model,
            policy,
            folder,
            taken: Vec::new(),
            ledger: Ledger::default(),
            before: None,
        }
    }

    fn step(&mut self, operation: &Operation, distort: Distort<'_>) -> Verdict {
        let (real, expected) = self.perform(operation);
        let news = self.gateway.news();
        let mut seen = Seen::of_gateway(&self.gateway, news, &self.model, real);
        distort(operation, &mut seen);
        let expected = Seen::of_model(&mut self.model, expected);
        check::positions(&seen)?;
        check::no_notice_for_ones_own_act(&seen)?;
        if let Some(before) = &self.before {
            check::text_unchanged_while_pending(before, &seen)?;
        }
        self.ledger.check(&seen)?;
        check::agreement(&seen, &expected)?;
        self.before = Some(seen);
        Ok(())
    }

    /// Does it on both sides. The answers, in words.
    fn perform(&mut self, operation: &Operation) -> (String, String) {
        let Self { gateway, model, .. } = self;
        match operation {
            Operation::Record(signal, spelling) => {
                let signal = at_its_time(signal, model.now);
                let outcome = gateway.record(spelling.signal(&signal)).expect("a valid signal");
                (words(&outcome), words(&model.record(&signal)))
            }
            Operation::RecordMany(signals) => {
                let signals: Vec<Signal> =
                    signals.iter().map(|signal| at_its_time(signal, model.now)).collect();
                let outcomes = gateway.record_many(signals.clone()).expect("valid signals");
                let expected: Vec<Recording> = signals.iter().map(|it| model.record(it)).collect();
                (words(&outcomes), words(&expected))
            }
            Operation::Watch { watcher, target, ambient, spelling } => {
                let target = session_ref(*target);
                let answer = gateway
                    .watch(&spelling.key(watcher), spelling.session(&target), *ambient)
                    .expect("an answer");
                let watched = answer == WatchAnswer::Watched;
                (words(&watched), words(&model.watch(watcher, &resolved(&target), *ambient)))
            }
            Operation::Unwatch { watcher, target } => {
                let target = session_ref(*target);
                let removed = gateway.unwatch(watcher, target.clone()).expect("an answer");
                (words(&removed), words(&model.unwatch(watcher, &resolved(&target))))
            }
            Operation::Take(watcher) => {
                let notices = gateway.take(watcher).expect("notices");
                self.taken
                    .extend(notices.iter().map(|notice| ((*watcher).to_owned(), notice.clone())));
                (words(&notices), words(&model.take(watcher)))
            }
            Operation::AcknowledgeTaken { watcher, older, most } => {
                let receipts = self.receipts(watcher, *older, *most);
                self.acknowledge(watcher, receipts)
            }
            Operation::Acknowledge { watcher, target, since, up_to } => {
                let target = session_ref(*target);
                self.acknowledge(watcher, vec![Receipt { target, since: *since, up_to: *up_to }])
            }
            Operation::Drain(watcher) => {
                let drained = gateway.drain(watcher).expect("notices");
                for notice in &drained.notices {
                    self.ledger.acknowledge(watcher, notice);
                }
                let notices = model.take(watcher);
                let mut reopened = Vec::new();
                for notice in &notices {
                    let Notice { target, since, up_to, .. } = notice;
                    reopened.extend(model.acknowledge(watcher, target, *since, *up_to).1);
                }
                (words(&(drained.notices, drained.reopened)), words(&(notices, reopened)))
            }
            _ => self.maintain(operation),
        }
    }

    /// What is done to a store rather than with it.
    fn maintain(&mut self, operation: &Operation) -> (String, String) {
        let Self { gateway, model, .. } = self;
        match operation {
            Operation::Clock(by) => {
                let now = model.now.saturating_add_signed(*by);
                gateway.set_clock(now).expect("a manual clock");
                model.clock(now);
                (String::new(), String::new())
            }
            Operation::Recover => {
                let recovery = gateway.recover().expect("a recovery");
                (words(&(recovery.pending, recovery.pruned)), words(&model.recover(true)))
            }
            Operation::Prune(urgency) => {
                let pruning = gateway.prune(*urgency).expect("a prune");
                let due = *urgency == headsup::Urgency::AtStart || model.is_prune_due();
                let expected = due.then(|| model.prune());
                (words(&pruning.map(|it| (it.events, it.cursors))), words(&expected))
            }
            Operation::Reset(session) => {
                let removal = gateway.reset(session_ref(*session)).expect("a removal");
                let expected = (model.reset(&resolved(&session_ref(*session))), 0);
                (words(&(removal.cursors, removal.events)), words(&expected))
            }
            Operation::Delete(session) => {
                let removal = gateway.delete(session_ref(*session)).expect("a removal");
                let expected = model.delete(&resolved(&session_ref(*session)));
                (words(&(removal.cursors, removal.events)), words(&expected))
            }
            Operation::Restored => {
                (words(&gateway.restored().expect("a position")), words(&model.restored()))
            }
            Operation::Reopen => {
                self.reopen();
                (String::new(), String::new())
            }
            other => unreachable!("{other:?} is no maintenance"),
        }
    }

    /// Only a file outlives its process.
    fn reopen(&mut self) {
        if let Some(folder) = &self.folder {
            // The old process goes first: two on one file are another test's matter.
            self.gateway = Gateway::open();
            self.gateway = open(Some(folder), &self.policy, self.model.now);
            self.model.start();
        }
    }

    /// The newest receipts of a watcher but `older`, one for each target.
    fn receipts(&self, watcher: &str, older: usize, most: usize) -> Vec<Receipt> {
        let mut receipts: Vec<Receipt> = Vec::new();
        let taken = self.taken.iter().rev().filter(|(it, _)| it == watcher);
        for receipt in taken.skip(older).map(|(_, notice)| Receipt::from(notice)) {
            if receipts.len() < most && receipts.iter().all(|it| it.target != receipt.target) {
                receipts.push(receipt);
            }
        }
        receipts
    }

    fn acknowledge(&mut self, watcher: &str, receipts: Vec<Receipt>) -> (String, String) {
        let answer = self.gateway.acknowledge(watcher, receipts.clone()).expect("an answer");
        let (mut count, mut reopened) = (0, Vec::new());
        for receipt in receipts {
            let target = resolved(&receipt.target);
            let Receipt { since, up_to, .. } = receipt;
            let (counts, rest) = self.model.acknowledge(watcher, &target, since, up_to);
            if counts {
                count += 1;
                let text = String::new();
                self.ledger.acknowledge(watcher, &Notice { target, since, up_to, text });
            }
            reopened.extend(rest);
        }
        (words(&(answer.acknowledged, answer.reopened)), words(&(count, reopened)))
    }
}

fn open(folder: Option<&TempDir>, policy: &Policy, now: u64) -> Gateway {
    let path = folder.map_or(PathBuf::from(":memory:"), |folder| folder.path().join("store.db"));
    let builder = Awareness::builder(path)
        .durability(Durability::Normal)
        .policy(policy.clone())
        .manual_clock(now);
    Gateway::with(builder)
}

fn words(it: &dyn std::fmt::Debug) -> String {
    format!("{it:?}")
}
