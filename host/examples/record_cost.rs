//! What a record costs by `Awareness::call`: one watch that is pending already, then N records on one
//! thread. What the programs of the same name in other languages are compared with.
//!
//! usage: `record_cost --db PATH --records N --durability normal|full`

use std::time::{Duration, Instant};

use headsup::{Awareness, Durability};

const WATCH: &str = r#"{"jsonrpc":"2.0","id":1,"method":"watch","params":{"watcher":"agent:main:main","target":"agent:main:worker"}}"#;
const RECORD: &str = r#"{"jsonrpc":"2.0","id":1,"method":"record","params":{"session":"agent:main:worker","kind":"human_direct_message","actor":{"type":"human"},"channel":"telegram"}}"#;
const USAGE: &str = "usage: record_cost --db PATH --records N --durability normal|full";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name);
        place.and_then(|place| arguments.get(place + 1)).ok_or(USAGE)
    };
    let records: u32 = value("--records")?.parse()?;
    let durability = match value("--durability")?.as_str() {
        "normal" => Durability::Normal,
        "full" => Durability::Full,
        _ => return Err(USAGE.into()),
    };
    let awareness = Awareness::builder(value("--db")?).durability(durability).open()?;
    call(&awareness, WATCH, r#""watched":true"#)?;
    call(&awareness, RECORD, r#""recorded""#)?;
    let mut calling = Duration::ZERO;
    let start = Instant::now();
    for _ in 0..records {
        let before = Instant::now();
        let response = awareness.call(RECORD).unwrap_or_default();
        calling += before.elapsed();
        if !response.contains(r#""recorded""#) {
            return Err(format!("not recorded: {response}").into());
        }
    }
    let total = start.elapsed();
    let (calling, around) = (calling.as_nanos(), total.saturating_sub(calling).as_nanos());
    println!(
        r#"{{"records":{records},"nanoseconds":{},"parts":{{"call":{calling},"around":{around}}}}}"#,
        total.as_nanos()
    );
    Ok(())
}

/// Calls, and wants a response that holds this.
fn call(awareness: &Awareness, request: &str, wanted: &str) -> Result<(), String> {
    match awareness.call(request) {
        Some(response) if response.contains(wanted) => Ok(()),
        other => Err(format!("unexpected response: {other:?}")),
    }
}
