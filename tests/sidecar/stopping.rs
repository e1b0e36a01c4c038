//! How a server ends, what it leaves, and what the next one finds.

use std::os::unix::net::UnixListener;
use std::path::Path;

use harness::command::{as_lines, headsup, run, run_on, text};
use serde_json::json;

use crate::client::{Address, Client};
use crate::server::{Server, call, command, goal, watch};

const MAIN: &str = "agent:main:main";
const A: &str = "agent:main:a";

fn path(server: &Server) -> &Path {
    match &server.socket {
        Address::Socket(path) => path,
        Address::Http(_) => panic!("a socket"),
    }
}

#[test]
fn told_to_stop_it_answers_what_is_in_flight_ends_streams_and_closes_the_store() {
    for signal in ["TERM", "INT"] {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("store.db");
        let server = Server::with("", &["--db", text(&db)]);
        let mut events = server.events("");
        events.pending();
        let mut idle = server.client();
        assert_eq!(idle.rpc(watch(MAIN, A)).status, 200);
        // A call that waits for another process to finish writing.
        let other = rusqlite::Connection::open(&db).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut busy = server.client();
        busy.send("POST /rpc", "", &goal(A));
        let mut probe = server.client();
        while !probe.get("/metrics").body.contains("headsup_connections{over=\"socket\"} 4") {}
        server.signal(signal);
        let end = events.next().unwrap();
        assert_eq!((end.name.as_str(), &end.data), ("end", &json!({"reason": "stopping"})));
        assert!(events.next().is_none() && idle.is_closed());
        assert!(!path(&server).exists(), "nobody finds it any more");
        other.execute_batch("ROLLBACK").unwrap();
        drop(other);
        let answered = busy.response();
        assert_eq!(answered.json()["result"]["outcome"], "recorded", "{answered:?}");
        let ended = server.ended();
        assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""));
        assert!(!db.with_extension("db-wal").exists(), "the store was closed");
        let sound = run(headsup(["doctor", "--db", text(&db)]).arg("--json"));
        assert_eq!(sound.status, 0, "{sound:?}");
    }
}

#[test]
fn what_does_not_end_in_time_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("store.db");
    let server = Server::with("shutdown_ms = 100", &["--db", text(&db)]);
    let other = rusqlite::Connection::open(&db).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut busy = server.client();
    busy.send("POST /rpc", "", &watch(MAIN, A));
    let mut half = server.client();
    half.write(b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
    let mut probe = server.client();
    while !probe.get("/metrics").body.contains("headsup_connections{over=\"socket\"} 3") {}
    server.signal("TERM");
    let ended = server.ended();
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("serve.shutdown_ms"), "{ended:?}");
    assert!(busy.is_closed());
}

#[test]
fn a_socket_that_a_dead_process_left_is_replaced() {
    let server = Server::start();
    let socket = path(&server).to_owned();
    let folder = server.killed();
    assert!(socket.exists(), "SIGKILL leaves it");
    let next = Server::in_folder(folder, "", &["--db", ":memory:"]);
    assert_eq!(next.client().rpc(call("pending")).status, 200);
    next.signal("TERM");
    let folder = next.ended().folder;
    assert!(folder.path().exists() && !socket.exists());
    assert!(!socket.with_extension("sock.lock").exists());
}

#[test]
fn a_socket_in_use_and_a_file_that_is_none_are_left_alone() {
    let server = Server::start();
    let second = run(&mut command(server.folder.path(), "", &["--db", ":memory:"]));
    assert_eq!(second.status, 1, "{second:?}");
    assert!(second.stderr.contains("in use"), "{}", second.stderr);
    assert_eq!(server.client().rpc(call("pending")).status, 200);
    // Another program's, which knows of no lock.
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("headsup.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let refused = run(&mut command(folder.path(), "", &["--db", ":memory:"]));
    assert!(refused.status == 1 && refused.stderr.contains("in use"), "{refused:?}");
    drop(listener);
    std::fs::remove_file(&socket).unwrap();
    std::fs::write(&socket, "mine").unwrap();
    let refused = run(&mut command(folder.path(), "", &["--db", ":memory:"]));
    assert!(refused.status == 1 && refused.stderr.contains("no socket"), "{refused:?}");
    assert_eq!(std::fs::read(&socket).unwrap(), b"mine");
}

#[test]
fn a_store_that_cannot_be_opened_leaves_no_socket() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("store.db");
    std::fs::write(&db, "no database, however long one looks at it").unwrap();
    let refused = run(&mut command(folder.path(), "", &["--db", text(&db)]));
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(!folder.path().join("headsup.sock").exists());
}

#[test]
fn health_says_why_the_store_does_not_answer() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("store.db");
    let server = Server::with("", &["--db", text(&db)]);
    server.client().rpc(watch(MAIN, A));
    let other = rusqlite::Connection::open(&db).unwrap();
    other.execute_batch("ALTER TABLE headsup_settings RENAME TO elsewhere").unwrap();
    let health = Client::connect(&server.http, None).get("/healthz");
    assert_eq!((health.status, health.body.as_str()), (503, "foreign-schema\n"));
    assert_eq!(health.header("retry-after"), Some("1"));
}

#[test]
fn lines_and_a_socket_are_served_by_one_process_until_the_lines_end() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let mut beside = headsup(["serve", "--stdio", "--socket", text(&socket), "--db", ":memory:"]);
    let lines = [watch(MAIN, A), goal(A)].map(|line| serde_json::from_str(&line).unwrap());
    let ended = run_on(&mut beside, as_lines(&lines));
    assert_eq!(ended.status, 0, "{ended:?}");
    let names: Vec<String> = ended
        .lines()
        .iter()
        .map(|line| line["method"].as_str().map_or(line["id"].to_string(), ToOwned::to_owned))
        .collect();
    assert_eq!(names, ["1", "notice", "wake", "2"]);
    assert_eq!(ended.stderr, format!("listening on unix:{}\n", socket.display()));
    assert!(!socket.exists());
}

#[test]
fn what_a_line_causes_is_on_the_streams_and_what_a_stream_carries_is_on_the_lines() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let mut beside = headsup(["serve", "--stdio", "--socket", text(&socket), "--db", ":memory:"]);
    let mut lines = harness::command::Running::start(&mut beside);
    lines.send(&serde_json::from_str(&watch(MAIN, A)).unwrap());
    assert_eq!(lines.next()["id"], 1);
    let address = Address::Socket(socket);
    let mut events = crate::client::Events::open(&address, None, "", "");
    events.pending();
    Client::connect(&address, None).rpc(goal(A));
    assert_eq!(
        (lines.next()["method"].clone(), lines.next()["method"].clone()),
        (json!("notice"), json!("wake"))
    );
    assert_eq!(events.next().unwrap().name, "notice");
    let metrics = Client::connect(&address, None).get("/metrics").body;
    assert!(
        metrics.contains("headsup_calls_total{method=\"watch\",outcome=\"ok\"} 1"),
        "{metrics}"
    );
    let id = lines.child.id().to_string();
    assert!(std::process::Command::new("kill").arg(&id).status().unwrap().success());
    assert_eq!(lines.child.wait().unwrap().code(), Some(0));
}
