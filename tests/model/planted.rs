//! The checks are able to fail: faults that a store could have are planted in what is seen of it,
//! and each has to be found within the histories that a normal run plays, by the check that is
//! there for it.

use harness::News;
use headsup::{PendingNotice, SessionRef};
use proptest::test_runner::{TestError, TestRunner};

use crate::operations::{Operation, histories};
use crate::play::play;
use crate::seen::Seen;

/// Plays histories with a fault planted until one fails. What is said then.
fn found(mut plant: impl FnMut(&Operation, &mut Seen)) -> String {
    let mut config = crate::config();
    // The first failure will do: shrinking it takes time and proves nothing.
    config.max_shrink_iters = 0;
    let plant = std::cell::RefCell::new(&mut plant);
    let played = TestRunner::new(config).run(&histories(), |history| {
        play(&history, &mut |operation, seen| {
            (plant.borrow_mut())(operation, seen);
        })
    });
    match played {
        Err(TestError::Fail(reason, _)) => reason.to_string(),
        other => panic!("the planted fault was not found: {other:?}"),
    }
}

fn acknowledges(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Drain(_) | Operation::Acknowledge { .. } | Operation::AcknowledgeTaken { .. }
    )
}

/// The recorded signal's actor and session.
fn act(operation: &Operation) -> Option<(&str, &SessionRef)> {
    match operation {
        Operation::Record(signal, _) => Some((signal.actor.id.as_deref()?, &signal.session)),
        _ => None,
    }
}

#[test]
fn a_lost_reopening_is_found() {
    let reason = found(|operation, seen| {
        if acknowledges(operation) {
            seen.news.retain(|news| !matches!(news, News::Notice { .. }));
        }
    });
    assert!(reason.contains("the news"), "{reason}");
}

#[test]
fn a_notice_of_ones_own_act_is_found() {
    let reason = found(|operation, seen| {
        let Some((actor, session)) = act(operation) else { return };
        let own = seen.watches.iter().find(|entry| {
            entry.watcher == actor && entry.target.key == session.key && !entry.pending
        });
        if let Some(entry) = own {
            let up_to = entry.last_seen + 1;
            let notice = headsup::Notice {
                target: entry.target.clone(),
                since: entry.last_seen,
                up_to,
                text: String::new(),
            };
            seen.news.push(News::Notice { watcher: actor.to_owned(), notice });
        }
    });
    assert!(
        reason.contains("no notice for one's own act") || reason.contains("the news"),
        "{reason}"
    );
}

#[test]
fn a_pending_position_by_ones_own_act_is_found() {
    let reason = found(|operation, seen| {
        let Some((actor, session)) = act(operation) else { return };
        let own = |entry: &&mut headsup::WatchEntry| {
            entry.watcher == actor && entry.target.key == session.key && !entry.pending
        };
        if let Some(entry) = seen.watches.iter_mut().find(own) {
            entry.material = entry.last_seen + 1;
            entry.pending = true;
        }
    });
    assert!(reason.contains("pending exactly while material is ahead"), "{reason}");
}

#[test]
fn a_gap_at_the_watermark_itself_is_found() {
    let reason = found(|_, seen| {
        let edges: Vec<usize> = (1..seen.deltas.len())
            .filter(|at| {
                let (before, asked) = (&seen.deltas[at - 1], &seen.deltas[*at]);
                before.session == asked.session
                    && before.since + 1 == asked.since
                    && before.delta.history_gap
                    && !asked.delta.history_gap
            })
            .collect();
        for at in edges {
            seen.deltas[at].delta.history_gap = true;
        }
    });
    assert!(reason.contains("a delta"), "{reason}");
}

#[test]
fn a_missing_gap_just_below_the_watermark_is_found() {
    let reason = found(|_, seen| {
        for at in 1..seen.deltas.len() {
            let (before, asked) = (&seen.deltas[at - 1], &seen.deltas[at]);
            if before.since + 1 == asked.since && !asked.delta.history_gap {
                seen.deltas[at - 1].delta.history_gap = false;
            }
        }
    });
    assert!(reason.contains("a delta"), "{reason}");
}

#[test]
fn a_missing_gap_ahead_of_the_head_is_found() {
    let reason = found(|_, seen| {
        for asked in &mut seen.deltas {
            asked.delta.history_gap &= asked.since <= asked.delta.state_version;
        }
    });
    assert!(reason.contains("a delta"), "{reason}");
}

#[test]
fn a_second_notice_for_a_pending_pair_is_found() {
    let reason = found(|_, seen| {
        for (_, pending) in &mut seen.pending {
            if let Some(first) = pending.first().cloned() {
                pending.push(first);
            }
        }
    });
    assert!(reason.contains("one notice for a pending pair"), "{reason}");
}

#[test]
fn a_text_that_moves_while_pending_is_found() {
    let mut last: Vec<(String, Vec<PendingNotice>)> = Vec::new();
    let reason = found(|_, seen| {
        let shown = last.clone();
        last.clone_from(&seen.pending);
        for ((_, pending), (_, shown)) in seen.pending.iter_mut().zip(&shown) {
            for PendingNotice { notice, .. } in pending {
                let same = |it: &PendingNotice| {
                    it.notice.target == notice.target && it.notice.since == notice.since
                };
                if shown.iter().any(same) {
                    notice.text.push('!');
                }
            }
        }
    });
    assert!(reason.contains("text unchanged while pending"), "{reason}");
}

#[test]
fn a_notice_that_is_shown_after_its_acknowledgement_is_found() {
    let mut last: Option<Seen> = None;
    let reason = found(|operation, seen| {
        let before = last.replace(seen.clone());
        // As if a drain had shown and then forgotten that it did.
        if let (Operation::Drain(watcher), Some(before)) = (operation, before)
            && seen.answer.contains("up-to")
            && seen.news.is_empty()
            && seen.watches.len() == before.watches.len()
        {
            seen.pending.clone_from(&before.pending);
            seen.watches.clone_from(&before.watches);
            last = None;
            assert!(seen.pending.iter().any(|(it, _)| it == watcher));
        }
    });
    assert!(reason.contains("acknowledged and shown again"), "{reason}");
}

#[test]
fn a_wake_of_a_nested_watcher_is_found() {
    let reason = found(|_, seen| {
        let told = seen.news.iter().find_map(|news| match news {
            News::Notice { watcher, .. } if watcher.contains(":subagent:") => Some(watcher.clone()),
            _ => None,
        });
        seen.news.extend(told.map(News::Wake));
    });
    assert!(reason.contains("the news"), "{reason}");
}

#[test]
fn an_event_that_is_missing_in_a_delta_is_found() {
    let reason = found(|_, seen| {
        for asked in &mut seen.deltas {
            if asked.delta.events.len() > 1 {
                asked.delta.events.remove(0);
            }
        }
    });
    assert!(reason.contains("a delta"), "{reason}");
}

#[test]
fn cursors_shared_by_two_agents_are_found() {
    let reason = found(|_, seen| {
        let twin = |entry: &&headsup::WatchEntry| entry.target.key == "global" && entry.pending;
        let Some(one) = seen.watches.iter().find(twin).cloned() else { return };
        for entry in &mut seen.watches {
            if entry.watcher == one.watcher && entry.target.key == "global" {
                entry.material = one.material.max(entry.material);
                entry.notified = one.notified.max(entry.notified);
                entry.pending = entry.material > entry.last_seen;
            }
        }
    });
    assert!(
        reason.contains("the watches") || reason.contains("one notice for a pending pair"),
        "{reason}"
    );
}
