//! A case that is being played: which step runs when, on which connection, and what becomes of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wasmtime::component::InstancePre;

use super::contract::{
    Beginning, Case, Conformance, ConformanceIndices, Finding, StepPlan, Transaction, rival,
};
use super::report::{Found, What};
use super::{Ending, Seat, Stage};
use crate::engine::{Engine, ticks};

/// A step may do some thousand verbs, on a machine that has other work to do.
const DEADLINE: Duration = Duration::from_mins(2);

/// The component, ready to run.
pub(super) struct Examiner<S: Stage> {
    engine: Engine,
    pre: InstancePre<Sitting<S>>,
    indices: ConformanceIndices,
}

impl<S: Stage> Examiner<S> {
    pub(super) fn new(engine: &Engine, pre: InstancePre<Sitting<S>>) -> wasmtime::Result<Self> {
        let indices = ConformanceIndices::new(&pre)?;
        Ok(Self { engine: engine.clone(), pre, indices })
    }

    /// What the component can examine. It uses no import for that; the seat is for show.
    pub(super) fn cases(&self, stage: &S) -> wasmtime::Result<Vec<Case>> {
        let seat = stage.seat(Transaction::Writes).map_err(wasmtime::Error::msg)?;
        let sitting = Sitting { seat, game: None };
        self.run(sitting, |examination, store| {
            examination.headsup_awareness_examination().call_cases(store)
        })
        .1
    }

    /// Runs an export on an instance of its own; gives back what the instance was over.
    fn run<T>(
        &self,
        sitting: Sitting<S>,
        body: impl FnOnce(&Conformance, &mut wasmtime::Store<Sitting<S>>) -> wasmtime::Result<T>,
    ) -> (Sitting<S>, wasmtime::Result<T>) {
        let mut store = wasmtime::Store::new(self.engine.wasmtime(), sitting);
        store.set_epoch_deadline(ticks(DEADLINE));
        let running = self.engine.running();
        let instance = self.pre.instantiate(&mut store);
        let answer = instance
            .and_then(|instance| self.indices.load(&mut store, &instance))
            .and_then(|examination| body(&examination, &mut store));
        drop(running);
        (store.into_data(), answer)
    }
}

/// What an instance is over: a connection, and the case that it plays in.
pub(super) struct Sitting<S: Stage> {
    pub(super) seat: S::Seat,
    game: Option<Arc<Game<S>>>,
}

impl<S: Stage> rival::Host for Sitting<S> {
    fn run(&mut self, step: u32) -> wasmtime::Result<Result<(), String>> {
        Ok(match &self.game {
            Some(game) => game.play_rival(step),
            None => Err("no case is being played".into()),
        })
    }

    fn effort(&mut self) -> wasmtime::Result<Option<u64>> {
        Ok(self.seat.effort())
    }
}

/// A case on a stage of its own.
pub(super) struct Game<S: Stage> {
    examiner: Arc<Examiner<S>>,
    stage: S,
    number: u32,
    case: Case,
    found: Mutex<Vec<Found>>,
}

/// The connections that steps take turns on, opened when they are needed, as in a running host.
struct Chairs<S: Stage> {
    writer: Option<S::Seat>,
    reader: Option<S::Seat>,
}

/// A step that could not be run, or was not over when it ended; the case ends with it.
struct Stopped;

impl<S: Stage> Game<S> {
    pub(super) fn new(examiner: Arc<Examiner<S>>, stage: S, number: u32, case: Case) -> Arc<Self> {
        Arc::new(Self { examiner, stage, number, case, found: Mutex::default() })
    }

    /// Plays the steps in turn. Returns what they found.
    pub(super) fn play(self: Arc<Self>) -> Vec<Found> {
        let mut chairs = Chairs { writer: None, reader: None };
        for (number, plan) in (0..).zip(&self.case.steps) {
            match plan.begins {
                Beginning::WhenCalled => continue,
                Beginning::Reopened if !self.stage.is_shared() => {
                    self.find(number, What::Unexamined("the store ends with its process".into()));
                    break;
                }
                Beginning::Reopened => chairs = Chairs { writer: None, reader: None },
                Beginning::Next => {}
            }
            if self.play_on(&mut chairs, number, *plan).is_err() {
                break;
            }
        }
        drop(chairs);
        std::mem::take(&mut lock(&self.found))
    }

