//! Threads that read sources: several at once, each read for as long as the deadline. One that hangs
//! is left alone; it stops neither the others nor the next check, and is not begun again before it
//! ended. One that hung the last time comes last.

mod read;

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use self::read::{Hanging, Prospect, Read};
use super::{SourceFiles, unavailable};
use crate::contract::{FileRead, Found};

/// So many reads of one round run at once, those that stall not counted.
const ABREAST: usize = 4;

/// Most threads there are at any time, those that hang included: a thread that hangs costs little.
const THREADS: usize = 1_024;

/// A read that takes this long makes room for another one.
const STALL: Duration = Duration::from_millis(250);

/// Most sources that are remembered to have hung; beyond, they come first once more.
const REMEMBERED: usize = 10_000;

/// Threads that read, over one [`SourceFiles`].
pub(crate) struct Crew {
    shared: Arc<Shared>,
}

struct Shared {
    files: Box<dyn SourceFiles>,
    deadline: Duration,
    state: Mutex<State>,
    /// Something was read, room was made, or all of it ends.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    rounds: HashMap<u64, Round>,
    last_round: u64,
    /// Reads beyond their deadline that have not ended, by round and number.
    hanging: HashMap<(u64, usize), Hanging>,
    /// The places of sources whose last read went beyond its deadline, ended or not.
    hung: HashSet<Vec<String>>,
    threads: usize,
    stopped: bool,
}

/// Reads that somebody waits for.
struct Round {
    reads: Arc<[Read]>,
    /// Those that nobody took.
    queue: VecDeque<usize>,
    /// Those that run, and since when.
    running: HashMap<usize, Instant>,
    /// What was found and not yet handed over.
    found: Vec<(usize, Found)>,
    /// How many of these are files, with their bytes.
    files: usize,
    threads: usize,
}

impl Crew {
    /// Nobody yet: threads come with the first reads and go after the last.
    pub(crate) fn new(files: Box<dyn SourceFiles>, deadline: Duration) -> Self {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Self { shared: Arc::new(Shared { files, deadline, state, changed }) }
    }

    /// Reads both ends of a file.
    pub(crate) fn read_ends(&self, path: String) -> Found {
        let mut answer = None;
        self.read(vec![Read::Ends(path)], |_, found| {
            answer = Some(found);
            true
        });
        answer.unwrap_or_else(|| unavailable("the store is being closed"))
    }

    /// Reads on in all of these and hands over what was found, in the order in which it is found, with
    /// its number; on this thread, and until `each` answers false. Returns early once it was stopped.
    pub(crate) fn read_on(&self, reads: Vec<FileRead>, each: impl FnMut(usize, Found) -> bool) {
        self.read(reads.into_iter().map(Read::On).collect(), each);
    }

    fn read(&self, reads: Vec<Read>, mut each: impl FnMut(usize, Found) -> bool) {
        let round = self.enter(reads);
        while let Some(found) = round.next() {
            for (number, found) in found {
                if !each(number, found) {
                    return;
                }
            }
        }
    }

    /// Ends all waiting. Reads that hang keep their threads until they end.
    pub(crate) fn stop(&self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_all();
    }

    fn enter(&self, reads: Vec<Read>) -> Waiting<'_> {
        let mut state = self.shared.lock();
        state.last_round += 1;
        let id = state.last_round;
        let round = Round::new(reads.into(), &state.hung);
        state.rounds.insert(id, round);
        Waiting { shared: &self.shared, id }
    }
}

/// Somebody who waits for a round; the round goes with it.
struct Waiting<'a> {
    shared: &'a Arc<Shared>,
    id: u64,
}

