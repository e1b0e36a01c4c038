//! What a case is: a rule, and steps that are played on a store which begins empty.

use alloc::string::ToString;

use crate::contract::{self, Beginning, StepPlan, Transaction};
use crate::trial::Trial;

/// How a step ended that did not trap.
pub type Played = Result<(), Stop>;

/// Why a step is to be rolled back.
#[derive(Debug)]
pub enum Stop {
    /// It is what the case wants.
    OnPurpose,
    /// A verb failed, which was told; or there is no rival, which was told too.
    Stuck,
}

/// A rule and how it is examined.
pub struct Case {
    /// What it is about, in one word.
    pub subject: &'static str,
    /// The rule in words.
    pub rule: &'static str,
    /// What is done, in order.
    pub steps: &'static [Step],
}

impl Case {
    /// As the contract tells it.
    pub fn told(&self) -> contract::Case {
        contract::Case {
            subject: self.subject.to_string(),
            rule: self.rule.to_string(),
            steps: self.steps.iter().map(|step| step.plan).collect(),
        }
    }
}

/// A step: how the host runs it, and what it does.
pub struct Step {
    plan: StepPlan,
    /// What it does.
    pub run: fn(&mut Trial) -> Played,
}

/// A step on a snapshot.
pub const fn reads(run: fn(&mut Trial) -> Played) -> Step {
    step(Transaction::Reads, run)
}

/// A step that can write.
pub const fn writes(run: fn(&mut Trial) -> Played) -> Step {
    step(Transaction::Writes, run)
}

/// A step without a transaction.
pub const fn outside(run: fn(&mut Trial) -> Played) -> Step {
    step(Transaction::None, run)
}

const fn step(transaction: Transaction, run: fn(&mut Trial) -> Played) -> Step {
    Step { plan: StepPlan { transaction, begins: Beginning::Next, traps: false }, run }
}

impl Step {
    /// The store is opened again before it.
    pub const fn reopened(self) -> Self {
        self.begins(Beginning::Reopened)
    }

    /// It runs when it is called as a rival.
    pub const fn when_called(self) -> Self {
        self.begins(Beginning::WhenCalled)
    }

    /// It traps in its end.
    pub const fn traps(self) -> Self {
        Self { plan: StepPlan { traps: true, ..self.plan }, run: self.run }
    }

    const fn begins(self, begins: Beginning) -> Self {
        Self { plan: StepPlan { begins, ..self.plan }, run: self.run }
    }
}
