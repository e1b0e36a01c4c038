//! Steady load for as long as `SECONDS` says (600 if it does not), with pruning, expiry and sessions
//! that come and go: memory, log and file must stay flat. `make soak` runs it; it is no test, because
//! it takes long and measures.
//!
//! A second is an hour by the store's clock, so that an hourly prune comes every second and what
//! expires after a day goes within half a minute.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failing call ends the run")]

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use harness::{HOUR, MAIN, NOON, OPS};
use headsup::{Actor, Awareness, Durability, GoalChange, Policy, Recording, Signal};

/// Sessions that stay, each watched by two.
const SESSIONS: u64 = 200;
/// One record in so many is of a session that is deleted right after.
const PASSING: u64 = 50;
/// How much more memory than in the second quarter there may be in the second half, in bytes: what
/// the allocator takes or leaves.
const MEMORY_SLACK: u64 = 8 << 20;
/// The same for log and file, where a tenth is allowed if that is more: what a checkpoint that is due
/// takes or leaves.
const SLACK: u64 = 1 << 20;
/// The fewest seconds in which everything that comes and goes has done so before it is measured:
/// what expires goes after 25.
const SHORTEST: u64 = 40;

/// What is watched, in bytes.
#[derive(Clone, Copy, Default)]
struct Sizes {
    memory: u64,
    log: u64,
    file: u64,
}

/// One of the sizes.
type Measure = fn(&Sizes) -> u64;
/// How much more there may be than there was before.
type Slack = fn(u64) -> u64;

fn main() -> ExitCode {
    let seconds = std::env::var("SECONDS").map_or(600, |text| text.parse().expect("a number"));
    if seconds < SHORTEST {
        eprintln!("SECONDS={seconds} says nothing: {SHORTEST} at least");
        return ExitCode::FAILURE;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("soak.db");
    let awareness = opened(&path);
    let (over, calls) = (AtomicBool::new(false), AtomicU64::new(0));
    let sizes = thread::scope(|scope| {
        for writer in 0..2 {
            let (awareness, over, calls) = (&awareness, &over, &calls);
            scope.spawn(move || writes(awareness, writer, over, calls));
        }
        scope.spawn(|| reads(&awareness, &over));
        let sizes = watches(&awareness, &path, seconds);
        over.store(true, Ordering::SeqCst);
        sizes
    });
    println!("{} records in {seconds} s", calls.load(Ordering::SeqCst));
    judged(&sizes)
}

fn opened(path: &Path) -> Awareness {
    let policy = Policy {
        notice_template: String::new(),
        history_days: 30,
        history_rows: 5_000,
        cursor_days: 1,
    };
    let builder = Awareness::builder(path).manual_clock(NOON).policy(policy);
    let awareness = builder.durability(Durability::Normal).plugin(harness::core()).open().unwrap();
    for number in 0..SESSIONS {
        for watcher in [MAIN, OPS] {
            awareness.watch(watcher, session(number).as_str(), false).unwrap();
        }
    }
    awareness
}

fn session(number: u64) -> String {
    format!("agent:main:subagent:{number}")
}

fn writes(awareness: &Awareness, writer: u64, over: &AtomicBool, calls: &AtomicU64) {
    for number in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        let passing = number % PASSING == 0;
        let key = if passing {
            format!("agent:main:passing:{writer}-{number}")
        } else {
            session(number % SESSIONS)
        };
        let signal = Signal::goal_changed(key.as_str(), GoalChange::Updated, Actor::human());
        let recording = awareness.record(signal.watcher(MAIN)).unwrap();
        assert!(matches!(recording, Recording::Recorded(_)), "{recording:?}");
        calls.fetch_add(1, Ordering::Relaxed);
        if passing {
            awareness.delete(key.as_str()).unwrap();
        }
    }
}

fn reads(awareness: &Awareness, over: &AtomicBool) {
    for number in 0.. {
        if over.load(Ordering::SeqCst) {
            return;
        }
        for watcher in [MAIN, OPS] {
            let notices = awareness.take(watcher).unwrap();
            awareness.acknowledge(watcher, &notices).unwrap();
        }
        awareness.changes_since(session(number % SESSIONS).as_str(), 0, None).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
}

/// Lets the time pass and looks once a second; says every tenth.
fn watches(awareness: &Awareness, path: &Path, seconds: u64) -> Vec<Sizes> {
    println!("{:>6} {:>12} {:>9} {:>9}", "s", "memory MiB", "log MiB", "file MiB");
    let started = Instant::now();
    let mut all = Vec::new();
    for second in 1..=seconds {
        thread::sleep(Duration::from_secs(second).saturating_sub(started.elapsed()));
        awareness.set_clock(NOON + second * HOUR).unwrap();
        awareness.tidy();
        let sizes = sizes(path);
        if second % 10 == 0 {
            let Sizes { memory, log, file } = sizes;
            println!("{second:>6} {:>12} {:>9} {:>9}", mib(memory), mib(log), mib(file));
        }
        all.push(sizes);
    }
    all
}

fn sizes(path: &Path) -> Sizes {
    let length = |suffix: &str| {
        let name = format!("{}{suffix}", path.display());
        fs::metadata(name).expect("a store has its file and its log").len()
    };
    let status = fs::read_to_string("/proc/self/status").expect("a system that says what we take");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = resident.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    let memory = kib.expect("the resident size") << 10;
    Sizes { memory, log: length("-wal"), file: length("") }
}

/// With two digits of a fraction.
fn mib(bytes: u64) -> String {
    let hundredths = (bytes * 100) >> 20;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// The second half against the second quarter, when everything that comes and goes does so.
fn judged(all: &[Sizes]) -> ExitCode {
    let (quarter, half) = (all.len() / 4, all.len() / 2);
    let most = |part: &[Sizes], of: Measure| part.iter().map(of).max().unwrap_or(0);
    let mut flat = true;
    let measures: [(&str, Measure, Slack); 3] = [
        ("memory", |at| at.memory, |_| MEMORY_SLACK),
        ("log", |at| at.log, |before| SLACK.max(before / 10)),
        ("file", |at| at.file, |before| SLACK.max(before / 10)),
    ];
    for (name, of, slack) in measures {
        let (before, after) = (most(&all[quarter..half], of), most(&all[half..], of));
        println!(
            "{name}: at most {} MiB in the second quarter, {} MiB in the second half",
            mib(before),
            mib(after)
        );
        flat &= after <= before + slack(before);
    }
    if flat {
        ExitCode::SUCCESS
    } else {
        println!("it grows");
        ExitCode::FAILURE
    }
}
