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
    /// Empty unless somebody leads.
    waiting: VecDeque<Box<dyn Waiting>>,
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

/// A call, whatever it returns.
trait Job {
    /// When the call was made.
    fn made(&self) -> Instant;
    /// Runs in the instance, inside the transaction. Says whether to keep what it did.
    fn run(&mut self, instance: &mut Instance) -> Verdict;
    /// The group is over; a failure stands over the call's own answer, unless the call was rolled
    /// back by itself and depends on no commit.
    fn end(&mut self, failure: Option<&Failure>);
}

/// A call whose caller waits while others lead.
trait Waiting: Job + Send {
    /// Tells the caller to lead.
    fn lead(&self);
}

struct Call<T, E, F> {
    made: Instant,
    deadline: Duration,
    body: Option<F>,
    done: Option<Done<T, E>>,
}

impl<T, E, F> Call<T, E, F> {
    /// How it ended.
    fn take_done(&mut self) -> Done<T, E> {
        let did_not_run = || Done::failed(Failure::Trap("the call did not run".into()));
        self.done.take().unwrap_or_else(did_not_run)
    }
}

impl<T, E, F> Job for Call<T, E, F>
where
    F: FnOnce(&Core, Guest) -> wasmtime::Result<Result<T, E>>,
{
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

    fn end(&mut self, failure: Option<&Failure>) {
        let Some(failure) = failure else { return };
        match &mut self.done {
            None => self.done = Some(Done::failed(failure.clone())),
            Some(done) if matches!(done.answer, Ok(Ok(_))) => {
                done.answer = Err(failure.clone());
                done.effects = std::mem::take(&mut done.effects).rolled_back();
            }
            Some(_) => {}
        }
    }
}

/// A call in the queue.
struct Queued<T, E, F> {
    call: Call<T, E, F>,
    caller: SyncSender<Turn<T, E>>,
}

impl<T, E, F> Job for Queued<T, E, F>
where
    F: FnOnce(&Core, Guest) -> wasmtime::Result<Result<T, E>>,
{
    fn made(&self) -> Instant {
        self.call.made()
    }

    fn run(&mut self, instance: &mut Instance) -> Verdict {
        self.call.run(instance)
    }

    fn end(&mut self, failure: Option<&Failure>) {
        self.call.end(failure);
        // The caller waits for exactly this; if its thread is gone, so is its interest.
        let _ = self.caller.send(Turn::Done(self.call.take_done()));
    }
}

impl<T, E, F> Waiting for Queued<T, E, F>
where
    T: Send,
    E: Send,
    F: FnOnce(&Core, Guest) -> wasmtime::Result<Result<T, E>> + Send,
{
    fn lead(&self) {
        let _ = self.caller.send(Turn::Lead);
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
        let mut call = Call { made: Instant::now(), deadline, body: Some(body), done: None };
        let mut queue = self.queue();
        if queue.waiting.len() >= self.most_waiting {
            return Done::failed(Failure::Overloaded);
        }
        if !queue.led {
            queue.led = true;
            drop(queue);
            self.lead(Some(&mut call));
            return call.take_done();
        }
        // It is told to lead at most once, and that it is done once: neither ever waits.
        let (caller, turns) = sync_channel(2);
        queue.waiting.push_back(Box::new(Queued { call, caller }));
        drop(queue);
        self.wait(&turns)
    }

    /// Runs with the writer stopped: no call is in flight, and none starts before this returns.
    pub(crate) fn stopped<T>(&self, act: impl FnOnce(&mut Desk) -> T) -> T {
        act(&mut self.desk())
    }

    fn wait<T, E>(&self, turns: &Receiver<Turn<T, E>>) -> Done<T, E> {
        loop {
            match turns.recv() {
                Ok(Turn::Lead) => self.lead(None),
                Ok(Turn::Done(done)) => return done,
                Err(_) => {
                    let lost = "the call was lost in a failure of the host itself";
                    return Done::failed(Failure::Trap(lost.into()));
                }
            }
        }
    }

    /// Runs one group, then hands the lead on; also if the group panics. The group begins with the
    /// leader's own call: a given one, or the first in the queue.
    fn lead(&self, own: Option<&mut dyn Job>) {
        let _handing_on = HandingOn(self);
        let mut desk = self.desk();
        let next = || self.queue().waiting.pop_front();
        match own {
            Some(call) => run_group(&mut desk, call, next),
            None => {
                if let Some(mut call) = next() {
                    run_group(&mut desk, &mut *call, next);
                }
            }
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
fn run_group(
    desk: &mut Desk,
    first: &mut dyn Job,
    mut next: impl FnMut() -> Option<Box<dyn Waiting>>,
) {
    let started = Instant::now();
    let mut group = match desk.begin(first.made()) {
        Ok(group) => group,
        Err(failure) => return first.end(Some(&failure)),
    };
    let mut open = group.run(|instance| first.run(instance));
    let mut joined = Vec::new();
    while open
        && joined.len() + 1 < GROUP_CALLS
        && started.elapsed() < GROUP_TIME
        && let Some(mut call) = next()
    {
        open = group.run(|instance| call.run(instance));
        joined.push(call);
    }
    let failure = group.commit().err();
    first.end(failure.as_ref());
    for mut call in joined {
        call.end(failure.as_ref());
    }
}
