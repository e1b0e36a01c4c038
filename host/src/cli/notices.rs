//! `headsup notices [SESSION]`.

use serde::Deserialize;
use serde_json::json;

use super::ask::ask;
use super::failure::{Failure, Verdict};
use super::options::Setup;
use super::output::{FAINT, Output, styled};
use super::table::table;

const MORE: &str = "\
With a session, the notices that are pending for it as a watcher, as its next
turn would take them; they stay pending. Without one, who has how many.

The store is opened to look at it: nothing is created, changed, pruned or
recovered.

With --json, the answer of the method `take` or `pending`:
  {\"notices\":[{\"target\":...,\"agent\":...,\"since\":1,\"upTo\":2,\"text\":...}]}
  {\"watchers\":[{\"watcher\":\"agent:main:main\",\"notices\":1}]}

Exit status:
  0  fine, also if nothing is pending
  1  the store or the core could not be opened or read
  2  wrong usage, or a session key that is not one

Environment:
  HEADSUP_DB, HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --plugin, --config and --log, where they are not given

Examples:
  headsup notices
  headsup notices agent:main:main --json";

/// Show which notices are pending
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// The watcher; all of them if not given
    session: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Deserialize)]
struct Taken {
    notices: Vec<Notice>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Notice {
    target: String,
    agent: String,
    since: u64,
    up_to: u64,
    text: String,
}

#[derive(Deserialize)]
struct Pending {
    watchers: Vec<Count>,
}

#[derive(Deserialize)]
struct Count {
    watcher: String,
    notices: u64,
}

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let awareness = setup.look()?;
    let (method, params) = match &arguments.session {
        Some(watcher) => ("take", json!({ "watcher": watcher })),
        None => ("pending", json!({})),
    };
    let answer = ask(&awareness, method, &params)?;
    if arguments.json {
        output.line(answer.get())?;
    } else {
        show(method, answer.get(), output)?;
    }
    Ok(Verdict::Fine)
}

fn show(method: &str, answer: &str, output: &mut Output) -> Result<(), Failure> {
    let lines = if method == "take" {
        let Taken { notices } = serde_json::from_str(answer).map_err(anyhow::Error::from)?;
        let rows: Vec<_> = notices
            .into_iter()
            .map(|notice| {
                let (since, up_to) = (notice.since.to_string(), notice.up_to.to_string());
                [notice.target, notice.agent, since, up_to, notice.text]
            })
            .collect();
        (!rows.is_empty()).then(|| table(["target", "agent", "#since", "#up to", "text"], rows))
    } else {
        let Pending { watchers } = serde_json::from_str(answer).map_err(anyhow::Error::from)?;
        let rows: Vec<_> =
            watchers.into_iter().map(|count| [count.watcher, count.notices.to_string()]).collect();
        (!rows.is_empty()).then(|| table(["watcher", "#notices"], rows))
    };
    output.line(lines.unwrap_or_else(|| styled(FAINT, "nothing is pending")))
}
