//! Killed at every point of a gateway's day that has a name: before and after each call, each
//! statement (the beginning and the end of each transaction among them), each delivery and each
//! answer, and in the middle of each commit.
//!
//! A child plays the day once to its end and says at each point what another process would find in
//! the store. Then it is killed at each: the store has to hold that and nothing else, so every
//! transaction is there as a whole or not at all; what was answered has to be there; what is pending
//! has to be what the script says; and the day goes on to the same end.

mod child;
mod hooks;
mod script;

use std::collections::BTreeSet;
use std::env;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use harness::{Ears, News, core, doctor};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::tempdir;

use child::{FOLDER, POINT, kept};
use script::{Day, Pending, STEPS, builder, prepare, store};

/// A point of the day.
struct Point {
    name: String,
    /// How many answers there were before.
    told: usize,
    /// What the store holds for whoever opens it then.
    kept: String,
}

/// The day as it is when nobody is killed.
#[derive(Default)]
struct Undisturbed {
    points: Vec<Point>,
    told: Vec<String>,
    /// What the store holds, and what is pending, after so many answers.
    after: Vec<(String, &'static [Pending])>,
    /// What can be seen in the end.
    end: String,
}

/// A child that plays.
struct Player {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Player {
    fn starts(folder: &Path, point: Option<usize>) -> Self {
        prepare(folder);
        let name =
            "points::whoever_is_killed_at_any_point_that_has_a_name_loses_and_doubles_nothing";
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", name, "--nocapture"]).env(FOLDER, folder);
        if let Some(point) = point {
            command.env(POINT, (point + 1).to_string());
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next thing that it says; nothing once it has ended.
    fn says(&mut self) -> Option<Value> {
        // The test's own frame speaks, too, and no JSON.
        self.lines
            .by_ref()
            .find_map(|line| serde_json::from_str(&line.unwrap()).ok().filter(Value::is_object))
    }
}

impl Drop for Player {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

#[test]
fn whoever_is_killed_at_any_point_that_has_a_name_loses_and_doubles_nothing() {
    if let Some(folder) = env::var_os(FOLDER) {
        return child::plays(Path::new(&folder));
    }
    let day = undisturbed();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(at) = (0..day.points.len()).nth(next.fetch_add(1, Ordering::SeqCst))
                {
                    killed_at(at, &day);
                }
            });
        }
    });
}

/// Plays the day to its end, once in a child that says where it comes by, and once here.
fn undisturbed() -> Undisturbed {
    let mut day = Undisturbed::default();
    let folder = tempdir().unwrap();
    let mut player = Player::starts(folder.path(), None);
    while let Some(said) = player.says() {
        if let Some(answer) = said["told"].as_str() {
            day.told.push(answer.to_owned());
        } else if let Some(name) = said["point"].as_str() {
            let kept = said["kept"].as_str().unwrap().to_owned();
            day.points.push(Point { name: name.to_owned(), told: day.told.len(), kept });
        }
    }
    assert!(player.child.wait().unwrap().success());
    assert_eq!(day.told.len(), STEPS.len() + 1, "{:?}", day.told);

    let folder = tempdir().unwrap();
    prepare(folder.path());
    let opened = builder(folder.path(), core(), harness::NOON).listener(Ears::default());
    let here = Day::of(opened.open().unwrap(), folder.path());
    day.after = vec![(String::new(), &[]), (kept(&store(folder.path())), &[])];
    for (step, told) in STEPS.iter().zip(&day.told[1..]) {
        assert_eq!(here.does(step), *told, "{}", step.name);
        assert_eq!(here.pending(), as_said(step.pending), "{}", step.name);
        day.after.push((kept(&store(folder.path())), step.pending));
    }
    day.end = here.view();
    for point in &day.points {
        day.holds(point);
    }
    let names: BTreeSet<&str> = day.points.iter().map(|point| point.name.as_str()).collect();
    for name in ["drain: in a commit", "acknowledge: before COMMIT", "delete: after COMMIT"] {
        assert!(names.contains(name), "{name} is none of {names:?}");
    }
    day
}

