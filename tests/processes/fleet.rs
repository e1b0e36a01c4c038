//! Processes that serve one store, each driven by a thread of the test, and a connection that
//! checkpoints all the time.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};
use serde_json::{Value, json};
use tempfile::TempDir;

use harness::command::{Running, headsup, request, text};

pub const WATCHER: &str = "agent:main:main";

/// Whether the long version was asked for.
pub fn long() -> bool {
    std::env::var_os("HEADSUP_LONG").is_some()
}

/// How long a stopped process stands still: always within the busy time-out.
pub fn standstill() -> Duration {
    Duration::from_secs(if long() { 10 } else { 1 })
}

/// What the processes of a test share.
pub struct Fleet {
    pub folder: TempDir,
    pub db: PathBuf,
    /// Nobody reads or takes any more.
    pub over: AtomicBool,
    /// Records that were answered.
    written: AtomicU64,
    /// Up to where each target's notices were acknowledged.
    acknowledged: Mutex<HashMap<String, u64>>,
    /// Each acknowledgement that counted: target, since, up to.
    pub ranges: Mutex<Vec<(String, u64, u64)>>,
}

/// Ends what goes on until it is over, also where the test fails meanwhile.
pub struct Over<'a>(pub &'a Fleet);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
    }
}

/// One process, and how to ask it.
pub struct Client {
    pub running: Running,
    asked: u64,
}

/// What a writer knows of its records: session, dedupe key, and the version if it was answered.
pub type Records = Vec<(String, String, Option<u64>)>;

pub fn target(number: u64) -> String {
    format!("agent:main:subagent:{number}")
}

impl Fleet {
    /// A store in which `WATCHER` watches so many targets.
    pub fn new(targets: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fleet = Self {
            db: folder.path().join("store.db"),
            folder,
            over: AtomicBool::new(false),
            written: AtomicU64::new(0),
            acknowledged: Mutex::default(),
            ranges: Mutex::default(),
        };
        // Longer than anybody stands still.
        let settings = "[store]\ndurability = \"normal\"\nbusy_timeout_ms = 60000\n[core]\ndeadline_ms = 5000\n";
        std::fs::write(fleet.folder.path().join("headsup.toml"), settings).unwrap();
        let mut client = fleet.client();
        for number in 0..targets {
            let watch = json!({"watcher": WATCHER, "target": target(number)});
            assert_eq!(client.asks("watch", &watch)["watched"], true);
        }
        fleet
    }

    /// Another process.
    pub fn client(&self) -> Client {
        self.client_on(&self.db)
    }

    pub fn client_on(&self, db: &Path) -> Client {
        let config = self.folder.path().join("headsup.toml");
        let arguments = ["serve", "--stdio", "--db", text(db), "--config", text(&config)];
        Client { running: Running::start(&mut headsup(arguments)), asked: 0 }
    }

    /// Records so many signals, over all targets in turn, one after the other.
    pub fn writes(&self, client: &mut Client, name: &str, count: u64, targets: u64) -> Records {
        let mut records = Records::new();
        for number in 0..count {
            let (session, key) = (target(number % targets), format!("{name}-{number}"));
            let signal = json!({
                "session": session, "kind": "goal_changed", "change": "updated",
                "actor": {"type": "human", "id": name}, "dedupeKey": key,
            });
            let answer = client.tries("record", &signal);
            records.push((session, key, None));
            let Some(answer) = answer else { break };
            assert_eq!(answer["result"]["outcome"], "recorded", "{name}: {answer}");
            records.last_mut().unwrap().2 = answer["result"]["stateVersion"].as_u64();
            self.written.fetch_add(1, Ordering::SeqCst);
        }
        records
    }

