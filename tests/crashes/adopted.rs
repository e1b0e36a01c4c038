//! Killed in the middle of checks of an adopted session.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use harness::command::{headsup, text};
use harness::{core, doctor};
use headsup::{Awareness, Kind};
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

use crate::server::Server;
use crate::{dice, kills};

const WATCHER: &str = "agent:main:main";
const SESSION: &str = "agent:main:subagent:child";

struct Home {
    folder: TempDir,
    transcript: PathBuf,
}

impl Home {
    fn new() -> Self {
        let folder = tempdir().unwrap();
        let project = folder.path().join("claude/projects/app");
        fs::create_dir_all(&project).unwrap();
        Self { transcript: project.join("3f2a.jsonl"), folder }
    }

    fn db(&self) -> PathBuf {
        self.folder.path().join("store.db")
    }

    fn command(&self) -> Command {
        let mut command = headsup(["serve", "--stdio", "--db", text(&self.db())]);
        command.env("CLAUDE_CONFIG_DIR", self.folder.path().join("claude"));
        command
    }

    fn types(&self, turn: u64) {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.transcript).unwrap();
        let row = json!({
            "type": "user", "message": {"role": "user", "content": format!("turn {turn}")},
            "timestamp": "2026-11-30T10:00:00.000Z",
        });
        writeln!(file, "{row}").unwrap();
    }

    /// How many turns the store tells of.
    fn told(&self) -> u64 {
        let awareness = Awareness::builder(self.db()).plugin(core()).open().unwrap();
        let mut told = 0;
        let mut after = 0;
        loop {
            let delta = awareness.changes_since(SESSION, after, None).unwrap();
            for event in &delta.events {
                after = event.sequence;
                if event.kind == Kind::HumanDirectMessage {
                    let payload = event.payload.as_deref().unwrap_or("{}");
                    let payload: Value = serde_json::from_str(payload).unwrap();
                    told += payload["turns"].as_u64().unwrap_or(1);
                }
            }
            if !delta.truncated {
                return told;
            }
        }
    }
}

#[test]
fn whoever_is_killed_while_checking_loses_no_turn_and_tells_none_twice() {
    let mut dice = dice();
    let home = Home::new();
    home.types(0);
    let (server, mut line) = Server::start(&mut home.command(), home.folder.path());
    let source = json!({"kind": "claude-jsonl", "path": home.transcript});
    let adopted = json!({"session": SESSION, "source": source, "catalog": "claude"});
    assert_eq!(line.call("adopt", &adopted).unwrap()["adopted"], true);
    let watch = json!({"watcher": WATCHER, "target": SESSION});
    assert_eq!(line.call("watch", &watch).unwrap()["watched"], true);
    drop(line);
    server.ends();

    let mut typed = 0;
    for _ in 0..kills(8) {
        let (mut server, mut line) = Server::start(&mut home.command(), home.folder.path());
        line.call("pending", &json!({})).unwrap();
        // While a person types, the session is checked again and again.
        for _ in 0..=dice.below(8) {
            for _ in 0..dice.below(4) {
                typed += 1;
                home.types(typed);
            }
            line.send("checkUpstreams", &json!({}));
        }
        thread::sleep(Duration::from_micros(dice.below(30_000)));
        server.kill();
        assert_eq!(doctor(&home.db()).unwrap(), Vec::<String>::new());
        let told = home.told();
        assert!(told <= typed, "{told} of {typed} turns were told");

        let (server, mut line) = Server::start(&mut home.command(), home.folder.path());
        line.call("checkUpstreams", &json!({})).unwrap();
        let pending = line.call("take", &json!({"watcher": WATCHER})).unwrap();
        assert_eq!(pending["notices"].as_array().unwrap().len(), usize::from(typed > 0));
        drop(line);
        server.ends();
        assert_eq!(home.told(), typed, "each turn is told once");
    }
}
