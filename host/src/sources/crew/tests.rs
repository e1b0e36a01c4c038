//! Sources that hang, are slow or panic: planted, each by the name of its file.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// What a planted source does, by how its path begins.
#[derive(Clone, Default)]
struct Planted {
    stage: Arc<Stage>,
}

#[derive(Default)]
struct Stage {
    begun: AtomicUsize,
    released: Mutex<bool>,
    release: Condvar,
}

impl Planted {
    /// Lets everything end that hangs.
    fn release(&self) {
        *self.stage.released.lock().unwrap() = true;
        self.stage.release.notify_all();
    }

    fn begun(&self) -> usize {
        self.stage.begun.load(Ordering::SeqCst)
    }
}

impl SourceFiles for Planted {
    fn read_on(&self, read: &FileRead) -> Found {
        self.read_ends(&read.places[0])
    }

    fn read_ends(&self, place: &str) -> Found {
        self.stage.begun.fetch_add(1, Ordering::SeqCst);
        if place.contains("hang") {
            let mut released = self.stage.released.lock().unwrap();
            while !*released {
                released = self.stage.release.wait(released).unwrap();
            }
        }
        assert!(!place.contains("panic"), "planted");
        if place.contains("gone") { Found::Missing } else { Found::Unchanged }
    }
}

fn read(place: &str) -> FileRead {
    let places = vec![place.to_owned()];
    FileRead { places, start: 0, at_most: 0, stamp: None }
}

fn crew(deadline: Duration) -> (Crew, Planted) {
    let planted = Planted::default();
    (Crew::new(Box::new(planted.clone()), deadline), planted)
}

fn all(crew: &Crew, places: &[String]) -> Vec<Found> {
    let reads = places.iter().map(|place| read(place)).collect();
    let mut answers = vec![None; places.len()];
    crew.read_on(reads, |number, found| {
        assert!(answers[number].replace(found).is_none(), "answered twice");
        true
    });
    answers.into_iter().map(Option::unwrap).collect()
}

/// Time enough for anything that does not hang.
const LONG: Duration = Duration::from_mins(10);

/// For what hangs. No read that does not may ever take this long, on a machine that is busy.
const SHORT: Duration = Duration::from_millis(400);

#[test]
fn every_source_is_answered_once_however_many_there_are() {
    let (crew, _) = crew(LONG);
    let places: Vec<String> = (0..1_000)
        .map(
            |number| {
                if number % 7 == 0 { format!("/gone/{number}") } else { format!("/a/{number}") }
            },
        )
        .collect();
    for (place, found) in places.iter().zip(all(&crew, &places)) {
        assert_eq!(found == Found::Missing, place.starts_with("/gone"), "{place}");
    }
    assert!(all(&crew, &[]).is_empty());
}

#[test]
fn a_source_that_hangs_costs_the_others_nothing() {
    let (crew, planted) = crew(SHORT);
    let mut places: Vec<String> = (0..50).map(|number| format!("/a/{number}")).collect();
    places.insert(0, "/a/hang".into());
    let found = all(&crew, &places);
    assert_eq!(found[0], Found::Unavailable("no answer within 400 ms".into()));
    assert!(found[1..].iter().all(|found| *found == Found::Unchanged));
    planted.release();
}

#[test]
fn a_read_that_hangs_is_not_begun_again_until_it_ended() {
    let (crew, planted) = crew(SHORT);
    let hanging = ["/a/hang".to_owned()];
    all(&crew, &hanging);
    assert_eq!(planted.begun(), 1);
    let again = all(&crew, &hanging);
    assert_eq!(again, [Found::Unavailable("an earlier read of it still hangs".into())]);
    assert_eq!(planted.begun(), 1);
    planted.release();
    while !crew.shared.lock().hanging.is_empty() {
        thread::yield_now();
    }
    assert_eq!(all(&crew, &hanging), [Found::Unchanged]);
}

#[test]
fn a_folder_that_hangs_as_a_whole_takes_few_threads_and_leaves_the_rest_to_others() {
    let (crew, planted) = crew(SHORT);
    let mut places: Vec<String> = (0..200).map(|number| format!("/hang/{number}")).collect();
    places.push("/a/1".into());
    let found = all(&crew, &places);
    assert!(found[..200].iter().all(|found| matches!(found, Found::Unavailable(_))));
    assert_eq!(found[200], Found::Unchanged);
    assert_eq!(planted.begun(), 4 + 1);
    // By then it is known.
    let begun = planted.begun();
    assert_eq!(all(&crew, &places)[200], Found::Unchanged);
    assert_eq!(planted.begun(), begun + 1);
    planted.release();
}

