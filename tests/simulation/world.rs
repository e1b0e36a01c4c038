//! Plays steps on several processes and on the model, and records what was asked, answered and heard.

use harness::{NOON, News};
use headsup::{AdoptionRequest, Happening, Notice, Policy, Receipt, Signal, Source};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::ask::{Question, ask, expect};
use crate::check::{self, Verdict};
use crate::disk::{self, Disk};
use crate::faults::Fault;
use crate::history::{Answer, Entry, Heard};
use crate::links::{CATALOG, Links};
use crate::model::Model;
use crate::operations::{Operation, at_its_time, resolved, session_ref};
use crate::process::{Process, Setting};
use crate::seen::{Seen, in_order};
use crate::steps::{Act, PROCESSES, Step, Steps};

/// Everything is looked at after so many steps at the latest.
const LOOK_EVERY: u64 = 12;
/// How many of the taken notices are remembered, to be acknowledged late or again.
const TAKEN: usize = 400;

pub struct World {
    steps: Steps,
    step: u64,
    model: Model,
    links: Links,
    disk: Disk,
    policy: Policy,
    processes: Vec<Process>,
    /// Who meets a lock, and who only looks, when that is the fault.
    hasty: Process,
    looking: Process,
    /// The connection by which faults are brought about.
    outside: Connection,
    /// Notices that were taken, by whatever process, with their watcher.
    taken: Vec<(String, Notice)>,
    history: Vec<Entry>,
    /// Goes last.
    folder: TempDir,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let folder = TempDir::new().expect("a folder");
        let policy = Policy {
            notice_template: String::new(),
            history_days: 7,
            history_rows: [3, 12, 40][usize::try_from(seed % 3).unwrap_or(0)],
            cursor_days: 30,
        };
        let (disk, store) = (Disk::default(), folder.path().join("store.db"));
        let mut model = Model::new(NOON, &policy);
        let setting = Setting { store: &store, policy: &policy, disk: &disk };
        let processes = (0..PROCESSES).map(|_| {
            model.start();
            setting.start(NOON)
        });
        let processes: Vec<Process> = processes.collect();
        let (hasty, looking) = (setting.start_hasty(NOON), setting.start_looking(NOON));
        let outside = Connection::open(&store).expect("the store opens");
        Self {
            steps: Steps::new(seed),
            step: 0,
            model,
            links: Links::default(),
            disk,
            processes,
            hasty,
            looking,
            outside,
            policy,
            taken: Vec::new(),
            history: Vec::new(),
            folder,
        }
    }

    pub fn into_history(self) -> Vec<Entry> {
        self.history
    }

    pub fn play(&mut self, steps: u64) -> Verdict {
        for _ in 0..steps {
            let Step { process, fault, act } = self.steps.next();
            let words = format!("step {} by process {process}, {fault:?}, {act:?}", self.step);
            self.take_step(process, fault, act).map_err(|wrong| format!("{words}\n{wrong}"))?;
            self.step += 1;
        }
        Ok(())
    }

    fn take_step(&mut self, process: usize, fault: Option<Fault>, act: Act) -> Verdict {
        let act = self.prepared(act, self.processes[process].now);
        let fault = fault.filter(|fault| may_fail(&act, *fault) && !self.history.is_empty());
        if fault.is_some() {
            self.look_now(process)?;
        }
        self.exchange(process);
        let done = self.act(process, fault, &act);
        self.exchange(process);
        let (answer, expected, heard) = done;
        let entry = Entry { step: self.step, process, fault, act, answer, heard, look: None };
        let verdict = self.judge(&entry, expected);
        let look =
            entry.failed() || changes_much(&entry.act) || self.step.is_multiple_of(LOOK_EVERY);
        self.history.push(entry);
        verdict?;
        if look { self.look_now((process + 1) % PROCESSES) } else { Ok(()) }
    }

    /// The model is of one process; this makes it that of another, and back.
    fn exchange(&mut self, process: usize) {
        let process = &mut self.processes[process];
        std::mem::swap(&mut self.model.now, &mut process.now);
        std::mem::swap(&mut self.model.wakes, &mut process.woken);
    }

    /// Strategies do not know what time it is, nor what the store counts.
    fn prepared(&self, act: Act, now: u64) -> Act {
        let prepare = |signal: &Signal, number: usize| {
            let mut signal = at_its_time(signal, now);
            // By default, the link's number makes these keys, which no model of the log knows.
            let linked =
                matches!(signal.happening, Happening::Adopted(_) | Happening::UpstreamMissing(_));
            if linked && signal.dedupe_key.is_none() {
                signal.dedupe_key = Some(format!("step-{}-{number}", self.step));
            }
            signal
        };
        match act {
            Act::Ask(Operation::Record(signal, spelling)) => {
                Act::Ask(Operation::Record(Box::new(prepare(&signal, 0)), spelling))
            }
            Act::Ask(Operation::RecordMany(signals)) => {
                let all = signals.iter().enumerate();
                let all = all.map(|(number, signal)| prepare(signal, number));
                Act::Ask(Operation::RecordMany(all.collect()))
            }
            Act::Adopt { session, file } => {
                let of = resolved(&session_ref(session));
                let may = self.disk.rows(file).is_some() && self.links.may_adopt(&of, file);
                if may { act } else { Act::Swap }
            }
            other => other,
        }
    }

    /// Does it on both sides: what was answered, what should have been, and what was heard. The
    /// second is absent if the first says that nothing was done.
    fn act(
        &mut self,
        process: usize,
        fault: Option<Fault>,
        act: &Act,
    ) -> (Answer, Option<Answer>, Vec<Heard>) {
        if let Act::Ask(operation) = act {
            return match operation {
                Operation::Clock(by) => self.clock(process, *by),
                Operation::Reopen => self.reopen(process),
                _ => self.ask(process, fault, operation),
            };
        }
        let Self { processes, model, links, disk, .. } = self;
        let at = &processes[process];
        let (answer, expected) = match act {
            Act::Swap => {
                at.awareness.swap(&harness::core());
                (Answer::Done, Answer::Done)
            }
            Act::Adopt { session, file } => {
                let (named, path) = (session_ref(*session), disk::path(*file));
                let source = Source::claude_file(path);
                let request = AdoptionRequest::new(named.clone(), source, CATALOG);
                let answer = match at.awareness.adopt(request) {
                    Ok(it) => Answer::Adopted(it.adopted, it.state_version),
                    Err(error) => Answer::Failed(error.to_string()),
                };
                let rows = disk.rows(*file).unwrap_or_default();
                let (adopted, version) = links.adopt(model, &resolved(&named), *file, &rows);
                (answer, Answer::Adopted(adopted, version))
            }
            Act::Check { file } => {
                disk.only(*file);
                let answer = match at.awareness.check_upstreams() {
                    Ok(tally) => Answer::Checked(tally),
                    Err(error) => Answer::Failed(error.to_string()),
                };
                (answer, Answer::Checked(links.check(model, disk, *file)))
            }
            Act::Disk { file, change } => {
                disk.change(*file, change);
                (Answer::Done, Answer::Done)
            }
            Act::Ask(_) => unreachable!("done above"),
        };
        let heard = at.heard();
        (answer, Some(expected), heard)
    }

    fn ask(
        &mut self,
        process: usize,
        fault: Option<Fault>,
        operation: &Operation,
    ) -> (Answer, Option<Answer>, Vec<Heard>) {
        let question = Question { operation, receipts: self.receipts(operation) };
        let at = match fault {
            Some(Fault::Locked) => &self.hasty,
            Some(Fault::LookingOnly) => &self.looking,
            _ => &self.processes[process],
        };
        if at.awareness.now() != self.model.now {
            at.awareness.set_clock(self.model.now).expect("a manual clock");
        }
        if let Some(fault) = fault {
            fault.begin(&self.outside);
        }
        let answer = ask(&at.awareness, &question);
        let heard = at.heard();
        if let Some(fault) = fault {
            fault.end(&self.outside);
        }
        if let (Answer::Notices(notices), Operation::Take(watcher)) = (&answer, operation) {
            self.taken.extend(notices.iter().map(|it| ((*watcher).to_owned(), it.clone())));
            let surplus = self.taken.len().saturating_sub(TAKEN);
            self.taken.drain(..surplus);
        }
        let failed = failed(&answer);
        let expected = (!failed).then(|| expect(&mut self.model, &question));
        if let (Operation::Delete(session), false) = (operation, failed) {
            self.links.delete(&resolved(&session_ref(*session)));
        }
        (answer, expected, heard)
    }

    fn clock(&mut self, process: usize, by: i64) -> (Answer, Option<Answer>, Vec<Heard>) {
        let now = self.model.now.saturating_add_signed(by);
        let at = &self.processes[process];
        at.awareness.set_clock(now).expect("a manual clock");
        self.model.clock(now);
        (Answer::Done, Some(Answer::Done), at.heard())
    }

    /// The process goes, and another comes in its place.
    fn reopen(&mut self, process: usize) -> (Answer, Option<Answer>, Vec<Heard>) {
        let store = self.folder.path().join("store.db");
        let Process { now, awareness, .. } = self.processes.remove(process);
        drop(awareness);
        let setting = Setting { store: &store, policy: &self.policy, disk: &self.disk };
        let mut started = setting.start(self.model.now);
        // Its clock is the model's at present; what stands here is swapped back after the step.
        started.now = now;
        let heard = started.heard();
        self.processes.insert(process, started);
        self.model.start();
        (Answer::Done, Some(Answer::Done), heard)
    }

    /// What an acknowledgement gives back: the newest of what was taken but `older`, one for each
    /// target; or what was perhaps never shown.
    fn receipts(&self, operation: &Operation) -> Vec<Receipt> {
        match operation {
            Operation::Acknowledge { target, since, up_to, .. } => {
                vec![Receipt { target: session_ref(*target), since: *since, up_to: *up_to }]
            }
            Operation::AcknowledgeTaken { watcher, older, most } => {
                let mut receipts: Vec<Receipt> = Vec::new();
                let taken = self.taken.iter().rev().filter(|(it, _)| it == watcher);
                for receipt in taken.skip(*older).map(|(_, notice)| Receipt::from(notice)) {
                    if receipts.len() < *most
                        && receipts.iter().all(|it| it.target != receipt.target)
                    {
                        receipts.push(receipt);
                    }
                }
                receipts
            }
            _ => Vec::new(),
        }
    }

    /// Whether it was answered as the model says, or failed as it may.
    fn judge(&mut self, entry: &Entry, expected: Option<Answer>) -> Verdict {
        let Some(expected) = expected else {
            let reasons = entry.fault.map_or(&[][..], Fault::reasons);
            let words = format!("{:?}", entry.answer);
            return if reasons.iter().any(|reason| words.contains(reason)) {
                Ok(())
            } else {
                Err(format!("it must not fail so: {words}"))
            };
        };
        if entry.answer != expected {
            return Err(format!("answered {:?}\nthe model: {expected:?}", entry.answer));
        }
        let news: Vec<News> = entry.heard.iter().map(|it| it.news.clone()).collect();
        let (news, expected) = (in_order(news), in_order(std::mem::take(&mut self.model.news)));
        if news == expected {
            Ok(())
        } else {
            Err(format!("heard {news:?}\nthe model: {expected:?}"))
        }
    }

    /// Everything that can be seen, by this process and by the model, into the last entry.
    fn look_now(&mut self, process: usize) -> Verdict {
        let Some(entry) = self.history.last_mut().filter(|entry| entry.look.is_none()) else {
            return Ok(());
        };
        let at = &self.processes[process].awareness;
        let seen = Seen::of_gateway(at, Vec::new(), &self.model, String::new());
        entry.look = Some(seen.clone());
        let expected = Seen::of_model(&mut self.model, String::new());
        check::agreement(&seen, &expected)
    }
}

fn failed(answer: &Answer) -> bool {
    match answer {
        Answer::Failed(_) => true,
        Answer::Outcomes(all) => {
            all.iter().any(|it| matches!(it, headsup::Recording::Failed { .. }))
        }
        _ => false,
    }
}

/// Whether a fault can be brought about around this.
fn may_fail(act: &Act, fault: Fault) -> bool {
    match act {
        Act::Ask(Operation::Clock(_) | Operation::Reopen) => false,
        Act::Ask(operation) => {
            let records = matches!(operation, Operation::Record(..) | Operation::RecordMany(_));
            fault != Fault::Full || records
        }
        _ => false,
    }
}

/// After these, whatever came before is looked at before anything else can hide it.
fn changes_much(act: &Act) -> bool {
    match act {
        Act::Adopt { .. } | Act::Check { .. } => true,
        Act::Ask(operation) => matches!(
            operation,
            Operation::Recover
                | Operation::Prune(_)
                | Operation::Reset(_)
                | Operation::Delete(_)
                | Operation::Restored
                | Operation::Reopen
        ),
        _ => false,
    }
}
