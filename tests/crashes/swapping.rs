//! Killed while the core is swapped, again and again, under load.

use std::env;
use std::io::{BufRead as _, BufReader, Write as _, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use harness::command::SCRATCH;
use harness::{Ledger, Loss, core};
use headsup::{Actor, Awareness, Engine, GoalChange, Plugin, Recording, Signal};
use tempfile::tempdir;

use crate::{dice, kills};

/// Names the store in the child of this test.
const STORE: &str = "HEADSUP_TEST_SWAPPED_STORE";
const SESSION: &str = "agent:main:telegram:worker";
const WATCHER: &str = "agent:main:main";

#[test]
fn whoever_is_killed_while_swapping_loses_and_doubles_nothing() {
    if let Some(store) = env::var_os(STORE) {
        return swap_and_record(Path::new(&store));
    }
    let mut dice = dice();
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut ledger = Ledger::default();
    let name = "swapping::whoever_is_killed_while_swapping_loses_and_doubles_nothing";
    for round in 0..kills(5) {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env(STORE, &path)
            .env("HEADSUP_TEST_ROUND", round.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let until = 20 + dice.below(400);
        let mut hear = |ledger: &mut Ledger| match lines.next() {
            Some(Ok(line)) => {
                enter(ledger, &line);
                true
            }
            _ => false,
        };
        let mut heard = 0;
        while heard < until && hear(&mut ledger) {
            heard += 1;
        }
        assert_eq!(heard, until, "the child died by itself");
        thread::sleep(Duration::from_micros(dice.below(2_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        while hear(&mut ledger) {}
        let awareness = Awareness::builder(&path).plugin(core()).open().unwrap();
        ledger.check(&awareness, &path, Loss::None);
    }
}

/// What the child said: `asks RUN`, `told RUN VERSION`, or something of the test's own.
fn enter(ledger: &mut Ledger, line: &str) {
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["asks", run] => ledger.asks(run, SESSION),
        ["told", run, version] => ledger.recorded(run, version.parse().unwrap()),
        ["watched"] => ledger.watched(WATCHER, SESSION),
        _ => {}
    }
}

fn say(line: &str) {
    // In one piece, or the end of a killed process could leave half a number.
    stdout().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// The child: one thread swaps, one records, until somebody kills it.
fn swap_and_record(path: &Path) {
    let engine = Engine::new(Some(SCRATCH.join("cache"))).unwrap();
    let cores = [Plugin::built_in(&engine).unwrap(), Plugin::built_in(&engine).unwrap()];
    let awareness = Awareness::builder(path).plugin(cores[0].clone()).open().unwrap();
    awareness.watch(WATCHER, SESSION, false).unwrap();
    say("watched");
    let swapped = awareness.clone();
    thread::spawn(move || {
        for plugin in cores.iter().cycle() {
            swapped.swap(plugin);
        }
    });
    let round = env::var("HEADSUP_TEST_ROUND").unwrap();
    for count in 0.. {
        let run = format!("{round}-{count}");
        say(&format!("asks {run}"));
        let signal = Signal::goal_changed(SESSION, GoalChange::Updated, Actor::human());
        match awareness.record(signal.run_id(&run).dedupe_key(&run)).unwrap() {
            Recording::Recorded(version) => say(&format!("told {run} {version}")),
            other => panic!("{other:?}"),
        }
    }
}