/// Reads until the first of these is answered that does not hang.
fn first_answer(crew: &Crew, places: &[String]) -> (usize, Found) {
    let reads = places.iter().map(|place| read(place)).collect();
    let mut answer = None;
    crew.read_on(reads, |number, found| {
        answer = Some((number, found));
        false
    });
    answer.unwrap()
}

#[test]
fn a_source_is_read_although_all_before_it_hang_and_their_deadline_is_far() {
    for hanging in [ABREAST, ABREAST + 1, 3 * ABREAST] {
        let (crew, planted) = crew(LONG);
        let mut places: Vec<String> = (0..hanging).map(|at| format!("/{at}/hang")).collect();
        places.push("/a/1".into());
        assert_eq!(first_answer(&crew, &places), (hanging, Found::Unchanged));
        planted.release();
    }
}

#[test]
fn a_source_is_read_beside_others_in_its_folder_that_hang() {
    let (crew, planted) = crew(LONG);
    let places = ["/a/hang-1", "/a/hang-2", "/a/hang-3", "/a/1"].map(str::to_owned);
    assert_eq!(first_answer(&crew, &places), (3, Found::Unchanged));
    planted.release();
}

#[test]
fn a_source_is_read_in_each_round_however_many_others_hang_and_they_are_begun_once() {
    let (crew, planted) = crew(SHORT);
    let mut places: Vec<String> = (0..60).map(|at| format!("/{at}/hang")).collect();
    places.push("/a/1".into());
    for round in 1..=3 {
        let found = all(&crew, &places);
        assert_eq!(found[60], Found::Unchanged);
        assert!(found[..60].iter().all(|found| matches!(found, Found::Unavailable(_))));
        assert_eq!(planted.begun(), 60 + round);
    }
    planted.release();
}

#[test]
fn what_hung_comes_last_until_it_was_read_in_time() {
    let (crew, planted) = crew(SHORT);
    let places = ["/1/hang", "/a/1", "/a/2"].map(str::to_owned);
    let order = || {
        let round = crew.enter(places.iter().map(|place| Read::On(read(place))).collect());
        let state = crew.shared.lock();
        Vec::from(state.rounds[&round.id].queue.clone())
    };
    assert_eq!(order(), [0, 1, 2]);
    all(&crew, &places);
    assert_eq!(order(), [1, 2, 0]);
    planted.release();
    while !crew.shared.lock().hanging.is_empty() {
        thread::yield_now();
    }
    assert_eq!(order(), [1, 2, 0]);
    all(&crew, &places);
    assert_eq!(order(), [0, 1, 2]);
}

#[test]
fn threads_are_bounded_however_much_hangs_and_end_with_their_reads() {
    let (crew, planted) = crew(Duration::from_millis(4));
    for round in 0..4 {
        let places: Vec<String> = (0..400).map(|at| format!("/{round}/{at}/hang")).collect();
        let found = all(&crew, &places);
        assert!(found.iter().all(|found| matches!(found, Found::Unavailable(_))));
        assert!(crew.shared.lock().threads <= THREADS);
    }
    // A thread may be given up before it came to read.
    while planted.begun() < THREADS {
        thread::yield_now();
    }
    assert_eq!(planted.begun(), THREADS);
    planted.release();
    while crew.shared.lock().threads > 0 {
        thread::yield_now();
    }
    assert_eq!(all(&crew, &["/hang".to_owned()]).len(), 1);
}

#[test]
fn a_reader_that_panics_is_a_source_that_cannot_be_read() {
    let (crew, _) = crew(LONG);
    let found = all(&crew, &["/panic".into(), "/a".into()]);
    assert_eq!(found, [Found::Unavailable("reading it panicked".into()), Found::Unchanged]);
}

#[test]
fn stopping_ends_the_waiting_in_the_middle_of_a_read_that_hangs() {
    let (crew, planted) = crew(LONG);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| crew.read_ends("/hang".into()));
        while planted.begun() == 0 {
            thread::yield_now();
        }
        crew.stop();
        assert_eq!(waiting.join().unwrap(), unavailable("the store is being closed"));
    });
    planted.release();
}

#[test]
fn who_does_not_want_more_gets_no_more() {
    let (crew, _) = crew(LONG);
    let reads = (0..100).map(|number| read(&format!("/a/{number}"))).collect();
    let mut heard = 0;
    crew.read_on(reads, |_, _| {
        heard += 1;
        heard < 3
    });
    assert_eq!(heard, 3);
    assert!(crew.shared.lock().rounds.is_empty());
}
