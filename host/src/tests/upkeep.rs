//! Pruning by the hour never stands in the way of calls.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::{CORE, Heard, builder};
use crate::{Awareness, Builder};

const HOUR: u64 = 3_600_000;

/// A store that another process writes to, without end.
fn locked(path: &Path) -> Connection {
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    other
}

fn hearing(builder: Builder) -> (Awareness, Heard) {
    let heard = Heard::default();
    let impatient = builder.busy_timeout(Duration::from_millis(100));
    (impatient.listener(heard.clone()).open().unwrap(), heard)
}

#[test]
fn the_write_lock_is_not_even_asked_for_before_a_prune_is_due() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (awareness, heard) = hearing(builder(&path));
    let start = awareness.now();
    let _other = locked(&path);
    for now in [start, start + 30_000, start + HOUR - 1] {
        awareness.set_clock(now).unwrap();
        awareness.tidy();
        assert_eq!(heard.take(), [""; 0], "at {now}");
    }
    awareness.set_clock(start + HOUR).unwrap();
    awareness.tidy();
    let said = heard.take();
    assert!(said.len() == 1 && said[0].contains("nothing was pruned (store-busy)"), "{said:?}");
}

#[test]
fn a_prune_that_failed_is_tried_again_a_minute_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (awareness, heard) = hearing(builder(&path));
    let due = awareness.now() + HOUR;
    let other = locked(&path);
    awareness.set_clock(due).unwrap();
    awareness.tidy();
    awareness.tidy();
    assert_eq!(heard.take().len(), 1);
    other.execute_batch("ROLLBACK").unwrap();
    awareness.set_clock(due + 60_000).unwrap();
    awareness.tidy();
    assert!(awareness.prune(crate::Urgency::IfDue).unwrap().is_none(), "it pruned");
}

#[test]
fn by_the_systems_clock_no_caller_prunes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    // Its last prune was long ago.
    drop(builder(&path).open().unwrap());
    let system = Awareness::builder(&path).plugin(CORE.clone()).recover_on_open(false);
    let (awareness, heard) = hearing(system);
    let _other = locked(&path);
    awareness.tidy();
    assert_eq!(heard.take(), [""; 0]);
}