impl Undisturbed {
    /// What was answered is there at every point, and what was not is there once its last commit is
    /// made; a call of several transactions may be in between.
    fn holds(&self, point: &Point) {
        let (before, after) = (&self.after[point.told].0, self.after.get(point.told + 1));
        let all = self.after.iter().map(|(kept, _)| kept);
        let others = all.filter(|kept| *kept != before && Some(*kept) != after.map(|it| &it.0));
        assert!(others.into_iter().all(|kept| *kept != point.kept), "{}", point.name);
        let answered = point.name.ends_with("after the answer");
        if answered {
            assert_eq!(point.kept, *before, "{}: lost or too early", point.name);
        }
    }

    /// What has to be pending in a store that was left at this point.
    fn pending(&self, point: &Point) -> Vec<&'static [Pending]> {
        let around = self.after.iter().skip(point.told).take(2);
        let exact = around.clone().filter(|(kept, _)| *kept == point.kept);
        let exact: Vec<_> = exact.map(|(_, pending)| *pending).collect();
        if exact.is_empty() { around.map(|(_, pending)| *pending).collect() } else { exact }
    }
}

fn as_said(pending: &[Pending]) -> Vec<(String, String, u64)> {
    let mut all: Vec<_> = pending
        .iter()
        .map(|(watcher, target, since)| ((*watcher).to_owned(), (*target).to_owned(), *since))
        .collect();
    all.sort();
    all
}

fn killed_at(at: usize, day: &Undisturbed) {
    let point = &day.points[at];
    let folder = tempdir().unwrap();
    let db = store(folder.path());
    let mut player = Player::starts(folder.path(), Some(at));
    let (mut told, mut beside) = (Vec::new(), None);
    loop {
        let said = player.says().unwrap_or_else(|| panic!("{}: never came to it", point.name));
        if let Some(answer) = said["told"].as_str() {
            told.push(answer.to_owned());
            // Every other time somebody else has the store open, too, and shares its memory.
            if at % 2 == 1 && beside.is_none() {
                let connection = Connection::open(&db).unwrap();
                let count = "SELECT count(*) FROM session_state_events";
                connection.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap();
                beside = Some(connection);
            }
        }
        if said.get("here").is_some() {
            break;
        }
    }
    drop(player);
    assert_eq!(told, day.told[..point.told], "{}", point.name);
    assert_eq!(kept(&db), point.kept, "{}", point.name);
    if !point.kept.is_empty() {
        assert_eq!(doctor(&db).unwrap(), Vec::<String>::new(), "{}", point.name);
    }
    goes_on(folder.path(), day, point);
    assert_eq!(doctor(&db).unwrap(), Vec::<String>::new(), "{}", point.name);
}

/// Another process opens the store, recovers, and does what was not answered and all that follows.
fn goes_on(folder: &Path, day: &Undisturbed, point: &Point) {
    let ears = Ears::default();
    // The first answer is that of opening.
    let done = point.told.saturating_sub(1);
    let now = STEPS.get(done).or(STEPS.last()).unwrap().now;
    let opened = builder(folder, core(), now).listener(ears.clone()).recover_on_open(false);
    let here = Day::of(opened.open().unwrap(), folder);
    let pending = here.pending();
    let allowed: Vec<_> = day.pending(point).into_iter().map(as_said).collect();
    assert!(allowed.contains(&pending), "{}: {pending:?}", point.name);
    here.awareness.recover().unwrap();
    let mut heard: Vec<_> = ears
        .take()
        .into_iter()
        .filter_map(|news| match news {
            News::Notice { watcher, notice } => Some((watcher, notice.target.key, notice.since)),
            _ => None,
        })
        .collect();
    heard.sort();
    assert_eq!(heard, pending, "{}: all of it is told again", point.name);
    for step in &STEPS[done..] {
        here.does(step);
    }
    assert_eq!(here.view(), day.end, "{}: the day ends in the same way", point.name);
}