    /// Waits until so many records were answered, or it is over.
    pub fn comes_to(&self, records: u64) {
        while self.written.load(Ordering::SeqCst) < records && !self.over.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Takes and acknowledges until it is over and nothing is pending. No notice that it is shown
    /// reaches back before what anybody had acknowledged when it asked.
    pub fn takes(&self, client: &mut Client) {
        loop {
            let last = self.over.load(Ordering::SeqCst);
            let before = self.acknowledged.lock().unwrap().clone();
            let answer = client.asks("take", &json!({"watcher": WATCHER}));
            let notices = answer["notices"].as_array().unwrap();
            if notices.is_empty() && last {
                return;
            }
            for notice in notices {
                let (target, since) = (notice["target"].as_str().unwrap(), since(notice));
                let known = before.get(target).copied().unwrap_or(0);
                assert!(since >= known, "{notice} was shown after {known} was acknowledged");
                self.acknowledges(client, notice);
            }
        }
    }

    fn acknowledges(&self, client: &mut Client, notice: &Value) {
        let params = json!({"watcher": WATCHER, "notices": [notice]});
        let answer = client.asks("acknowledge", &params);
        if answer["acknowledged"] == 1 {
            let target = notice["target"].as_str().unwrap().to_owned();
            let up_to = notice["upTo"].as_u64().unwrap();
            let mut acknowledged = self.acknowledged.lock().unwrap();
            let newest = acknowledged.entry(target.clone()).or_default();
            *newest = up_to.max(*newest);
            self.ranges.lock().unwrap().push((target, since(notice), up_to));
        }
    }

    /// Follows a session from version to version until it is over, and returns every event it saw.
    pub fn follows(&self, client: &mut Client, session: &str) -> Vec<u64> {
        let mut seen = Vec::new();
        loop {
            let last = self.over.load(Ordering::SeqCst);
            let version = seen.last().copied().unwrap_or(0);
            let params = json!({"session": session, "changesSince": version});
            let answer = client.asks("status", &params);
            let changes = &answer["stateChanges"];
            assert_eq!(changes["historyGap"], false, "{answer}");
            let events = changes["events"].as_array().unwrap();
            seen.extend(events.iter().map(|event| event["sequence"].as_u64().unwrap()));
            if events.is_empty() && last {
                return seen;
            }
        }
    }

    /// Brings the log into the file again and again, as another program that has it open may; as
    /// long as it rests in between, since nobody writes meanwhile.
    pub fn checkpoints(&self) -> u64 {
        let connection = Connection::open(&self.db).unwrap();
        connection.busy_timeout(Duration::ZERO).unwrap();
        let mut rounds = 0;
        loop {
            let started = Instant::now();
            for mode in ["PASSIVE", "FULL", "RESTART", "TRUNCATE"] {
                let sql = format!("PRAGMA wal_checkpoint({mode})");
                // It does not wait: where somebody recovers the log just now, the next round will do.
                match connection.query_row(&sql, [], |_| Ok(())) {
                    Err(error) if error.sqlite_error_code() != Some(ErrorCode::DatabaseBusy) => {
                        panic!("{mode}: {error}")
                    }
                    Ok(()) | Err(_) => {}
                }
            }
            rounds += 1;
            if self.over.load(Ordering::SeqCst) {
                return rounds;
            }
            std::thread::sleep(started.elapsed().max(Duration::from_millis(20)));
        }
    }
}

fn since(notice: &Value) -> u64 {
    notice["since"].as_u64().unwrap()
}

impl Client {
    /// The result of a call that must succeed.
    #[track_caller]
    pub fn asks(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.tries(method, params).expect("the process serves");
        assert!(answer.get("result").is_some(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    /// The response, or nothing if the process has gone.
    pub fn tries(&mut self, method: &str, params: &Value) -> Option<Value> {
        use std::io::{BufRead as _, Write as _};
        self.asked += 1;
        writeln!(self.running.stdin, "{}", request(self.asked, method, params)).ok()?;
        loop {
            let mut line = String::new();
            let read = self.running.stdout.as_mut().unwrap().read_line(&mut line).ok()?;
            let answer: Value = serde_json::from_str(&line).ok().filter(|_| read > 0)?;
            // What comes without a question is a notice or a wake.
            if answer["id"] == self.asked {
                return Some(answer);
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.running.child.id()
    }
}

/// Sends a signal by its name, such as `STOP`.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status();
    assert!(sent.unwrap().success(), "kill -{name} {pid}");
}

/// Stops a process for a while, wherever it is, and lets it go on.
pub fn stands_still(pid: u32) {
    signal(pid, "STOP");
    std::thread::sleep(standstill());
    signal(pid, "CONT");
}
