//! The checkers are able to fail: faults that a store could have are planted in a recorded history,
//! and each is found by the checker that is there for it.

use std::sync::OnceLock;

use harness::News;
use headsup::{Notice, Recording};

use crate::check::Verdict;
use crate::history::{Answer, Entry, Heard};
use crate::operations::{Operation, resolved};
use crate::promises::{
    exact_or_said_not_to_be, one_notice_exactly_while_something_is_unseen, together_or_not_at_all,
    versions_only_grow,
};
use crate::steps::Act;
use crate::world::World;

/// A history in which nothing is wrong.
fn sound() -> Vec<Entry> {
    static SOUND: OnceLock<Vec<Entry>> = OnceLock::new();
    let played = || {
        let mut world = World::new(4);
        world.play(400).unwrap();
        world.into_history()
    };
    SOUND.get_or_init(played).clone()
}

/// Plants a fault at the first entry that has room for it; the checker must find it.
#[track_caller]
fn finds(check: fn(&[Entry]) -> Verdict, rule: &str, plant: impl Fn(&mut Entry) -> bool) {
    let mut history = sound();
    check(&history).unwrap();
    assert!(history.iter_mut().any(plant), "the history has no room for the fault");
    let found = check(&history).expect_err("the planted fault was not found");
    assert!(found.contains(rule), "{found}");
}

#[test]
fn a_reopening_that_is_lost_is_found() {
    finds(
        one_notice_exactly_while_something_is_unseen,
        "a notice for the rest was lost",
        |entry| {
            let reopened = entry.acknowledged().is_some_and(|it| !it.reopened.is_empty());
            if reopened {
                entry.heard.retain(|it| !matches!(it.news, News::Notice { .. }));
            }
            reopened
        },
    );
}

#[test]
fn a_notice_of_ones_own_act_is_found() {
    finds(one_notice_exactly_while_something_is_unseen, "one's own act", |entry| {
        let Act::Ask(Operation::Record(signal, _)) = &entry.act else { return false };
        let Answer::Outcomes(outcomes) = &entry.answer else { return false };
        let (Some(actor), Some(Recording::Recorded(sequence))) =
            (signal.actor.id.clone(), outcomes.first())
        else {
            return false;
        };
        let target = resolved(&signal.session);
        let (since, up_to) = (sequence - 1, *sequence);
        let notice = Notice { target, since, up_to, text: String::new() };
        let news = News::Notice { watcher: actor, notice };
        entry.heard.push(Heard { news, committed: true });
        true
    });
}

#[test]
fn a_gap_at_the_watermark_itself_is_found() {
    finds(exact_or_said_not_to_be, "a gap where nothing is missing", |entry| {
        let Some(look) = &mut entry.look else { return false };
        let edge = (1..look.deltas.len()).find(|at| {
            let (before, asked) = (&look.deltas[at - 1], &look.deltas[*at]);
            before.session == asked.session
                && before.since + 1 == asked.since
                && before.delta.history_gap
                && !asked.delta.history_gap
        });
        edge.is_some_and(|at| {
            look.deltas[at].delta.history_gap = true;
            true
        })
    });
}

#[test]
fn a_gap_that_is_not_told_is_found() {
    finds(exact_or_said_not_to_be, "a delta that is not exact", |entry| {
        let Some(look) = &mut entry.look else { return false };
        let pruned = look.deltas.iter_mut().find(|asked| {
            let restored = asked.delta.state_version >= 1 << 32;
            asked.limit == 200
                && asked.delta.history_gap
                && !restored
                && asked.since < asked.delta.state_version
        });
        pruned.is_some_and(|asked| {
            asked.delta.history_gap = false;
            true
        })
    });
}

#[test]
fn an_event_that_is_missing_in_a_delta_is_found() {
    finds(exact_or_said_not_to_be, "a delta that is not exact", |entry| {
        let Some(look) = &mut entry.look else { return false };
        let some = look.deltas.iter_mut().find(|asked| {
            !asked.delta.history_gap && !asked.delta.truncated && asked.delta.events.len() > 1
        });
        some.is_some_and(|asked| {
            asked.delta.events.remove(0);
            true
        })
    });
}

