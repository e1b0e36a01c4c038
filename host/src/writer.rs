//! The one writer of a process: calls that write run one after the other on one connection, and
//! those that wait together commit together.
//!
//! There is no thread for it. A caller that finds nobody writing leads: it runs its own call and
//! whatever else is waiting by then, commits once, answers everybody, and hands the lead to the
//! first that came in meanwhile. So a lone caller pays for no hand-over between threads and never
//! waits for company, and callers in a crowd share one `fsync`.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::contract::{Core, Failure};
use crate::desk::Desk;
use crate::effects::Effects;
use crate::instance::{Guest, Instance, Verdict};

/// No call joins a group that is older than this.
const GROUP_TIME: Duration = Duration::from_millis(50);

/// Most calls in a group.
const GROUP_CALLS: usize = 100;

/// How a call ended. The inner result is the core's own answer, whose error side was rolled back.
pub(crate) struct Done<T, E> {
    pub(crate) answer: Result<Result<T, E>, Failure>,
    pub(crate) effects: Effects,
}

impl<T, E> Done<T, E> {
    /// A call that never ran.
    pub(crate) fn failed(failure: Failure) -> Self {
        Self { answer: Err(failure), effects: Effects::default() }
    }
}

/// The writer, shared by all threads.
pub(crate) struct Writer {
    queue: Mutex<Queue>,
    desk: Mutex<Desk>,
    most_waiting: usize,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Box<dyn Job>>,
    /// Whether somebody leads or was told to.
    led: bool,
}

/// What a waiting caller is told.
enum Turn<T, E> {
    /// Its call is first in the queue: lead.
    Lead,
    /// Its call has ended.
    Done(Done<T, E>),
}

/// A waiting call, whatever it returns.
trait Job: Send {
    /// Tells the caller to lead.
    fn lead(&self);
    /// When the call was made.
    fn made(&self) -> Instant;
    /// Runs in the instance, inside the transaction. Says whether to keep what it did.
    fn run(&mut self, instance: &mut Instance) -> Verdict;
    /// Tells the caller how it ended; a failure stands over the call's own answer, unless the call
    /// was rolled back by itself and depends on no commit.
    fn end(self: Box<Self>, failure: Option<&Failure>);
}

struct Call<T, E, F> {
    caller: SyncSender<Turn<T, E>>,
    made: Instant,
    deadline: Duration,
    body: Option<F>,
    done: Option<Done<T, E>>,
}

impl<T, E, F> Job for Call<T, E, F>
where
    T: Send + 'static,
    E: Send + 'static,
    F: FnOnce(&Core, Guest) -> wasmtime::Result<Result<T, E>> + Send,
{
    fn lead(&self) {
        // The caller waits for exactly this; if its thread is gone, so is its interest.
        let _ = self.caller.send(Turn::Lead);
    }

    fn made(&self) -> Instant {
        self.made
    }

    fn run(&mut self, instance: &mut Instance) -> Verdict {
        let Some(body) = self.body.take() else {
            return Verdict::Undo;
        };
        let (answer, verdict) = instance.transact(self.deadline, body);
        let effects = instance.take_effects();
        let effects = match verdict {
            Verdict::Keep => effects,
            Verdict::Undo | Verdict::Trapped => effects.rolled_back(),
        };
        self.done = Some(Done { answer, effects });
        verdict
    }

    fn end(self: Box<Self>, failure: Option<&Failure>) {
        let done = match (self.done, failure) {
            (Some(done), None) => done,
            (Some(done), Some(failure)) => match done.answer {
                Ok(Ok(_)) => {
                    Done { answer: Err(failure.clone()), effects: done.effects.rolled_back() }
                }
                Ok(Err(_)) | Err(_) => done,
            },
            (None, Some(failure)) => Done::failed(failure.clone()),
            (None, None) => Done::failed(Failure::Trap("the call did not run".into())),
        };
        let _ = self.caller.send(Turn::Done(done));
    }
}

impl Writer {
    /// A writer over this desk, with at most so many calls waiting.
    pub(crate) fn new(desk: Desk, most_waiting: usize) -> Self {
        Self { queue: Mutex::default(), desk: Mutex::new(desk), most_waiting }
    }

    /// Runs a call in a transaction that can write, and returns once it is committed.
    pub(crate) fn run<T, E>(
        &self,
        deadline: Duration,
        body: impl FnOnce(&Core, Guest) -> wasmtime::Result<Result<T, E>> + Send + 'static,
    ) -> Done<T, E>
    where
        T: Send + 'static,
        E: Send + 'static,
    {
        // It is told to lead at most once, and that it is done once: neither ever waits.
        let (caller, turns) = sync_channel(2);
        let call = Call { caller, made: Instant::now(), deadline, body: Some(body), done: None };
        match self.enter(Box::new(call)) {
            Some(lead) => self.wait(lead, &turns),
            None => Done::failed(Failure::Overloaded),
        }
    }

    /// Runs with the writer stopped: no call is in flight, and none starts before this returns.
    pub(crate) fn stopped<T>(&self, act: impl FnOnce(&mut Desk) -> T) -> T {
        act(&mut self.desk())
    }

    /// Queues a call. Returns whether its caller has to lead, or nothing if the queue is full.
    fn enter(&self, job: Box<dyn Job>) -> Option<bool> {
        let mut queue = self.queue();
        if queue.waiting.len() >= self.most_waiting {
            return None;
        }
        queue.waiting.push_back(job);
        let lead = !queue.led;
        queue.led = true;
        Some(lead)
    }

    fn wait<T, E>(&self, lead: bool, turns: &Receiver<Turn<T, E>>) -> Done<T, E> {
        if lead {
            self.lead();
        }
        loop {
            match turns.recv() {
                Ok(Turn::Lead) => self.lead(),
                Ok(Turn::Done(done)) => return done,
                Err(_) => {
                    let lost = "the call was lost in a failure of the host itself";
                    return Done::failed(Failure::Trap(lost.into()));
                }
            }
        }
    }

    /// Runs one group, then hands the lead on; also if the group panics.
    fn lead(&self) {
        let _handing_on = HandingOn(self);
        let mut desk = self.desk();
        let next = || self.queue().waiting.pop_front();
        if let Some(first) = next() {
            run_group(&mut desk, first, next);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A desk whose holder panicked has lost its instance and is set up anew.
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Passes the lead to whoever waits first.
struct HandingOn<'a>(&'a Writer);

impl Drop for HandingOn<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        match queue.waiting.front() {
            Some(job) => job.lead(),
            None => queue.led = false,
        }
    }
}

/// One transaction: the first call and whatever else waits, until the group is old or large, or a
/// call of it had to be undone before any was kept, or trapped.
fn run_group(desk: &mut Desk, first: Box<dyn Job>, mut next: impl FnMut() -> Option<Box<dyn Job>>) {
    let started = Instant::now();
    let mut group = match desk.begin(first.made()) {
        Ok(group) => group,
        Err(failure) => return first.end(Some(&failure)),
    };
    let mut ran = Vec::new();
    let mut job = Some(first);
    while let Some(mut call) = job {
        let more = group.run(|instance| call.run(instance));
        ran.push(call);
        let open = more && ran.len() < GROUP_CALLS && started.elapsed() < GROUP_TIME;
        job = if open { next() } else { None };
    }
    let failure = group.commit().err();
    for call in ran {
        call.end(failure.as_ref());
    }
}
