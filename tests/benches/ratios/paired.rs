//! Contestants that run in turn.

use std::time::{Duration, Instant};

/// How long this thread has run: what others do, and waiting for the disk, do not count. Exact to a
/// few ms; `None` where the system does not say.
fn running() -> Option<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(times.split(' ').next()?.parse().ok()?))
}

/// Something that is timed: does a batch and says how long a single one of it took.
pub struct Contestant<'a> {
    batch: Box<dyn FnMut() -> f64 + 'a>,
    times: u32,
}

impl<'a> Contestant<'a> {
    /// Repeats a call so many times in a batch.
    pub fn repeating(times: u32, mut call: impl FnMut() + 'a) -> Self {
        let batch = move || {
            let started = Instant::now();
            for _ in 0..times {
                call();
            }
            micros(started.elapsed()) / f64::from(times)
        };
        Self { batch: Box::new(batch), times }
    }

    /// Prepares each call without timing that.
    pub fn prepared<S>(
        times: u32,
        state: S,
        mut prepare: impl FnMut(&mut S) + 'a,
        mut call: impl FnMut(&mut S) + 'a,
    ) -> Self
    where
        S: 'a,
    {
        let mut state = state;
        let batch = move || {
            let mut spent = Duration::ZERO;
            for _ in 0..times {
                prepare(&mut state);
                let started = Instant::now();
                call(&mut state);
                spent += started.elapsed();
            }
            micros(spent) / f64::from(times)
        };
        Self { batch: Box::new(batch), times }
    }
}

/// The times of one contestant, in µs a call.
#[derive(Default)]
pub struct Times {
    /// Round by round.
    elapsed: Vec<f64>,
    /// On the processor, over all rounds; what prepares a call included.
    running: f64,
}

impl Times {
    /// The median.
    pub fn median(&self) -> f64 {
        median(self.elapsed.clone())
    }

    /// How many times as long this took as the other: the median over the rounds, in each of which
    /// both ran within milliseconds of each other.
    pub fn over(&self, other: &Self) -> f64 {
        median(self.elapsed.iter().zip(&other.elapsed).map(|(this, other)| this / other).collect())
    }

    /// How many times as long this ran on the processor, over all rounds.
    pub fn running_over(&self, other: &Self) -> f64 {
        self.running / other.running
    }
}

/// Runs all contestants so many rounds, each round beginning with another of them.
pub fn race(rounds: usize, mut contestants: Vec<Contestant>) -> Vec<Times> {
    let count = contestants.len();
    let mut times: Vec<Times> = (0..count).map(|_| Times::default()).collect();
    for contestant in &mut contestants {
        (contestant.batch)();
    }
    for round in 0..rounds {
        for turn in 0..count {
            let at = (round + turn) % count;
            let (contestant, times) = (&mut contestants[at], &mut times[at]);
            let started = running();
            times.elapsed.push((contestant.batch)());
            if let (Some(started), Some(ended)) = (started, running()) {
                let each = rounds as f64 * f64::from(contestant.times);
                times.running += micros(ended.saturating_sub(started)) / each;
            }
        }
    }
    times
}

/// The middle value.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A duration in µs.
pub fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
