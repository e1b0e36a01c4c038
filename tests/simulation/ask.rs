//! The same thing asked of a process and of the model.

use headsup::{
    Awareness, Error, Notice, Receipt, Recording, Signal, Urgency, WatchAnswer, WatchEntry,
};

use crate::history::{Acknowledged, Answer};
use crate::model::Model;
use crate::operations::{Operation, resolved, session_ref};

/// An operation, with the receipts that it gives back if it acknowledges.
pub struct Question<'a> {
    pub operation: &'a Operation,
    pub receipts: Vec<Receipt>,
}

fn answered<T>(result: Result<T, Error>, answer: impl FnOnce(T) -> Answer) -> Answer {
    match result {
        Ok(it) => answer(it),
        Err(error) => Answer::Failed(error.reason().to_owned()),
    }
}

/// What a process says. Everything that is asked is valid.
pub fn ask(of: &Awareness, question: &Question<'_>) -> Answer {
    match question.operation {
        Operation::Record(signal, spelling) => {
            answered(of.record(spelling.signal(signal)), |it| outcomes(vec![it]))
        }
        Operation::RecordMany(signals) => answered(of.record_many(signals.clone()), outcomes),
        Operation::Watch { watcher, target, ambient, spelling } => {
            let target = spelling.session(&session_ref(*target));
            answered(of.watch(&spelling.key(watcher), target, *ambient), |it| {
                Answer::Flag(it == WatchAnswer::Watched)
            })
        }
        Operation::Unwatch { watcher, target } => {
            answered(of.unwatch(watcher, session_ref(*target)), Answer::Flag)
        }
        Operation::Take(watcher) => answered(of.take(watcher), Answer::Notices),
        Operation::AcknowledgeTaken { watcher, .. } | Operation::Acknowledge { watcher, .. } => {
            let receipts = question.receipts.clone();
            around(of, watcher, || {
                let done = of.acknowledge(watcher, receipts.clone())?;
                Ok((receipts, done.acknowledged, done.reopened))
            })
        }
        Operation::Drain(watcher) => around(of, watcher, || {
            let drained = of.drain(watcher)?;
            let receipts: Vec<Receipt> = drained.notices.iter().map(Receipt::from).collect();
            let count = count(receipts.len());
            Ok((receipts, count, drained.reopened))
        }),
        Operation::Recover => answered(of.recover(), |it| Answer::Counts(it.pending, it.pruned)),
        Operation::Prune(urgency) => {
            answered(of.prune(*urgency), |it| Answer::Pruned(it.map(|it| (it.events, it.cursors))))
        }
        Operation::Reset(session) => {
            answered(of.reset(session_ref(*session)), |it| Answer::Counts(it.cursors, it.events))
        }
        Operation::Delete(session) => {
            answered(of.delete(session_ref(*session)), |it| Answer::Counts(it.cursors, it.events))
        }
        Operation::Restored => answered(of.restored(), Answer::Position),
        Operation::Clock(_) | Operation::Reopen => unreachable!("done by the world"),
    }
}

/// Without the words of failures: they name the file, which is another in each run.
fn outcomes(mut outcomes: Vec<Recording>) -> Answer {
    for outcome in &mut outcomes {
        if let Recording::Failed { message, .. } = outcome {
            message.clear();
        }
    }
    Answer::Outcomes(outcomes)
}

/// Acknowledges, with the watcher's cursors before and after.
fn around(
    of: &Awareness,
    watcher: &str,
    acknowledge: impl FnOnce() -> Result<(Vec<Receipt>, u32, Vec<Notice>), Error>,
) -> Answer {
    let cursors = || of.watches_of(watcher).expect("a list");
    let before = cursors();
    answered(acknowledge(), |(receipts, count, reopened)| {
        let (watcher, after) = (watcher.to_owned(), cursors());
        Answer::Acknowledged(Acknowledged { watcher, receipts, count, reopened, before, after })
    })
}

/// What the model says.
pub fn expect(model: &mut Model, question: &Question<'_>) -> Answer {
    match question.operation {
        Operation::Record(signal, _) => Answer::Outcomes(vec![model.record(signal)]),
        Operation::RecordMany(signals) => {
            let record = |signal: &Signal| -> Recording { model.record(signal) };
            Answer::Outcomes(signals.iter().map(record).collect())
        }
        Operation::Watch { watcher, target, ambient, .. } => {
            Answer::Flag(model.watch(watcher, &resolved(&session_ref(*target)), *ambient))
        }
        Operation::Unwatch { watcher, target } => {
            Answer::Flag(model.unwatch(watcher, &resolved(&session_ref(*target))))
        }
        Operation::Take(watcher) => Answer::Notices(model.take(watcher)),
        Operation::AcknowledgeTaken { watcher, .. } | Operation::Acknowledge { watcher, .. } => {
            acknowledged(model, watcher, question.receipts.clone())
        }
        Operation::Drain(watcher) => {
            let receipts = model.take(watcher).iter().map(Receipt::from).collect();
            acknowledged(model, watcher, receipts)
        }
        Operation::Recover => {
            let (pending, pruned) = model.recover(true);
            Answer::Counts(pending, pruned)
        }
        Operation::Prune(urgency) => {
            let due = *urgency == Urgency::AtStart || model.is_prune_due();
            Answer::Pruned(due.then(|| model.prune()))
        }
        Operation::Reset(session) => {
            Answer::Counts(model.reset(&resolved(&session_ref(*session))), 0)
        }
        Operation::Delete(session) => {
            let (cursors, events) = model.delete(&resolved(&session_ref(*session)));
            Answer::Counts(cursors, events)
        }
        Operation::Restored => Answer::Position(model.restored()),
        Operation::Clock(_) | Operation::Reopen => unreachable!("done by the world"),
    }
}

fn acknowledged(model: &mut Model, watcher: &str, receipts: Vec<Receipt>) -> Answer {
    let cursors = |model: &Model| -> Vec<WatchEntry> {
        model.watches().into_iter().filter(|it| it.watcher == watcher).collect()
    };
    let before = cursors(model);
    let (mut count, mut reopened) = (0, Vec::new());
    for receipt in &receipts {
        let target = resolved(&receipt.target);
        let (counts, rest) = model.acknowledge(watcher, &target, receipt.since, receipt.up_to);
        count += u32::from(counts);
        reopened.extend(rest);
    }
    let (watcher, after) = (watcher.to_owned(), cursors(model));
    Answer::Acknowledged(Acknowledged { watcher, receipts, count, reopened, before, after })
}

fn count(many: usize) -> u32 {
    u32::try_from(many).unwrap_or(u32::MAX)
}