    fn play_on(
        self: &Arc<Self>,
        chairs: &mut Chairs<S>,
        number: u32,
        plan: StepPlan,
    ) -> Result<(), Stopped> {
        let reads = plan.transaction == Transaction::Reads && self.stage.is_shared();
        let chair = if reads { &mut chairs.reader } else { &mut chairs.writer };
        let seat = match chair.take() {
            Some(seat) => Ok(seat),
            None => self.stage.seat(plan.transaction),
        };
        match seat.and_then(|seat| self.play_step(seat, number, plan)) {
            Ok((seat, outcome)) => {
                *chair = Some(seat);
                outcome
            }
            Err(why) => {
                self.find(number, broken("began the step's transaction", "begin", why));
                Err(Stopped)
            }
        }
    }

    /// Plays a step in the middle of another one, on a connection of its own.
    fn play_rival(self: &Arc<Self>, number: u32) -> Result<(), String> {
        let plan = self.case.steps.get(number as usize).copied();
        let plan = plan.filter(|plan| plan.begins == Beginning::WhenCalled);
        let plan = plan.ok_or("there is no such step that waits to be called")?;
        if !self.stage.is_shared() {
            return Err("the store has a single connection".into());
        }
        let seat = self.stage.seat(plan.transaction)?;
        let (_, outcome) = self.play_step(seat, number, plan)?;
        outcome.map_err(|Stopped| "it did not end".into())
    }

    /// Plays a step on a connection, which is given back. The error side is why it could not begin.
    #[allow(clippy::type_complexity)]
    fn play_step(
        self: &Arc<Self>,
        mut seat: S::Seat,
        number: u32,
        plan: StepPlan,
    ) -> Result<(S::Seat, Result<(), Stopped>), String> {
        seat.begin(plan.transaction)?;
        let news = self.stage.take_news();
        let sitting = Sitting { seat, game: Some(Arc::clone(self)) };
        let (sitting, answer) = self.examiner.run(sitting, |examination, store| {
            let examination = examination.headsup_awareness_examination();
            examination.call_step(store, self.number, number, &news)
        });
        let mut seat = sitting.seat;
        let ending = match &answer {
            Ok(Ok(_)) => Ending::Ok,
            Ok(Err(_)) => Ending::Error,
            Err(_) => Ending::Trap,
        };
        if let Err(why) = seat.end(ending) {
            self.find(number, broken("ended the step's transaction", "commit", why));
        }
        Ok((seat, self.judge(number, plan, answer)))
    }

    /// Keeps what a step found, and holds it against its plan.
    fn judge(
        &self,
        number: u32,
        plan: StepPlan,
        answer: wasmtime::Result<Result<Vec<Finding>, Vec<Finding>>>,
    ) -> Result<(), Stopped> {
        match answer {
            Ok(Ok(findings) | Err(findings)) => {
                for finding in findings {
                    self.find(number, finding.into());
                }
                if plan.traps {
                    let was = "it returned".into();
                    self.find(number, broken("ran a step that traps on purpose", "trap", was));
                    return Err(Stopped);
                }
            }
            Err(_) if plan.traps => {}
            Err(trap) => {
                let was = format!("it trapped: {trap:#}");
                self.find(number, broken("ran the step", "return", was));
                return Err(Stopped);
            }
        }
        Ok(())
    }

    fn find(&self, step: u32, what: What) {
        let Case { subject, rule, .. } = &self.case;
        let found = Found { subject: subject.clone(), rule: rule.clone(), step, what };
        lock(&self.found).push(found);
    }
}

fn broken(asked: &str, must: &str, was: String) -> What {
    What::Broken { asked: asked.into(), must: must.into(), was }
}

/// Nobody else's code runs under these locks, so a poisoned one is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
