//! When a prune is due and when pruning by age may go by the clock.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const START: u64 = 400 * DAY_MS;

fn last(at: Option<u64>, doubted_since: Option<u64>) -> LastPrune {
    LastPrune { at, doubted_since }
}

#[test]
fn a_prune_is_due_first_of_all_and_then_every_hour() {
    assert!(last(None, None).is_due(START));
    assert!(!last(Some(START), None).is_due(START + HOUR_MS - 1));
    assert!(last(Some(START), None).is_due(START + HOUR_MS));
}

#[test]
fn a_clock_that_went_back_does_not_put_pruning_off() {
    assert!(last(Some(START), None).is_due(START - 1));
}

#[test]
fn a_prune_that_is_due_is_due_now_or_was_an_hour_after_the_last_one() {
    assert_eq!(last(None, None).next(START), START);
    assert_eq!(last(Some(START), None).next(START), START + HOUR_MS);
    assert_eq!(last(Some(START), None).next(START + HOUR_MS - 1), START + HOUR_MS);
    assert_eq!(last(Some(START), None).next(START + 5 * HOUR_MS), START + HOUR_MS);
    assert_eq!(last(Some(START), None).next(START - 1), START - 1);
}

#[test]
fn the_clock_is_doubted_when_it_moved_by_more_than_a_day_either_way() {
    for (now, trust) in [
        (START + DAY_MS, Trust::Clock),
        (START + DAY_MS + 1, Trust::Doubt(START + DAY_MS + 1)),
        (START - DAY_MS, Trust::Clock),
        (START - DAY_MS - 1, Trust::Doubt(START - DAY_MS - 1)),
    ] {
        assert_eq!(last(Some(START), None).trust(now), trust);
    }
    assert_eq!(last(None, None).trust(START), Trust::Clock);
}

#[test]
fn a_doubt_ends_with_a_prune_an_hour_later() {
    let doubted = last(Some(START), Some(START));
    assert_eq!(doubted.trust(START + HOUR_MS - 1), Trust::Doubt(START));
    assert_eq!(doubted.trust(START + HOUR_MS), Trust::Clock);
}

#[test]
fn prunes_within_the_hour_do_not_put_the_end_of_a_doubt_off() {
    let half = START + HOUR_MS / 2;
    assert_eq!(last(Some(half), Some(START)).trust(half + HOUR_MS / 2), Trust::Clock);
}

#[test]
fn a_doubt_starts_again_when_the_clock_moves_again() {
    let doubted = last(Some(START), Some(START));
    assert_eq!(doubted.trust(START - 1), Trust::Doubt(START - 1));
    let later = START + DAY_MS + 1;
    assert_eq!(doubted.trust(later), Trust::Doubt(later));
}

proptest! {
    /// However the clock moves: a prune by age is preceded by a prune at most a day away, and if
    /// the clock was doubted, by one since which an hour has passed without a jump.
    #[test]
    fn age_is_trusted_only_beside_an_earlier_prune_that_agrees(
        moves in vec(
            (any::<bool>(), select(vec![0, 1, HOUR_MS - 1, HOUR_MS, HOUR_MS * 5, DAY_MS, DAY_MS + 1, DAY_MS * 40])),
            1..40,
        ),
    ) {
        let mut now = START;
        let mut known = last(None, None);
        let mut jumped_at: Option<u64> = None;
        for (back, by) in moves {
            now = if back { now.saturating_sub(by) } else { now + by };
            let jumped = known.at.is_some_and(|at| at.abs_diff(now) > DAY_MS);
            if jumped || jumped_at.is_some_and(|at| now < at) {
                jumped_at = Some(now);
            }
            let settled = jumped_at.is_none_or(|at| now >= at + HOUR_MS);
            let trust = known.trust(now);
            prop_assert_eq!(trust == Trust::Clock, settled);
            if settled {
                jumped_at = None;
            }
            known = match trust {
                Trust::Clock => last(Some(now), None),
                Trust::Doubt(since) => last(Some(now), Some(since)),
            };
        }
    }
}
