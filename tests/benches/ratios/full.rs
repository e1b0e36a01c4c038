//! Threads that record at once, each waiting for its own commit to reach the disk.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use headsup::{Awareness, Durability};

use crate::paired::median;
use crate::report::{Report, row, times};
use crate::stores::{Stores, record, signal};

const THREADS: usize = 16;
const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(700);

pub fn measure(stores: &Stores, report: &mut Report) {
    let one = stores.open(&stores.watched_by(1), Durability::Full);
    let many = stores.open(&stores.watched_by(1), Durability::Full);
    rate(&many, THREADS, ROUND / 4);
    let mut rates = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        rates[0].push(rate(&one, 1, ROUND));
        rates[1].push(rate(&many, THREADS, ROUND));
    }
    let gain = median(rates[1].iter().zip(&rates[0]).map(|(many, one)| many / one).collect());
    let [one, many] = rates.map(median);
    let rows = [
        row(&["threads, one call in flight each", "records a second", "gain"]),
        vec!["1".to_owned(), format!("{one:.0}"), String::new()],
        vec![THREADS.to_string(), format!("{many:.0}"), times(gain)],
    ];
    report.table("Recording with full durability", &rows);
    report.at_least("16 threads over one, full durability", gain, 5.0, "×");
}

/// Records a second, over all threads.
fn rate(awareness: &Awareness, threads: usize, length: Duration) -> f64 {
    let (running, recorded) = (AtomicBool::new(true), AtomicUsize::new(0));
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while running.load(Ordering::Relaxed) {
                    record(awareness, signal());
                    recorded.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        thread::sleep(length);
        running.store(false, Ordering::Relaxed);
    });
    recorded.into_inner() as f64 / started.elapsed().as_secs_f64()
}
