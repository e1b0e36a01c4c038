//! Contestants that run in turn.

use std::time::{Duration, Instant};

/// How a contestant's time is taken.
#[derive(Clone, Copy)]
pub enum Clock {
    /// As it passes.
    Wall,
    /// While this thread runs: what others do, and waiting for the disk, do not count. Known to a
    /// few ms only, for batches of at least a hundred. Where the system does not say, as it passes.
    Processor,
}

impl Clock {
    fn now(self, start: Instant) -> Duration {
        let running = || {
            let times = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
            let nanos = times.split(' ').next()?.parse().ok()?;
            Some(Duration::from_nanos(nanos))
        };
        match self {
            Self::Wall => start.elapsed(),
            Self::Processor => running().unwrap_or_else(|| start.elapsed()),
        }
    }
}

/// Something that is timed: does a batch and says how long a single one of it took.
pub struct Contestant<'a> {
    batch: Box<dyn FnMut() -> f64 + 'a>,
}

impl<'a> Contestant<'a> {
    /// Repeats a call so many times in a batch.
    pub fn repeating(times: u32, call: impl FnMut() + 'a) -> Self {
        Self::timed(Clock::Wall, times, call)
    }

    /// The same by another clock.
    pub fn timed(clock: Clock, times: u32, mut call: impl FnMut() + 'a) -> Self {
        let start = Instant::now();
        let batch = move || {
            let started = clock.now(start);
            for _ in 0..times {
                call();
            }
            micros(clock.now(start).saturating_sub(started)) / f64::from(times)
        };
        Self { batch: Box::new(batch) }
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
        Self { batch: Box::new(batch) }
    }
}

/// The times of one contestant, in µs a call, round by round.
pub struct Times(Vec<f64>);

impl Times {
    /// The median.
    pub fn median(&self) -> f64 {
        median(self.0.clone())
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// How many times as long this took as the other: the median over the rounds, in each of which
    /// both ran within milliseconds of each other.
    pub fn over(&self, other: &Self) -> f64 {
        median(self.0.iter().zip(&other.0).map(|(this, other)| this / other).collect())
    }
}

/// Runs all contestants so many rounds, each round beginning with another of them.
pub fn race(rounds: usize, mut contestants: Vec<Contestant>) -> Vec<Times> {
    let count = contestants.len();
    let mut times: Vec<Vec<f64>> = vec![Vec::with_capacity(rounds); count];
    for contestant in &mut contestants {
        (contestant.batch)();
    }
    for round in 0..rounds {
        for turn in 0..count {
            let at = (round + turn) % count;
            times[at].push((contestants[at].batch)());
        }
    }
    times.into_iter().map(Times).collect()
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
