//! What is bounded, and what happens beyond: to whoever goes there, and to nobody else.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use harness::command::text;
use serde_json::json;

use crate::client::{Address, Client, Events};
use crate::openapi::DESCRIPTION;
use crate::server::{Server, TOKEN, call, goal, reason, watch};

const MAIN: &str = "agent:main:main";
const A: &str = "agent:main:a";

fn in_memory(config: &str) -> Server {
    Server::with(config, &["--db", ":memory:"])
}

#[test]
fn a_request_that_is_too_long_gets_the_error_of_a_line_and_a_status_that_says_so() {
    let server = in_memory("request_bytes = 1024");
    let fitting = format!("{}{}", call("pending"), " ".repeat(1_024 - call("pending").len()));
    assert_eq!(server.client().rpc(format!("{fitting}\r\n")).status, 200);
    for length in [1_025, 2_000, 1 << 20] {
        let mut client = server.client();
        let refused = client.rpc("x".repeat(length));
        assert_eq!((refused.status, refused.header("connection")), (413, Some("close")));
        assert_eq!(reason(&refused.json()), "too-long");
    }
    // Who asks first whether to send is told before it does.
    let mut client = server.client();
    let head = "POST /rpc HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 9000000000\r\n\r\n";
    client.write(head.as_bytes());
    assert_eq!(client.response().status, 413);
    // In chunks nothing is announced.
    let mut client = server.client();
    client.write(b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.write(format!("{:x}\r\n{}\r\n0\r\n\r\n", 3_000, "x".repeat(3_000)).as_bytes());
    assert_eq!(client.response().status, 413);
    assert_eq!(server.client().rpc(call("pending")).status, 200);
}

#[test]
fn a_batch_that_is_too_long_gets_the_error_of_a_line() {
    let server = in_memory("batch_requests = 2");
    let batch = |count: usize| format!("[{}]", vec![call("pending"); count].join(","));
    let mut client = server.client();
    assert_eq!(client.rpc(batch(2)).json().as_array().map(Vec::len), Some(2));
    let refused = client.rpc(batch(3));
    assert_eq!((refused.status, reason(&refused.json())), (200, "too-many"));
}

#[test]
fn a_head_that_is_too_long_is_refused() {
    let server = in_memory("head_bytes = 2048");
    let long = format!("X: {}\r\n", "x".repeat(4_000));
    let mut client = server.client();
    let refused = client.ask("GET /healthz", &long, "");
    assert_eq!((refused.status, refused.body.as_str()), (431, ""));
    let described = DESCRIPTION.of_status("431");
    assert!(!described.is_empty() && described.iter().all(|it| it.get("content").is_none()));
    assert!(client.is_closed());
}

#[test]
fn a_head_has_at_most_a_hundred_headers() {
    let server = in_memory("");
    // Beside `Host` and `Content-Length`.
    let with = |more: usize| server.client().ask("GET /healthz", &"X: x\r\n".repeat(more), "");
    assert_eq!(with(98).status, 200);
    assert_eq!(with(99).status, 431);
}

#[test]
fn who_does_not_finish_its_head_or_its_body_in_time_is_cut_off() {
    let server = in_memory("patience_ms = 200");
    let mut silent = server.client();
    let mut slow = server.client();
    slow.write(b"POST /rpc HTTP/1.1\r\nHost: loc");
    let mut stuck = server.client();
    stuck.write(b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
    let late = stuck.response();
    assert_eq!((late.status, late.header("connection")), (408, Some("close")));
    assert!(silent.is_closed());
    while let Some(head) = slow.head() {
        assert_eq!(head.status, 408);
    }
    assert_eq!(server.client().rpc(call("pending")).status, 200);
}

#[test]
fn a_call_that_takes_too_long_is_given_up_by_its_answer_and_done_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("store.db");
    let server = Server::with("answer_ms = 100", &["--db", db.to_str().unwrap()]);
    let other = rusqlite::Connection::open(&db).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let late = server.client().rpc(watch(MAIN, A));
    assert_eq!(late.status, 504);
    assert!(late.body.contains("goes on"), "{}", late.body);
    other.execute_batch("ROLLBACK").unwrap();
    // The next to write does it behind it.
    let mut client = server.client();
    while client.rpc(goal(A)).status != 200 {}
    assert_eq!(client.rpc(call("pending")).json()["result"]["watchers"][0]["watcher"], MAIN);
}

/// A call that waits is given up by its answer and done later, as any that takes too long.
#[test]
fn calls_beyond_the_limit_wait_for_one_that_is_open() {
    let behind = |calls: &str| {
        let folder = tempfile::tempdir().unwrap();
        let db = folder.path().join("store.db");
        let server = Server::with(&format!("answer_ms = 1000\n{calls}"), &["--db", text(&db)]);
        let other = rusqlite::Connection::open(&db).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert_eq!(server.client().rpc(watch(MAIN, A)).status, 504);
        // The call still waits for the other process, which a read needs not.
        let status = server.client().rpc(call("pending")).status;
        other.execute_batch("ROLLBACK").unwrap();
        let mut client = server.client();
        while client.rpc(call("pending")).status != 200 {}
        status
    };
    assert_eq!(behind("calls = 1"), 504);
    assert_eq!(behind("calls = 2"), 200);
}

#[test]
fn connections_beyond_the_limit_are_told_so_and_a_place_that_is_left_is_taken() {
    let server = in_memory("connections = 2");
    let mut first = server.client();
    let mut second = server.client();
    assert_eq!((first.get("/healthz").status, second.get("/healthz").status), (200, 200));
    let mut third = server.client();
    let refused = third.get("/healthz");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert!(refused.body.contains("serve.connections"), "{}", refused.body);
    // The other way in has places of its own.
    assert_eq!(server.web_client().get("/healthz").status, 200);
    drop(first);
    while server.client().get("/healthz").status != 200 {}
    assert_eq!(second.get("/healthz").status, 200);
}

#[test]
fn a_crowd_beyond_the_limit_harms_nobody_who_has_a_place() {
    let server = in_memory("connections = 2");
    let mut inside = server.client();
    assert_eq!(inside.get("/healthz").status, 200);
    let crowd: Vec<Client> = (0..200).map(|_| server.client()).collect();
    assert_eq!(inside.rpc(call("pending")).status, 200);
    drop(crowd);
    while server.client().send("GET /healthz", "", "") && inside.get("/healthz").status != 200 {}
}

#[test]
fn streams_beyond_the_limit_are_told_so_and_a_place_that_is_left_is_taken() {
    let server = in_memory("streams = 1\nkeep_alive_ms = 20");
    let mut first = server.events("");
    first.pending();
    let refused = Client::connect(&server.http, Some(TOKEN)).get("/events");
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert!(refused.body.contains("serve.streams"), "{}", refused.body);
    drop(first);
    loop {
        let mut client = server.client();
        client.send("GET /events", "", "");
        if client.head().unwrap().status == 200 {
            break;
        }
    }
}

#[test]
fn a_reader_that_is_too_slow_is_told_so_and_finds_everything_when_it_comes_again() {
    let server = in_memory("stream_events = 100");
    let mut slow = server.events("");
    slow.pending();
    let mut quick = server.events("");
    quick.pending();
    let mut client = server.client();
    client.rpc(watch(MAIN, A));
    // More than a socket holds: each opens a notice and settles it.
    let drain = json!({"jsonrpc": "2.0", "method": "drain", "params": {"watcher": MAIN}});
    let one = format!("{},{drain}", goal(A));
    let batch = format!("[{}]", vec![one; 50].join(","));
    let mut sent = 0;
    let ended = loop {
        assert_eq!(client.rpc(&batch).status, 200);
        sent += 50;
        assert!(sent < 1_000_000, "it never was too slow");
        let metrics = client.get("/metrics").body;
        if !metrics.contains("\nheadsup_event_streams_too_slow_total 0\n") {
            break metrics;
        }
        while quick.next().unwrap().data["upTo"] != sent {}
    };
    assert!(ended.contains("\nheadsup_event_streams_too_slow_total 1\n"), "{ended}");
    let mut read = 0;
    let last = loop {
        let event = slow.next().unwrap();
        if event.name == "end" {
            break event;
        }
        read += u64::from(event.name == "notice");
        // Nothing is missing before the end.
        assert!(event.name != "notice" || event.data["upTo"] == read, "{event:?}");
    };
    assert_eq!(last.data, json!({"reason": "too-slow"}));
    assert!(slow.next().is_none() && read < sent);
    client.rpc(goal(A));
    let told = server.events("").pending();
    assert_eq!(told[0].data["upTo"], sent + 1);
}

#[test]
fn a_reader_that_takes_nothing_at_all_loses_its_connection() {
    let server = in_memory("stream_events = 100\npatience_ms = 200\nstreams = 1");
    let mut stopped = server.events("");
    stopped.pending();
    let mut client = server.client();
    client.rpc(watch(MAIN, A));
    let drain = json!({"jsonrpc": "2.0", "method": "drain", "params": {"watcher": MAIN}});
    let batch = format!("[{}]", vec![format!("{},{drain}", goal(A)); 50].join(","));
    // Its place is free once it is gone, and only then.
    loop {
        // What idles too long is closed, too: each time another connection.
        server.client().rpc(&batch);
        let mut other = server.client();
        other.send("GET /events", "", "");
        if other.head().unwrap().status == 200 {
            break;
        }
    }
}

#[test]
fn requests_on_one_connection_are_answered_in_order_also_if_none_waited_for_the_one_before() {
    let server = Server::start();
    let mut client = server.client();
    for _ in 0..3 {
        assert_eq!(client.rpc(call("pending")).status, 200);
    }
    for id in 0..100 {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": "pending"}).to_string();
        assert!(client.send("POST /rpc", "", &request));
    }
    for id in 0..100 {
        assert_eq!(client.response().json()["id"], id);
    }
}

#[test]
fn what_is_no_http_ends_its_connection_and_no_other() {
    let server = Server::start();
    let mut good = server.client();
    for garbage in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(),
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pending\"}\n",
        b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxxx",
        b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut client = server.client();
        client.write(garbage);
        let head = client.head().map(|head| head.status);
        assert!(head.is_none_or(|status| status == 400), "{head:?} for {garbage:?}");
        assert_eq!(good.rpc(call("pending")).status, 200);
    }
    // One that breaks off in the middle of a request.
    let mut client = server.client();
    client.write(b"POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{");
    drop(client);
    assert_eq!(good.rpc(call("pending")).status, 200);
}

