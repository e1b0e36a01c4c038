//! `headsup log SESSION`.

use headsup::Awareness;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::ask::{ask_for, session};
use super::failure::{Failure, Verdict};
use super::options::Setup;
use super::output::{ALERT, FAINT, Output, styled};
use super::table::table;
use super::time::utc;

const MORE: &str = "\
The store is opened to look at it: nothing is created, changed, pruned or
recovered, and a process that serves it is not disturbed. A line is said about
a history gap: events after the version asked for that are no longer kept, so
that the list is not the whole story.

With --json, the answer of the method `status`, all pages in one:
  {\"stateVersion\":19,\"stateChanges\":{\"events\":[...],\"truncated\":false,\"historyGap\":false}}

Exit status:
  0  fine, also if nothing was recorded
  1  the store or the core could not be opened or read
  2  wrong usage, or a session key that is not one

Environment:
  HEADSUP_DB, HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --plugin, --config and --log, where they are not given

Examples:
  headsup log agent:main:subagent:child
  headsup log agent:main:subagent:child --since 14 --limit 20
  headsup log global --agent main --json";

/// Reads a number below zero as one that is out of range, and not as no number.
type Signed = clap::builder::RangedI64ValueParser<u64>;

/// Show what changed in a session
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// The key of the session
    session: String,
    /// The agent of the session; needed for a bare key, such as `global`
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Only what changed after this version
    #[arg(long, value_name = "VERSION", default_value_t = 0, allow_negative_numbers = true,
          value_parser = Signed::new().range(0..=headsup::LATEST.cast_signed()))]
    since: u64,
    /// At most so many events [default: all]
    #[arg(long, value_name = "EVENTS", allow_negative_numbers = true,
          value_parser = Signed::new().range(1..))]
    limit: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The answer of `status`.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    state_version: u64,
    state_changes: Changes,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Changes {
    events: Vec<Box<RawValue>>,
    truncated: bool,
    history_gap: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    sequence: u64,
    kind: String,
    actor_type: String,
    actor_id: Option<String>,
    occurred_at: u64,
    summary: String,
    run_id: Option<String>,
}

/// The most events that one request returns.
const PAGE: u64 = 200;

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let awareness = setup.look()?;
    let status = all_pages(&awareness, arguments)?;
    if arguments.json {
        output.line(serde_json::to_string(&status).map_err(anyhow::Error::from)?)?;
    } else {
        show(&status, arguments.since, output)?;
    }
    Ok(Verdict::Fine)
}

fn all_pages(awareness: &Awareness, arguments: &Arguments) -> Result<Status, Failure> {
    let session = session(&arguments.session, arguments.agent.as_deref());
    let most = arguments.limit.unwrap_or(u64::MAX);
    let page = |since: u64, got: usize| -> Result<Status, Failure> {
        let limit = PAGE.min(most - got as u64);
        let params = json!({"session": session, "changesSince": since, "limit": limit});
        ask_for(awareness, "status", &params)
    };
    let mut all = page(arguments.since, 0)?;
    while all.state_changes.truncated && (all.state_changes.events.len() as u64) < most {
        let Some(last) = all.state_changes.events.last() else { break };
        let next = page(event(last)?.sequence, all.state_changes.events.len())?;
        all.state_version = next.state_version;
        all.state_changes.events.extend(next.state_changes.events);
        all.state_changes.truncated = next.state_changes.truncated;
        // Pruned between two pages.
        all.state_changes.history_gap |= next.state_changes.history_gap;
    }
    Ok(all)
}

fn event(event: &RawValue) -> Result<Event, Failure> {
    Ok(serde_json::from_str(event.get()).map_err(anyhow::Error::from)?)
}

fn show(status: &Status, since: u64, output: &mut Output) -> Result<(), Failure> {
    let Changes { events, truncated, history_gap } = &status.state_changes;
    let mut rows = Vec::new();
    for raw in events {
        let event = event(raw)?;
        let actor = match event.actor_id {
            Some(id) => format!("{} {id}", event.actor_type),
            None => event.actor_type,
        };
        rows.push([
            event.sequence.to_string(),
            utc(event.occurred_at),
            event.kind,
            event.summary,
            actor,
            event.run_id.unwrap_or_default(),
        ]);
    }
    if !rows.is_empty() {
        output.line(table(["#version", "occurred", "kind", "summary", "actor", "run"], rows))?;
    }
    let version = status.state_version;
    output.line(styled(
        FAINT,
        match (version, events.len()) {
            (0, 0) if *history_gap => "nothing is kept, as after the session was deleted".into(),
            (0, 0) => "nothing was recorded".into(),
            (_, 0) => format!("state version {version}; nothing changed after version {since}"),
            _ => format!("state version {version}"),
        },
    ))?;
    if *history_gap {
        let words = format!(
            "history gap: not everything after version {since} is kept, or this store never had it"
        );
        output.line(styled(ALERT, words))?;
    }
    if *truncated {
        output.line(styled(FAINT, "there are more events: ask again with --since"))?;
    }
    Ok(())
}
