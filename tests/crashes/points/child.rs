//! The child: plays the day, names each point that it comes to, and stands still at one of them
//! until somebody kills it. It says each thing on a line of JSON.

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
use std::{env, thread};

use harness::NOON;
use harness::command::SCRATCH;
use headsup::{Engine, Listener, Notice, Plugin};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::hooks;
use super::script::{Day, STEPS, builder, store};

/// Names the folder, in a child.
pub const FOLDER: &str = "HEADSUP_TEST_FOLDER";
/// The number of the point at which a child stands still; it plays the whole day without.
pub const POINT: &str = "HEADSUP_TEST_POINT";

/// What the child is about.
struct Play {
    db: PathBuf,
    /// Where it stands still.
    at: Option<u64>,
    /// What it is doing, and how many points it has come to.
    place: Mutex<(&'static str, u64)>,
}

static PLAY: OnceLock<Play> = OnceLock::new();

pub fn plays(folder: &Path) {
    let at = env::var(POINT).ok().map(|number| number.parse().unwrap());
    let place = Mutex::new(("open", 0));
    assert!(PLAY.set(Play { db: store(folder), at, place }).is_ok());
    let engine = Engine::new(Some(SCRATCH.join("cache"))).unwrap();
    let core = Plugin::built_in(&engine).unwrap();
    hooks::tell(comes_to);
    comes_to("before the call");
    let opened = builder(folder, core, NOON).listener(Teller).open().unwrap();
    answers("opened");
    let day = Day::of(opened, folder);
    for step in STEPS {
        play().place.lock().unwrap().0 = step.name;
        comes_to("before the call");
        answers(&day.does(step));
    }
}

fn play() -> &'static Play {
    PLAY.get().expect("this is the child")
}

fn answers(answer: &str) {
    comes_to("before the answer");
    say(&json!({ "told": answer }));
    comes_to("after the answer");
}

fn comes_to(point: &str) {
    let Play { db, at, place } = play();
    let (step, number) = {
        let mut place = place.lock().unwrap();
        place.1 += 1;
        *place
    };
    match at {
        Some(at) if *at == number => {
            say(&json!({ "here": number }));
            loop {
                thread::park();
            }
        }
        Some(_) => {}
        None => {
            let kept = hooks::unheard(|| kept(db));
            say(&json!({ "point": format!("{step}: {point}"), "kept": kept }));
        }
    }
}

fn say(line: &Value) {
    // In one piece, or the end of a killed process could leave half of it.
    stdout().write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Delivery.
struct Teller;

impl Listener for Teller {
    fn notice(&self, watcher: &str, notice: &Notice) {
        comes_to("before a notice is delivered");
        say(&json!({ "heard": format!("{watcher} {} {}", notice.target.key, notice.since) }));
        comes_to("after a notice was delivered");
    }

    fn wake(&self, watcher: &str) {
        comes_to("before a wake is delivered");
        say(&json!({ "woken": watcher }));
        comes_to("after a wake was delivered");
    }
}

/// All rows that whoever opens a store finds in it, as a text: empty if it is none yet. Where it
/// lies, when its tables were made and which file a source is are left out.
pub fn kept(db: &Path) -> String {
    if !db.exists() {
        return String::new();
    }
    let connection = Connection::open(db).unwrap();
    let mut kept = String::new();
    for table in [
        "session_state_events",
        "session_state_heads",
        "session_watch_cursors",
        "(SELECT generation, revision, misses, checked_at, claimed_until, catalog,
                 json_remove(state_json, '$.identity', '$.stamp') FROM session_upstream_links)",
        "headsup_own_turns",
        "headsup_open_counts",
        "headsup_settings",
        "sqlite_sequence",
    ] {
        let Ok(mut statement) = connection.prepare(&format!("SELECT * FROM {table}")) else {
            assert_eq!(kept, "", "{table} alone is missing");
            return kept;
        };
        let columns = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            let values = (0..columns).map(|at| row.get::<_, rusqlite::types::Value>(at));
            values.collect::<Result<Vec<_>, _>>()
        };
        let mut rows: Vec<String> = statement
            .query_map([], row)
            .unwrap()
            .map(|row| format!("{:?}", row.unwrap()))
            .collect();
        rows.sort();
        kept.push_str(&rows.join("\n"));
        kept.push_str("\n\n");
    }
    kept
}
