//! The storage conformance component: examines what a host gives to a core. `wit/conformance.wit`
//! says how a host plays it, and `wit/storage.wit`, `settings.wit`, `queue.wit` and `log.wit` what
//! every rule here rests on: nothing is asked for that is not promised there.
//!
//! [`play`] says what a case is, [`trial`] is what a step works with, [`material`] what it stores. The
//! other modules are the cases, one module a subject. To add a rule, add a case to the subject's list.
#![no_std]
// Steps have one signature, whatever they do.
#![allow(clippy::unnecessary_wraps)]

extern crate alloc;

mod contract;
mod material;
mod play;
mod trial;

mod atomicity;
mod bytes;
mod claims;
mod clock;
mod cost;
mod counts;
mod cursors;
mod dedupe;
mod history;
mod lists;
mod news;
mod pruning;
mod removal;
mod restoring;
mod sequences;
mod settings;
mod snapshots;
mod sources;
mod watching;

// An instance of this component lives as a core's does: no standard library, no import but the
// contract's. What takes its place there takes it here.
#[path = "../../../component/src/heap.rs"]
mod heap;
#[path = "../../../component/src/runtime.rs"]
mod runtime;

use alloc::vec::Vec;

use contract::{Case, Finding, News};
use play::Played;
use trial::Trial;

/// Every subject, in the order in which a host is best put right.
const SUBJECTS: [&[play::Case]; 19] = [
    history::CASES,
    bytes::CASES,
    sequences::CASES,
    dedupe::CASES,
    watching::CASES,
    cursors::CASES,
    lists::CASES,
    counts::CASES,
    settings::CASES,
    removal::CASES,
    pruning::CASES,
    restoring::CASES,
    sources::CASES,
    claims::CASES,
    atomicity::CASES,
    snapshots::CASES,
    news::CASES,
    clock::CASES,
    cost::CASES,
];

fn cases() -> impl Iterator<Item = &'static play::Case> {
    SUBJECTS.into_iter().flatten()
}

struct Examination;

impl contract::Guest for Examination {
    fn cases() -> Vec<Case> {
        cases().map(play::Case::told).collect()
    }

    fn step(which: u32, step: u32, news: News) -> Result<Vec<Finding>, Vec<Finding>> {
        let found = cases().nth(which as usize).and_then(|case| case.steps.get(step as usize));
        let Some(step) = found else {
            return Err(Vec::from([trial::no_such_step(which, step)]));
        };
        let mut trial = Trial::new(news);
        let played: Played = (step.run)(&mut trial);
        match played {
            Ok(()) => Ok(trial.into_findings()),
            Err(_) => Err(trial.into_findings()),
        }
    }
}

#[allow(unsafe_code, reason = "the generated export functions of the canonical ABI")]
mod abi {
    use super::Examination;
    crate::contract::export!(Examination with_types_in crate::contract);
}