/// It is taken to be gone; whether its call was done it has to look.
#[test]
fn who_closes_its_side_before_the_answer_gets_it_whole_or_not_at_all() {
    let server = Server::start();
    let Address::Socket(path) = &server.socket else { panic!("a socket") };
    let call = call("pending");
    let head = "POST /rpc HTTP/1.1\r\nHost: localhost\r\n";
    let request = format!("{head}Content-Length: {}\r\n\r\n{call}", call.len());
    for _ in 0..20 {
        let mut stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.is_empty() || answer.ends_with("{\"watchers\":[]}}"), "{answer}");
    }
    assert_eq!(server.client().rpc(call).status, 200);
}

#[test]
fn metrics_count_calls_and_events_and_name_no_session() {
    let server = Server::start();
    let mut client = server.client();
    client.rpc(watch(MAIN, A));
    client.rpc(goal(A));
    client.rpc(call("secret-method"));
    client.rpc("nonsense");
    let _stream = Events::open(&server.http, Some(TOKEN), "", "");
    let response = client.get("/metrics");
    assert!(response.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    for line in [
        "headsup_calls_total{method=\"watch\",outcome=\"ok\"} 1",
        "headsup_calls_total{method=\"none\",outcome=\"unavailable\"} 1",
        "headsup_calls_total{method=\"none\",outcome=\"refused\"} 1",
        "headsup_call_seconds_count{method=\"record\"} 1",
        "headsup_events_total{event=\"notice\"} 1",
        "headsup_events_total{event=\"wake\"} 1",
        "headsup_pending_notices 1",
        "headsup_pending_watchers 1",
        "headsup_event_streams 1",
        "headsup_connections{over=\"http\"} 1",
        "headsup_store_up 1",
    ] {
        assert!(response.body.lines().any(|it| it == line), "{line} in:\n{}", response.body);
    }
    for word in ["agent:main", "secret-method", "nonsense", TOKEN] {
        assert!(!response.body.contains(word), "{word}");
    }
    // Every line is a comment or a sample, and every sample belongs to a family that was announced.
    for line in response.body.lines().filter(|line| !line.starts_with('#')) {
        let (sample, value) = line.rsplit_once(' ').expect(line);
        value.parse::<f64>().expect(line);
        let name = sample.split('{').next().unwrap();
        let family = ["_bucket", "_sum", "_count"].iter().find_map(|it| name.strip_suffix(it));
        let announced = format!("# TYPE {} ", family.unwrap_or(name));
        assert!(response.body.contains(&announced), "{line}");
    }
}
