//! Killed in the middle of checks of an adopted session.

use std::thread;
use std::time::Duration;

use harness::{Home, core, doctor};
use headsup::{Awareness, Kind};
use serde_json::{Value, json};

use crate::server::Server;
use crate::{dice, kills};

const WATCHER: &str = "agent:main:main";
const SESSION: &str = "agent:main:subagent:child";

const SERVE: [&str; 2] = ["serve", "--stdio"];

/// How many turns the store tells of.
fn told(home: &Home) -> u64 {
    let awareness = Awareness::builder(home.db()).plugin(core()).open().unwrap();
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

#[test]
fn whoever_is_killed_while_checking_loses_no_turn_and_tells_none_twice() {
    let mut dice = dice();
    let home = Home::new();
    home.types("turn 0");
    let (server, mut line) = Server::start(&mut home.command(&SERVE), home.path());
    let source = json!({"kind": "claude-jsonl", "path": home.transcript});
    let adopted = json!({"session": SESSION, "source": source, "catalog": "claude"});
    assert_eq!(line.call("adopt", &adopted).unwrap()["adopted"], true);
    let watch = json!({"watcher": WATCHER, "target": SESSION});
    assert_eq!(line.call("watch", &watch).unwrap()["watched"], true);
    drop(line);
    server.ends();

    let mut typed = 0;
    for _ in 0..kills(8) {
        let (mut server, mut line) = Server::start(&mut home.command(&SERVE), home.path());
        line.call("pending", &json!({})).unwrap();
        // While a person types, the session is checked again and again.
        for _ in 0..=dice.below(8) {
            for _ in 0..dice.below(4) {
                typed += 1;
                home.types(&format!("turn {typed}"));
            }
            line.send("checkUpstreams", &json!({}));
        }
        thread::sleep(Duration::from_micros(dice.below(30_000)));
        server.kill();
        assert_eq!(doctor(&home.db()).unwrap(), Vec::<String>::new());
        let known = told(&home);
        assert!(known <= typed, "{known} of {typed} turns were told");

        let (server, mut line) = Server::start(&mut home.command(&SERVE), home.path());
        line.call("checkUpstreams", &json!({})).unwrap();
        let pending = line.call("take", &json!({"watcher": WATCHER})).unwrap();
        assert_eq!(pending["notices"].as_array().unwrap().len(), usize::from(typed > 0));
        drop(line);
        server.ends();
        assert_eq!(told(&home), typed, "each turn is told once");
    }
}
