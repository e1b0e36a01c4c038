//! What single calls take through the component, typed and as JSON (WAL, `normal`), for comparing
//! one commit with another. What they take beside other ways is in `ratios`.
#![allow(missing_docs, reason = "criterion's macros make public functions")]
#![allow(clippy::unwrap_used, reason = "a failing call ends a measurement")]

use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use headsup::{Actor, Awareness, Durability, Listener, Recording, Signal};
use tempfile::TempDir;

const TARGET: &str = "agent:main:subagent:child";
const WATCHER: &str = "agent:main:main";

struct Deaf;

impl Listener for Deaf {}

/// A watched session with an open notice and a page of history.
fn store() -> (Awareness, TempDir) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let awareness = Awareness::builder(folder.path().join("headsup.db"))
        .durability(Durability::Normal)
        .listener(Deaf)
        .open()
        .unwrap();
    awareness.watch(WATCHER, TARGET, false).unwrap();
    awareness.record_many(vec![signal(); 200]).unwrap();
    (awareness, folder)
}

fn signal() -> Signal {
    Signal::human_direct_message(TARGET, Actor::human()).channel("telegram")
}

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
}

fn typed(criterion: &mut Criterion) {
    let (awareness, _folder) = store();
    let mut group = criterion.benchmark_group("typed");
    group.bench_function("changes since, 200 events", |bench| {
        bench.iter(|| awareness.changes_since(TARGET, 0, None).unwrap());
    });
    group.bench_function("versions", |bench| bench.iter(|| awareness.versions([TARGET]).unwrap()));
    group.bench_function("take", |bench| bench.iter(|| awareness.take(WATCHER).unwrap()));
    group.bench_function("record, pending", |bench| {
        bench.iter(|| awareness.record(signal()).unwrap());
    });
    group.bench_function("record, unwatched", |bench| {
        let lone = Signal::human_direct_message("agent:main:lone", Actor::human());
        bench.iter(|| assert_eq!(awareness.record(lone.clone()).unwrap(), Recording::Unwatched));
    });
    group.bench_function("drain", |bench| {
        let pending = || awareness.record(signal()).unwrap();
        bench.iter_batched(pending, |_| awareness.drain(WATCHER).unwrap(), BatchSize::PerIteration);
    });
    group.finish();
}

fn wire(criterion: &mut Criterion) {
    let (awareness, _folder) = store();
    let mut group = criterion.benchmark_group("wire");
    let calls = [
        (
            "status, 200 events",
            "status",
            r#"{"session":"agent:main:subagent:child","changesSince":0}"#,
        ),
        ("take", "take", r#"{"watcher":"agent:main:main"}"#),
        (
            "record, pending",
            "record",
            r#"{"session":"agent:main:subagent:child","kind":"human_direct_message","actor":{"type":"human"},"channel":"telegram"}"#,
        ),
        (
            "bad input",
            "record",
            r#"{"session":"agent:","kind":"created","actor":{"type":"human"}}"#,
        ),
    ];
    for (name, method, params) in calls {
        let request = request(method, params);
        group.bench_function(name, |bench| bench.iter(|| awareness.call(&request).unwrap()));
    }
    group.finish();
}

criterion_group! {
    name = calls;
    config = Criterion::default()
        .sample_size(40)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    targets = typed, wire
}
criterion_main!(calls);
