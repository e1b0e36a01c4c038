//! The policy's rules one by one, and whole histories at random.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn id(target: u8) -> OpeningId {
    (format!("agent:main:{target}"), "main".into(), 1)
}

#[test]
fn the_first_opening_wakes_at_once() {
    let mut wakes = Wakes::default();
    assert!(wakes.opened("w", id(1), 0));
    assert!(wakes.opened("v", id(1), 1));
}

#[test]
fn an_opening_after_the_window_wakes_at_once() {
    let mut wakes = Wakes::default();
    assert!(wakes.opened("w", id(1), 0));
    assert!(!wakes.opened("w", id(2), WINDOW - 1));
    assert!(wakes.opened("w", id(3), WINDOW));
}

#[test]
fn the_end_of_a_window_asks_about_its_own_openings() {
    let mut wakes = Wakes::default();
    wakes.opened("w", id(1), 0);
    wakes.opened("w", id(2), 5);
    assert_eq!(wakes.due(WINDOW - 1), None);
    let question = wakes.due(WINDOW).unwrap();
    assert_eq!(question.any_of, Some(HashSet::from([id(2)])));
    assert!(!wakes.answer("w", Answer::Settled, WINDOW));
    assert_eq!(wakes.next(), Some(REMINDER));
}

#[test]
fn a_watcher_without_pending_notices_is_forgotten_at_its_reminder() {
    let mut wakes = Wakes::default();
    wakes.opened("w", id(1), 0);
    assert_eq!(wakes.due(REMINDER).unwrap().any_of, None);
    wakes.answer("w", Answer::Settled, REMINDER);
    assert_eq!(wakes.next(), None);
    assert!(wakes.watchers.is_empty());
}

#[test]
fn what_could_not_be_found_out_is_asked_again() {
    let mut wakes = Wakes::default();
    wakes.opened("w", id(1), 0);
    wakes.due(REMINDER).unwrap();
    wakes.answer("w", Answer::Unknown, REMINDER);
    assert_eq!(wakes.due(REMINDER), None);
    assert!(wakes.due(REMINDER + RETRY).is_some());
    assert!(wakes.answer("w", Answer::Pending, REMINDER + RETRY));
}

#[test]
fn two_threads_that_ask_about_one_timer_wake_once() {
    let mut wakes = Wakes::default();
    wakes.opened("w", id(1), 0);
    assert_eq!(wakes.due(REMINDER), wakes.due(REMINDER));
    assert!(wakes.answer("w", Answer::Pending, REMINDER));
    assert!(!wakes.answer("w", Answer::Pending, REMINDER));
}

#[test]
fn more_openings_than_are_remembered_count_as_any() {
    let mut wakes = Wakes::default();
    wakes.opened("w", id(0), 0);
    for since in 0..=OPENINGS as u64 {
        wakes.opened("w", ("k".into(), "main".into(), since), 1);
    }
    assert_eq!(wakes.due(WINDOW).unwrap().any_of, None);
}

#[test]
fn watchers_that_are_remembered_are_bounded() {
    let mut wakes = Wakes::default();
    for watcher in 0..WATCHERS {
        assert!(wakes.opened(&watcher.to_string(), id(1), 0));
    }
    assert!(!wakes.opened("one more within the window", id(1), WINDOW - 1));
    assert!(wakes.opened("one more after it", id(1), WINDOW));
    assert_eq!(wakes.watchers.len(), WATCHERS);
    assert_eq!(wakes.timers.len(), WATCHERS);
}

/// What happens next in a random history.
#[derive(Clone, Debug)]
enum Step {
    Open(u8, u8),
    Acknowledge(u8, u8),
    Pass(u64),
    Back(u64),
    /// The timers are looked at, and the store may fail.
    Look(bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let jump = prop_oneof![0..5u64, Just(WINDOW), Just(REMINDER), 0..2 * REMINDER, 0..WINDOW];
    let step = prop_oneof![
        4 => (0..3u8, 0..3u8).prop_map(|(watcher, target)| Step::Open(watcher, target)),
        2 => (0..3u8, 0..3u8).prop_map(|(watcher, target)| Step::Acknowledge(watcher, target)),
        4 => jump.clone().prop_map(Step::Pass),
        1 => jump.prop_map(Step::Back),
        4 => any::<bool>().prop_map(Step::Look),
    ];
    vec(step, 1..80)
}

/// The world around the policy: what is pending, and when each watcher was woken, counted in
/// time that passed, which a clock that is set back does not undo.
#[derive(Default)]
struct World {
    wakes: Wakes,
    now: u64,
    passed: u64,
    pending: HashSet<(u8, u8)>,
    last: HashMap<u8, u64>,
}

impl World {
    fn woken(&mut self, watcher: u8) {
        if let Some(last) = self.last.insert(watcher, self.passed) {
            assert!(self.passed - last >= WINDOW, "woken twice within the window");
        }
    }

    fn pass(&mut self, ms: u64) {
        self.now += ms;
        self.passed += ms;
    }

    fn look(&mut self, works: bool) {
        let mut rounds = 0;
        while let Some(question) = self.wakes.due(self.now) {
            rounds += 1;
            assert!(rounds < 100, "a due timer is never answered for good");
            let watcher: u8 = question.watcher.parse().unwrap();
            let counts = |&(who, target): &(u8, u8)| {
                let asked = question.any_of.as_ref();
                who == watcher && asked.is_none_or(|any_of| any_of.contains(&id(target)))
            };
            let answer = match (works, self.pending.iter().any(counts)) {
                (false, _) => Answer::Unknown,
                (true, true) => Answer::Pending,
                (true, false) => Answer::Settled,
            };
            if self.wakes.answer(&question.watcher, answer, self.now) {
                assert_eq!(answer, Answer::Pending, "a wake needs a pending notice");
                self.woken(watcher);
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Open(watcher, target) => {
                if self.pending.insert((watcher, target))
                    && self.wakes.opened(&watcher.to_string(), id(target), self.now)
                {
                    self.woken(watcher);
                }
            }
            Step::Acknowledge(watcher, target) => {
                self.pending.remove(&(watcher, target));
            }
            Step::Pass(ms) => self.pass(ms),
            Step::Back(ms) => {
                self.now = self.now.saturating_sub(ms);
                self.look(true);
            }
            Step::Look(works) => self.look(works),
        }
    }
}

proptest! {
    #[test]
    fn no_watcher_is_woken_twice_within_20_s_whatever_happens(steps in steps()) {
        let mut world = World::default();
        for step in steps {
            world.step(&step);
        }
    }

    #[test]
    fn a_pending_notice_wakes_its_watcher_within_a_quarter_of_an_hour(steps in steps()) {
        let mut world = World::default();
        for step in steps {
            world.step(&step);
        }
        world.look(true);
        world.pass(REMINDER);
        let before = world.passed - REMINDER;
        world.look(true);
        for (watcher, _) in world.pending.clone() {
            prop_assert!(world.last[&watcher] >= before.saturating_sub(REMINDER));
            prop_assert!(world.passed - world.last[&watcher] <= REMINDER);
        }
    }

    #[test]
    fn timers_and_watchers_match_one_to_one(steps in steps()) {
        let mut world = World::default();
        for step in steps {
            world.step(&step);
            let wakes = &world.wakes;
            prop_assert_eq!(wakes.timers.len(), wakes.watchers.len());
            for (due, watcher) in &wakes.timers {
                prop_assert_eq!(wakes.watchers[watcher].timer, *due);
            }
        }
    }
}
