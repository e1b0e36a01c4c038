//! Event streams: what comes, in which order, for whom, and after a break.

use serde_json::json;

use crate::client::{Event, Events, number};
use crate::server::{Server, TOKEN, call, goal, watch};

const MAIN: &str = "agent:main:main";
const OPS: &str = "agent:ops:main";
const A: &str = "agent:main:a";
const B: &str = "agent:main:b";

/// The event and the watcher of each.
fn short(events: &[Event]) -> Vec<String> {
    let word = |event: &Event| {
        let who = event.data["watcher"].as_str().or_else(|| event.data["reason"].as_str());
        format!("{} {}", event.name, who.unwrap_or_default())
    };
    events.iter().map(word).collect()
}

fn next(events: &mut Events, count: usize) -> Vec<String> {
    let read: Vec<Event> = (0..count).map(|_| events.next().expect("an event")).collect();
    short(&read)
}

#[test]
fn what_a_call_causes_is_on_the_stream_up_to_the_event_that_its_response_names() {
    let server = Server::start();
    let mut events = Events::open(&server.http, Some(TOKEN), "", "");
    assert_eq!(events.pending(), []);
    let mut client = server.client();
    let watched = client.rpc(watch(MAIN, A));
    let recorded = client.rpc(goal(A));
    assert_eq!(recorded.json()["result"]["outcome"], "recorded");
    let (before, after) =
        (watched.header("headsup-event").unwrap(), recorded.header("headsup-event").unwrap());
    assert_eq!(number(after) - number(before), 2);
    let notice = events.next().unwrap();
    assert_eq!(notice.name, "notice");
    assert_eq!(
        notice.data,
        json!({"watcher": MAIN, "target": A, "agent": "main", "since": 0, "upTo": 1, "text":
            format!("Session \"{A}\" was changed by someone else. Catch up before acting: \
                     session_status {{\"sessionKey\":\"{A}\",\"changesSince\":0}}")})
    );
    let wake = events.next().unwrap();
    assert_eq!((wake.name.as_str(), &wake.data), ("wake", &json!({"watcher": MAIN})));
    assert_eq!(wake.id.as_deref(), Some(after));
}

#[test]
fn a_stream_is_for_the_watchers_that_it_names_however_their_keys_are_written() {
    let server = Server::start();
    let mut client = server.client();
    for (watcher, target) in [(MAIN, A), (OPS, B)] {
        client.rpc(watch(watcher, target));
    }
    let mut ops = server.events("?watcher=Agent%3AOps:main");
    let mut both = server.events(&format!("?watcher={OPS}&watcher={MAIN}"));
    assert_eq!((ops.pending(), both.pending()), (vec![], vec![]));
    client.rpc(goal(A));
    client.rpc(goal(B));
    assert_eq!(next(&mut ops, 2), [format!("notice {OPS}"), format!("wake {OPS}")]);
    assert_eq!(next(&mut both, 2), [format!("notice {MAIN}"), format!("wake {MAIN}")]);
    assert_eq!(next(&mut both, 2), [format!("notice {OPS}"), format!("wake {OPS}")]);
}

#[test]
fn a_filter_that_nothing_could_match_is_refused() {
    let server = Server::start();
    let mut client = server.client();
    for query in ["?watcher=global", "?watcher=", "?watchers=x", "?watcher=%zz"] {
        let refused = client.get(&format!("/events{query}"));
        assert_eq!(refused.status, 400, "{query}");
        assert!(refused.body.contains("watcher"), "{}", refused.body);
    }
}

#[test]
fn who_connects_again_is_told_everything_that_is_pending() {
    let server = Server::start();
    let mut client = server.client();
    client.rpc(watch(MAIN, A));
    client.rpc(watch(OPS, B));
    let first = server.events("");
    drop(first);
    client.rpc(goal(A));
    client.rpc(goal(B));
    let mut again = server.events("");
    let told = again.pending();
    let expected = [MAIN, OPS].map(|who| [format!("notice {who}"), format!("wake {who}")]).concat();
    assert_eq!(short(&told), expected);
    let only = short(&server.events(&format!("?watcher={OPS}")).pending());
    assert_eq!(only, [format!("notice {OPS}"), format!("wake {OPS}")]);
    let params = json!({"watcher": MAIN});
    client.rpc(harness::command::request(5, "drain", &params).to_string());
    let rest = short(&server.events("").pending());
    assert_eq!(rest, [format!("notice {OPS}"), format!("wake {OPS}")]);
}

