//! What may happen in a step, and how likely it is. Everything follows from the seed.

use std::collections::VecDeque;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::disk::{Change, FILES};
use crate::faults::{FAULTS, Fault};
use crate::operations::{Operation, SESSIONS, episode};

/// How many gateways there are.
pub const PROCESSES: usize = 3;

/// What one process does, and what goes wrong meanwhile.
#[derive(Clone, Debug)]
pub struct Step {
    pub process: usize,
    pub fault: Option<Fault>,
    pub act: Act,
}

/// What is done.
#[derive(Clone, Debug)]
pub enum Act {
    /// What the model knows.
    Ask(Operation),
    /// Another core serves from now on.
    Swap,
    /// Adopts a session from a file.
    Adopt { session: usize, file: usize },
    /// Checks all adopted sessions, of whose files this one can be read.
    Check { file: usize },
    /// Something happens to a file.
    Disk { file: usize, change: Change },
}

/// Steps without end.
pub struct Steps {
    runner: TestRunner,
    source: BoxedStrategy<Vec<Step>>,
    ahead: VecDeque<Step>,
}

impl Steps {
    pub fn new(seed: u64) -> Self {
        let config = Config { rng_seed: RngSeed::Fixed(seed), ..Config::default() };
        Self { runner: TestRunner::new(config), source: steps().boxed(), ahead: VecDeque::new() }
    }

    pub fn next(&mut self) -> Step {
        loop {
            if let Some(step) = self.ahead.pop_front() {
                return step;
            }
            let more = self.source.new_tree(&mut self.runner).expect("nothing is filtered");
            self.ahead.extend(more.current());
        }
    }
}

/// A few that belong together, each by any process.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let acts = prop_oneof![
        20 => episode().prop_map(|it| it.into_iter().map(Act::Ask).collect::<Vec<Act>>()),
        1 => Just(vec![Act::Swap]),
        1 => (0..SESSIONS.len(), 0..FILES).prop_map(|(session, file)| vec![Act::Adopt { session, file }]),
        2 => (0..FILES).prop_map(|file| vec![Act::Check { file }]),
        4 => visit(),
    ];
    acts.prop_flat_map(|acts| {
        let by = vec((0..PROCESSES, prop::option::weighted(0.06, select(&FAULTS[..]))), acts.len());
        (Just(acts), by).prop_map(|(acts, by)| {
            let all = acts.into_iter().zip(by);
            all.map(|(act, (process, fault))| Step { process, fault, act }).collect()
        })
    })
}

/// Something happens to a file, and somebody checks.
fn visit() -> impl Strategy<Value = Vec<Act>> {
    (0..FILES, change())
        .prop_map(|(file, change)| vec![Act::Disk { file, change }, Act::Check { file }])
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => (vec(any::<bool>(), 1..4), any::<bool>())
            .prop_map(|(typed, cut)| Change::Grows { typed, cut }),
        1 => vec(any::<bool>(), 0..3).prop_map(|typed| Change::IsReplaced { typed }),
        1 => any::<bool>().prop_map(|all| Change::IsRewritten { all }),
        2 => Just(Change::Vanishes),
    ]
}
