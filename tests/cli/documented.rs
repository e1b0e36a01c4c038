//! What the documentation says that a server answers, it answers.

use serde_json::Value;

use crate::binary::{headsup, run_on};

const API: &str = include_str!("../../docs/api.md");

/// The lines of the page's conversation that go this way.
fn said(way: &'static str) -> impl Iterator<Item = &'static str> {
    API.lines().filter_map(move |line| line.strip_prefix(way))
}

#[test]
fn the_conversation_in_the_page_of_calls_goes_as_it_is_written() {
    let requests: Vec<&str> = said("→ ").collect();
    let written = said("← ").map(|line| serde_json::from_str::<Value>(line).expect(line));
    let mut server = headsup(["serve", "--stdio", "--db", ":memory:", "--manual-clock"]);
    let ended = run_on(&mut server, requests.join("\n"));
    for (at, (answered, written)) in ended.lines().iter().zip(written).enumerate() {
        assert_eq!(*answered, written, "line {at} that comes back");
    }
    assert_eq!(ended.lines().len(), said("← ").count());
    assert!(requests.len() > 20, "the page has a conversation");
}