#[test]
fn a_wake_that_the_reader_has_seen_is_not_repeated_and_one_that_it_missed_is() {
    let server = Server::start();
    let mut client = server.client();
    client.rpc(watch(MAIN, A));
    client.rpc(watch(OPS, B));
    let mut first = server.events("");
    first.pending();
    client.rpc(goal(A));
    first.next();
    let seen = first.next().unwrap();
    assert_eq!(seen.name, "wake");
    drop(first);
    client.rpc(goal(B));
    let last_event = format!("Last-Event-ID: {}\r\n", seen.id.unwrap());
    let told = Events::open(&server.socket, None, "", &last_event).pending();
    assert_eq!(
        short(&told),
        [format!("notice {MAIN}"), format!("notice {OPS}"), format!("wake {OPS}")]
    );
    // The number of another process means nothing.
    let told = Events::open(&server.socket, None, "", "Last-Event-ID: 0-9000\r\n").pending();
    assert_eq!(told.len(), 4);
}

#[test]
fn what_was_pending_when_the_server_was_killed_is_told_by_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("store.db");
    let db = db.to_str().unwrap().to_owned();
    let first = Server::in_folder(folder, "", &["--db", &db]);
    let mut client = first.client();
    client.rpc(watch(MAIN, A));
    client.rpc(goal(A));
    let second = Server::in_folder(first.killed(), "", &["--db", &db]);
    let told = short(&second.events("").pending());
    assert_eq!(told, [format!("notice {MAIN}"), format!("wake {MAIN}")]);
}

#[test]
fn all_streams_get_the_events_of_many_callers_in_one_order_and_none_is_missing() {
    let server = Server::start();
    let mut client = server.client();
    for each in 0..50 {
        client.rpc(watch(MAIN, &format!("agent:main:w{each}")));
    }
    let mut streams = [server.events(""), server.events("")];
    for events in &mut streams {
        events.pending();
    }
    std::thread::scope(|scope| {
        for caller in 0..5 {
            let mut client = server.client();
            scope.spawn(move || {
                for each in (caller * 10)..(caller * 10 + 10) {
                    assert_eq!(client.rpc(goal(&format!("agent:main:w{each}"))).status, 200);
                }
            });
        }
    });
    let newest = client.rpc(call("pending")).header("headsup-event").map(number).unwrap();
    let read = streams.map(|mut events| {
        let mut all: Vec<Event> = Vec::new();
        while all.last().is_none_or(|last| number(last.id.as_ref().unwrap()) < newest) {
            all.push(events.next().unwrap());
        }
        all
    });
    assert_eq!(read[0], read[1]);
    let targets: std::collections::BTreeSet<&str> =
        read[0].iter().filter_map(|event| event.data["target"].as_str()).collect();
    assert_eq!(targets.len(), 50);
}

#[test]
fn a_stream_on_which_nothing_happens_says_that_it_lives() {
    let server = Server::with("keep_alive_ms = 20", &["--db", ":memory:"]);
    let mut events = server.events("");
    events.pending();
    events.wait_for_comment();
    events.wait_for_comment();
}

#[test]
fn what_best_effort_could_not_do_is_an_event_on_streams_without_a_filter() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("store.db");
    let config = "[store]\nbusy_timeout_ms = 100";
    let arguments = ["--db", db.to_str().unwrap(), "--log", "off"];
    let server = Server::with(config, &arguments);
    let mut all = server.events("");
    let mut one = server.events(&format!("?watcher={MAIN}"));
    all.pending();
    one.pending();
    let other = rusqlite::Connection::open(&db).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let failed = server.client().rpc(goal(A)).json();
    assert_eq!(failed["result"], json!({"outcome": "failed", "reason": "store-busy"}));
    other.execute_batch("ROLLBACK").unwrap();
    let log = all.next().unwrap();
    assert_eq!((log.name.as_str(), &log.data["level"]), ("log", &json!("error")));
    server.client().rpc(watch(MAIN, A));
    server.client().rpc(goal(A));
    assert_eq!(one.next().unwrap().name, "notice");
}