impl Waiting<'_> {
    /// What was found since; nothing once all of it was handed over, or nobody may wait any longer.
    fn next(&self) -> Option<Vec<(usize, Found)>> {
        let Self { shared, id } = self;
        let mut state = shared.lock();
        loop {
            if state.stopped {
                return None;
            }
            let now = Instant::now();
            state.give_up(*id, now, shared.deadline);
            self.staff(&mut state, now);
            let round = state.rounds.get_mut(id)?;
            if !round.found.is_empty() {
                round.files = 0;
                let found = std::mem::take(&mut round.found);
                drop(state);
                // Threads may wait until this was taken.
                shared.changed.notify_all();
                return Some(found);
            }
            if round.is_over() {
                return None;
            }
            let rest = round.rest(now, shared.deadline, shared.stall());
            (state, _) =
                shared.changed.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Sees to it that enough threads read that do not stall; if none can, nobody waits for them.
    fn staff(&self, state: &mut State, now: Instant) {
        let Self { shared, id } = self;
        let stall = shared.stall();
        loop {
            if !state.can_take(*id) {
                return;
            }
            let (threads, hanging) = (state.threads, state.hanging_of(*id));
            let Some(round) = state.rounds.get_mut(id) else {
                return;
            };
            let moving = round.threads.saturating_sub(hanging + round.stalled(now, stall));
            if moving >= ABREAST.min(round.queue.len()) {
                return;
            }
            if threads < THREADS && start(shared, *id) {
                round.threads += 1;
                state.threads += 1;
            } else {
                if round.threads == hanging {
                    round.refuse_rest();
                }
                return;
            }
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.lock().rounds.remove(&self.id);
        self.shared.changed.notify_all();
    }
}

impl Shared {
    /// A short deadline, as in tests, is no time to wait for a stall.
    fn stall(&self) -> Duration {
        STALL.min(self.deadline / 4)
    }

    /// Nobody else's code runs under the lock, so a poisoned one is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Leaves reads alone that are beyond their deadline.
    fn give_up(&mut self, id: u64, now: Instant, deadline: Duration) {
        let Some(round) = self.rounds.get_mut(&id) else {
            return;
        };
        let late = |(_, since): &(&usize, &Instant)| now.duration_since(**since) >= deadline;
        let late: Vec<usize> =
            round.running.iter().filter(late).map(|(number, _)| *number).collect();
        for number in late {
            round.running.remove(&number);
            let why = format!("no answer within {} ms", deadline.as_millis());
            round.found.push((number, unavailable(&why)));
            let hanging = Hanging::of(&round.reads[number]);
            if self.hung.len() >= REMEMBERED {
                self.hung.clear();
            }
            self.hung.insert(hanging.places.clone());
            self.hanging.insert((id, number), hanging);
        }
    }

    /// Whether there is a read in a round that may be begun now: if so, it is the first by then. What
    /// must wait comes behind the others; what shall not be read is answered.
    fn can_take(&mut self, id: u64) -> bool {
        let Some(round) = self.rounds.get_mut(&id) else {
            return false;
        };
        for _ in 0..round.queue.len() {
            let Some(number) = round.queue.pop_front() else {
                return false;
            };
            let running = round.running.keys().map(|number| &round.reads[*number]);
            match round.reads[number].prospect(self.hanging.values(), running) {
                Prospect::Now => {
                    round.queue.push_front(number);
                    return true;
                }
                Prospect::Later => round.queue.push_back(number),
                Prospect::Never(why) => round.found.push((number, unavailable(why))),
            }
        }
        false
    }

    /// The next read of a round for a thread; none if there is nothing for it to do.
    fn take(&mut self, id: u64) -> Option<(Arc<[Read]>, usize)> {
        if self.stopped || !self.can_take(id) {
            return None;
        }
        let round = self.rounds.get_mut(&id)?;
        let number = round.queue.pop_front()?;
        round.running.insert(number, Instant::now());
        Some((Arc::clone(&round.reads), number))
    }

    /// Takes in what a thread found. Returns whether somebody has to hear of it now.
    fn found(&mut self, id: u64, number: usize, found: Found) -> bool {
        self.hanging.remove(&(id, number));
        let Some(round) = self.rounds.get_mut(&id) else {
            return false;
        };
        // A read that was given up was answered then.
        if round.running.remove(&number).is_none() {
            return true;
        }
        self.hung.remove(round.reads[number].places());
        let quiet = matches!(found, Found::Unchanged);
        round.files += usize::from(matches!(found, Found::File(_)));
        round.found.push((number, found));
        !quiet || round.running.is_empty()
    }

    fn hanging_of(&self, id: u64) -> usize {
        self.hanging.keys().filter(|(round, _)| *round == id).count()
    }
}

impl Round {
    /// With those last that hung the last time.
    fn new(reads: Arc<[Read]>, hung: &HashSet<Vec<String>>) -> Self {
        let (last, first): (Vec<_>, Vec<_>) =
            (0..reads.len()).partition(|number| hung.contains(reads[*number].places()));
        let queue = first.into_iter().chain(last).collect();
        Self { reads, queue, running: HashMap::new(), found: Vec::new(), files: 0, threads: 0 }
    }

    fn is_over(&self) -> bool {
        self.queue.is_empty() && self.running.is_empty() && self.found.is_empty()
    }

    fn stalled(&self, now: Instant, stall: Duration) -> usize {
        let stalled = |since: &&Instant| now.duration_since(**since) >= stall;
        self.running.values().filter(stalled).count()
    }

    /// Whether so many files wait to be handed over that no further one shall fill the memory.
    fn is_full(&self) -> bool {
        self.files >= ABREAST
    }

    /// Answers what nobody will read.
    fn refuse_rest(&mut self) {
        for number in self.queue.drain(..) {
            self.found.push((number, unavailable("too many reads of other sources hang")));
        }
    }

    /// How long there is nothing to see to, unless a thread says something. Threads say nothing when
    /// they begin to read, so that a read may begin to stall at any time.
    fn rest(&self, now: Instant, deadline: Duration, stall: Duration) -> Duration {
        let next = self.running.values().map(|since| {
            let age = now.duration_since(*since);
            let end = if age < stall { stall } else { deadline };
            end.saturating_sub(age)
        });
        next.min().unwrap_or(stall).min(stall).max(Duration::from_millis(1))
    }
}

/// Starts a thread for a round. Returns whether there is one.
fn start(shared: &Arc<Shared>, id: u64) -> bool {
    let shared = Arc::clone(shared);
    let thread = thread::Builder::new().name("headsup-source".into());
    thread.spawn(move || serve(&shared, id)).is_ok()
}

/// Reads for a round until nothing is left of it.
fn serve(shared: &Shared, id: u64) {
    let mut state = shared.lock();
    while let Some((reads, number)) = state.take(id) {
        drop(state);
        let read = || reads[number].run(&*shared.files);
        let found = catch_unwind(AssertUnwindSafe(read));
        let found = found.unwrap_or_else(|_| unavailable("reading it panicked"));
        state = shared.lock();
        if state.found(id, number, found) {
            shared.changed.notify_all();
        }
        while state.rounds.get(&id).is_some_and(Round::is_full) && !state.stopped {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
    state.threads -= 1;
    if let Some(round) = state.rounds.get_mut(&id) {
        round.threads -= 1;
    }
    drop(state);
    shared.changed.notify_all();
}

#[cfg(test)]
mod tests;
