//! The conformance vectors over both ways in. A call's notifications are those on the event stream
//! up to the event that its response names, and stand before the response: so the lines of a step are
//! the same, and in the same order, as on standard output. Each answer is also held against the
//! description.

use headsup::conformance::{self, Report, VECTORS};
use serde_json::Value;

use crate::client::{Address, Client, Events, number};
use crate::openapi::DESCRIPTION;
use crate::server::{Server, TOKEN};

/// One way in, and what was read of its events.
struct Way {
    client: Client,
    events: Events,
    /// The number of the last event that was read.
    read: u64,
}

impl Way {
    fn new(address: &Address) -> Self {
        let mut events = Events::open(address, Some(TOKEN), "", "");
        assert_eq!(events.pending(), []);
        Self { client: Client::connect(address, Some(TOKEN)), events, read: 0 }
    }

    /// Sends a line; everything that comes back because of it, as lines.
    fn answer(&mut self, line: &str) -> Result<Vec<u8>, String> {
        let response = self.client.rpc(line);
        let answered = match response.status {
            200 => true,
            204 => false,
            status => return Err(format!("status {status}: {}", response.body)),
        };
        let newest = number(response.header("headsup-event").ok_or("no Headsup-Event")?);
        let mut lines = Vec::new();
        while self.read < newest {
            let event = self.events.next().ok_or("the stream ended")?;
            self.read = number(event.id.as_deref().ok_or("an event without an id")?);
            let (name, data) = (event.name, event.data);
            let line = serde_json::json!({"jsonrpc": "2.0", "method": name, "params": data});
            lines.push(line.to_string());
        }
        if answered {
            lines.push(response.body);
        }
        Ok(lines.join("\n").into_bytes())
    }
}

/// Runs all files against servers, each over a way in of its own.
fn play(way_in: impl Fn(&Server) -> &Address) {
    let mut report = Report::default();
    for (file, text) in VECTORS {
        let server = Server::with("", &["--db", ":memory:", "--manual-clock"]);
        let mut way = Way::new(way_in(&server));
        let played = conformance::play_file(file, text, &mut report, |line| {
            let answer = way.answer(line)?;
            let lines = str::from_utf8(&answer).map_err(|error| error.to_string())?;
            let lines: Vec<Value> =
                lines.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
            DESCRIPTION.holds_for(line, &lines)?;
            Ok(answer)
        });
        played.unwrap();
    }
    let differences: Vec<String> = report.differences.iter().map(ToString::to_string).collect();
    assert!(report.conforms(), "{}", differences.join("\n"));
    assert_eq!(report.files, VECTORS.len());
}

#[test]
fn the_socket_answers_every_vector_as_it_must_and_as_it_is_described() {
    play(|server| &server.socket);
}

#[test]
fn http_answers_every_vector_as_it_must_and_as_it_is_described() {
    play(|server| &server.http);
}