#[test]
fn a_number_that_is_given_twice_is_found() {
    let mut last = None;
    let mut history = sound();
    let again = history.iter_mut().any(|entry| {
        let Answer::Outcomes(outcomes) = &mut entry.answer else { return false };
        let Some(Recording::Recorded(sequence)) = outcomes.first_mut() else { return false };
        match last {
            Some(given) => *sequence = given,
            None => last = Some(*sequence),
        }
        last != Some(0) && Some(*sequence) == last && *sequence != 0 && entry.step > 50
    });
    assert!(again);
    let found = versions_only_grow(&history).unwrap_err();
    assert!(found.contains("a number was given twice"), "{found}");
}

#[test]
fn an_event_behind_a_version_that_was_seen_is_found() {
    let mut history = sound();
    // It is hidden in all looks until the session has gone on.
    let mut hidden = None;
    let mut looks = history.iter_mut().filter_map(|entry| entry.look.as_mut());
    let appeared = looks.any(|look| {
        let asked = look.deltas.iter().find(|it| !it.delta.events.is_empty());
        let first = asked.map(|it| it.delta.events[0].sequence);
        let hides = *hidden.get_or_insert(first.unwrap_or(0));
        if hides == 0 {
            hidden = None;
            return false;
        }
        let newer = look.deltas.iter().any(|it| {
            it.delta.state_version > hides
                && it.delta.events.iter().any(|event| event.sequence == hides)
        });
        for asked in &mut look.deltas {
            asked.delta.events.retain(|event| event.sequence != hides);
        }
        newer
    });
    assert!(appeared);
    let found = versions_only_grow(&history).unwrap_err();
    assert!(found.contains("appeared behind a version"), "{found}");
}

#[test]
fn an_acknowledgement_that_swallows_what_recovery_added_is_found() {
    finds(
        one_notice_exactly_while_something_is_unseen,
        "a position is not what was acknowledged",
        |entry| {
            let Answer::Acknowledged(done) = &mut entry.answer else { return false };
            let Some(rest) = done.reopened.pop() else { return false };
            for cursor in done.after.iter_mut().filter(|it| it.target == rest.target) {
                // As if what was open by now counted, and not what the receipt says.
                cursor.last_seen = cursor.notified;
                cursor.pending = false;
            }
            true
        },
    );
}

#[test]
fn an_acknowledgement_that_opens_nothing_for_the_rest_is_found() {
    finds(one_notice_exactly_while_something_is_unseen, "swallowed the rest", |entry| {
        let Answer::Acknowledged(done) = &mut entry.answer else { return false };
        let Some(rest) = done.reopened.pop() else { return false };
        for cursor in done.after.iter_mut().filter(|it| it.target == rest.target) {
            cursor.material = cursor.last_seen;
            cursor.notified = cursor.last_seen;
            cursor.pending = false;
        }
        true
    });
}

#[test]
fn a_pending_notice_that_a_restart_lost_is_found() {
    finds(
        one_notice_exactly_while_something_is_unseen,
        "pending exactly while somebody else's change is unseen",
        |entry| {
            let restarted = matches!(entry.act, Act::Ask(Operation::Reopen));
            let Some(look) = entry.look.as_mut().filter(|_| restarted) else { return false };
            let Some(cursor) = look.watches.iter_mut().find(|it| it.pending) else { return false };
            cursor.pending = false;
            cursor.material = cursor.last_seen;
            cursor.notified = cursor.last_seen;
            let (watcher, target) = (cursor.watcher.clone(), cursor.target.clone());
            for (_, pending) in look.pending.iter_mut().filter(|(it, _)| *it == watcher) {
                pending.retain(|it| it.notice.target != target);
            }
            true
        },
    );
}

#[test]
fn a_delivery_before_the_commit_is_found() {
    finds(together_or_not_at_all, "heard before it was committed", |entry| {
        let first = entry.heard.first_mut();
        first.is_some_and(|heard| {
            heard.committed = false;
            true
        })
    });
}

#[test]
fn a_delivery_of_what_failed_is_found() {
    finds(together_or_not_at_all, "heard of what failed", |entry| {
        let news = News::Wake(harness::MAIN.to_owned());
        entry.failed() && {
            entry.heard.push(Heard { news, committed: true });
            true
        }
    });
}

#[test]
fn an_event_that_a_failed_recording_left_behind_is_found() {
    finds(together_or_not_at_all, "what failed changed something", |entry| {
        let failed = entry.failed() && matches!(entry.act, Act::Ask(Operation::Record(..)));
        let Some(look) = entry.look.as_mut().filter(|_| failed) else { return false };
        let some = look.versions.iter_mut().flatten().next();
        some.is_some_and(|version| {
            *version += 1;
            true
        })
    });
}
