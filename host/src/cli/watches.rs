//! `headsup watches SESSION`.

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::ask::{ask_for, session};
use super::failure::{Failure, Verdict};
use super::options::Setup;
use super::output::{FAINT, Output, STRONG, styled};
use super::table::table;
use super::time::utc;

const MORE: &str = "\
Both directions are shown: the sessions that SESSION watches, and those that
watch it. Of each watch: where it came from, the version the watcher has seen,
the version its open notice stands for, the newest change that matters to it,
whether a notice is pending, and when it expires if nothing moves.

The store is opened to look at it: nothing is created, changed, pruned or
recovered.

With --json, both answers of the method `watches`:
  {\"watches\":[{\"watcher\":...}],\"watchedBy\":[{\"watcher\":...}]}

Exit status:
  0  fine, also if nobody watches anybody
  1  the store or the core could not be opened or read
  2  wrong usage, or a session key that is not one

Environment:
  HEADSUP_DB, HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --plugin, --config and --log, where they are not given

Examples:
  headsup watches agent:main:main
  headsup watches global --agent main --json";

/// Show whom a session watches, and who watches it
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// The key of the session
    session: String,
    /// The agent of the session; needed for a bare key, such as `global`
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The answer of `watches`.
#[derive(Deserialize)]
struct Watches {
    watches: Vec<Box<RawValue>>,
}

/// Both directions.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Both {
    watches: Vec<Box<RawValue>>,
    watched_by: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Watch {
    watcher: String,
    target: String,
    agent: String,
    provenance: String,
    last_seen: u64,
    notified: u64,
    material: u64,
    pending: bool,
    expires_at: u64,
}

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let awareness = setup.look()?;
    let ask = |params| ask_for::<Watches>(&awareness, "watches", &params);
    // The target first: it is checked with its agent, so that a bare key without one is refused.
    let target = session(&arguments.session, arguments.agent.as_deref());
    let watched_by = ask(json!({ "target": target }))?.watches;
    let watches = ask(json!({"watcher": arguments.session}))?.watches;
    let both = Both { watches, watched_by };
    if arguments.json {
        output.line(serde_json::to_string(&both).map_err(anyhow::Error::from)?)?;
        return Ok(Verdict::Fine);
    }
    let name = &arguments.session;
    show(&format!("{name} watches"), &both.watches, output)?;
    output.line("")?;
    show(&format!("{name} is watched by"), &both.watched_by, output)?;
    Ok(Verdict::Fine)
}

fn show(title: &str, watches: &[Box<RawValue>], output: &mut Output) -> Result<(), Failure> {
    output.line(styled(STRONG, title))?;
    if watches.is_empty() {
        return output.line(styled(FAINT, "nobody"));
    }
    let mut rows = Vec::new();
    for watch in watches {
        let watch: Watch = serde_json::from_str(watch.get()).map_err(anyhow::Error::from)?;
        rows.push([
            watch.watcher,
            watch.target,
            watch.agent,
            watch.provenance,
            watch.last_seen.to_string(),
            watch.notified.to_string(),
            watch.material.to_string(),
            if watch.pending { "pending" } else { "" }.into(),
            utc(watch.expires_at),
        ]);
    }
    let columns = [
        "watcher",
        "target",
        "agent",
        "from",
        "#seen",
        "#notified",
        "#material",
        "notice",
        "expires",
    ];
    output.line(table(columns, rows))
}
