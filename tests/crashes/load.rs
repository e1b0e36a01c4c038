//! Several servers on one store under load, of which some or all are killed.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use harness::command::{headsup, text};
use harness::{Dice, Ledger, Loss, core};
use headsup::Awareness;
use tempfile::tempdir;

use crate::driver::{Driver, Shared, TARGETS, WATCHERS};
use crate::server::Server;
use crate::{dice, kills};

const SERVERS: u64 = 3;

/// How long a moment may be waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// What survivors do after the others were killed, in answers.
const AFTERMATH: u64 = 30;

#[test]
fn whoever_is_killed_nothing_acknowledged_is_lost_and_nothing_is_doubled() {
    let mut dice = dice();
    let folder = tempdir().unwrap();
    let path = folder.path().join("store.db");
    let shared = Shared {
        ledger: Ledger::default().into(),
        answers: AtomicU64::new(0),
        over: AtomicBool::new(false),
    };
    watches(&path, &mut shared.ledger());
    let (mut killed, mut round) = (0, 0);
    while killed < kills(40) {
        round += 1;
        killed += killing(&shared, &path, &mut dice, round);
        let awareness = open(&path);
        let mut ledger = shared.ledger();
        ledger.check(&awareness, &path, Loss::None);
        ledger.look(&awareness);
    }
    let answered = shared.ledger().answered() as u64;
    assert!(answered > killed * 10, "there was load: {answered}");
}

/// Everybody watches everybody else.
fn watches(path: &Path, ledger: &mut Ledger) {
    let awareness = open(path);
    for watcher in WATCHERS {
        for target in TARGETS.into_iter().filter(|target| *target != watcher) {
            awareness.watch(watcher, target, false).unwrap();
            ledger.watched(watcher, target);
        }
    }
}

fn open(path: &Path) -> Awareness {
    Awareness::builder(path).plugin(core()).open().unwrap()
}

/// One round: returns how many were killed.
fn killing(shared: &Shared, path: &Path, dice: &mut Dice, round: u64) -> u64 {
    shared.over.store(false, Ordering::SeqCst);
    let victims = 1 + dice.below(SERVERS);
    thread::scope(|scope| {
        let mut servers = Vec::new();
        for at in 0..SERVERS {
            let mut command = headsup(["serve", "--stdio", "--db", text(path)]);
            let (server, line) = Server::start(&mut command, path.parent().unwrap());
            let driver = Driver::new(shared, line, Dice::new(dice.roll()), format!("{round}-{at}"));
            servers.push(server);
            scope.spawn(move || driver.drive());
        }
        // The first answers come once all have started, or while some still do.
        for _ in 0..victims {
            comes(shared, 1 + dice.below(120));
            thread::sleep(Duration::from_micros(dice.below(3_000)));
            servers.pop().unwrap().kill();
        }
        if !servers.is_empty() {
            comes(shared, AFTERMATH);
        }
        shared.over.store(true, Ordering::SeqCst);
        servers.into_iter().for_each(Server::ends);
    });
    victims
}

/// Waits for so many answers more. Nobody who lives is held up by those who were killed.
fn comes(shared: &Shared, answers: u64) {
    let (started, until) = (Instant::now(), shared.answers.load(Ordering::SeqCst) + answers);
    while shared.answers.load(Ordering::SeqCst) < until {
        assert!(started.elapsed() < PATIENCE, "no answer came");
        thread::sleep(Duration::from_micros(200));
    }
}
