//! Who may ask, and what a request that is none gets.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use harness::command::{headsup, run, text};

use crate::client::{Address, Client};
use crate::server::{Server, TOKEN, call, command};

#[test]
fn over_http_every_request_needs_the_token_and_on_the_socket_none_does() {
    let server = Server::start();
    let wrong = [
        "",
        "Authorization: Bearer\r\n",
        "Authorization: Bearer \r\n",
        "Authorization: Bearer a-token-of-the-tests-012345678\r\n",
        "Authorization: Bearer a-token-of-the-tests-01234567890\r\n",
        "Authorization: Basic a-token-of-the-tests-0123456789\r\n",
        "Authorization: a-token-of-the-tests-0123456789\r\n",
        "Authorization: Bearer x\r\nAuthorization: Bearer a-token-of-the-tests-0123456789\r\n",
    ];
    for header in wrong {
        for line in ["POST /rpc", "GET /events", "GET /metrics", "GET /openapi.json", "GET /none"] {
            let mut client = Client::connect(&server.http, None);
            let refused = client.ask(line, header, "");
            assert_eq!(refused.status, 401, "{line} {header}");
            assert_eq!(refused.header("www-authenticate"), Some("Bearer realm=\"headsup\""));
            assert!(refused.body.contains("Authorization: Bearer"), "{}", refused.body);
        }
    }
    assert_eq!(server.web_client().rpc(call("pending")).status, 200);
    let lower = format!("Authorization: bearer {TOKEN}\r\n");
    let mut client = Client::connect(&server.http, None);
    assert_eq!(client.ask("POST /rpc", &lower, &call("pending")).status, 200);
    assert_eq!(server.client().rpc(call("pending")).status, 200);
}

#[test]
fn health_needs_no_token_and_says_one_word() {
    let server = Server::start();
    let health = Client::connect(&server.http, None).get("/healthz");
    assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
}

#[test]
fn a_browser_is_refused_on_every_way_in() {
    let server = Server::start();
    for origin in ["null", "http://localhost", "https://evil.example"] {
        for mut client in [server.client(), server.web_client()] {
            let refused =
                client.ask("POST /rpc", &format!("Origin: {origin}\r\n"), &call("pending"));
            // Its body was not read.
            assert_eq!((refused.status, refused.header("connection")), (403, Some("close")));
            assert!(refused.body.contains("browser"), "{}", refused.body);
        }
    }
}

#[test]
fn over_http_a_request_for_another_host_is_refused() {
    let server = Server::with("hosts = [\"gate.example\"]", &["--db", ":memory:"]);
    let status = |host: &str| {
        let mut client = Client::connect(&server.http, None);
        let head = format!("GET /healthz HTTP/1.1\r\n{host}\r\n");
        client.write(head.as_bytes());
        client.response().status
    };
    for host in ["Host: localhost\r\n", "Host: 127.0.0.1:8787\r\n", "Host: gate.example\r\n"] {
        assert_eq!(status(host), 200, "{host}");
    }
    for host in
        ["Host: evil.example\r\n", "Host: \r\n", "", "Host: localhost\r\nHost: evil.example\r\n"]
    {
        assert_eq!(status(host), 403, "{host}");
    }
}

#[test]
fn what_is_no_call_gets_a_plain_text_that_says_what_to_do() {
    let server = Server::start();
    let mut client = server.client();
    let get = client.get("/rpc");
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
    assert!(get.body.contains("POST"), "{}", get.body);
    let missing = client.get("/");
    assert_eq!(missing.status, 404);
    assert_eq!(missing.header("content-type"), Some("text/plain; charset=utf-8"));
    for path in ["/healthz", "/events", "/metrics"] {
        client.send(&format!("HEAD {path}"), "", "");
        let head = client.head().unwrap();
        assert_eq!((head.status, head.header("allow")), (405, Some("GET")), "{path}");
    }
    let encoded = client.ask("POST /rpc", "Content-Encoding: gzip\r\n", "x");
    assert_eq!(encoded.status, 415);
}

#[test]
fn http_does_not_start_without_a_token_or_where_others_reach_it() {
    let start = |arguments: &[&str]| run(headsup(["serve", "--db", ":memory:"]).args(arguments));
    let bare = start(&["--http", "127.0.0.1:0"]);
    assert_eq!(bare.status, 2, "{bare:?}");
    assert!(bare.stderr.contains("--token-file"), "{}", bare.stderr);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, "short").unwrap();
    let short = start(&["--http", "127.0.0.1:0", "--token-file", text(&file)]);
    assert_eq!(short.status, 1, "{short:?}");
    assert!(short.stderr.contains("openssl rand") && !short.stderr.contains("short\n"));
    std::fs::write(&file, TOKEN).unwrap();
    let open = start(&["--http", "0.0.0.0:0", "--token-file", text(&file)]);
    assert_eq!(open.status, 2, "{open:?}");
    assert!(open.stderr.contains("TLS") && open.stderr.contains("serve.allow_remote"));
    let named = start(&["--http", "localhost:0", "--token-file", text(&file)]);
    assert_eq!(named.status, 2, "{named:?}");
    let nothing = start(&[]);
    assert_eq!(nothing.status, 2, "{nothing:?}");
    assert!(nothing.stderr.contains("--socket"), "{}", nothing.stderr);
}

#[test]
fn the_token_may_come_from_the_environment_and_the_command_line_wins() {
    let folder = tempfile::tempdir().unwrap();
    let mut both = command(folder.path(), "", &["--db", ":memory:"]);
    let other = "another-token-of-the-tests";
    let mut server = crate::server::started(both.env("HEADSUP_TOKEN", other), folder);
    let status = |server: &Server, token: &str| {
        Client::connect(&server.http, Some(token)).rpc(call("pending")).status
    };
    assert_eq!((status(&server, TOKEN), status(&server, other)), (200, 401));
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let mut from_environment =
        headsup(["serve", "--db", ":memory:", "--http", "127.0.0.1:0", "--socket", text(&socket)]);
    server = crate::server::started(from_environment.env("HEADSUP_TOKEN", other), folder);
    assert_eq!((status(&server, TOKEN), status(&server, other)), (401, 200));
}

#[test]
fn the_socket_is_this_users_alone_whatever_the_mask() {
    let server = Server::start();
    let Address::Socket(path) = &server.socket else { panic!("a socket") };
    let mode = std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(
        std::fs::metadata(path).unwrap().uid(),
        std::fs::metadata("/proc/self").unwrap().uid()
    );
}
