//! `headsup adopt SESSION PATH`.

use std::path::PathBuf;

use anyhow::Context;
use serde::Deserialize;
use serde_json::json;

use super::ask::{ask, session};
use super::failure::{Failure, Verdict};
use super::options::Setup;
use super::output::Output;
use super::source::Kind;

const MORE: &str = "\
From now on, what people do in the transcript at PATH is a signal of SESSION:
a `human_direct_message` with the catalog's name as its channel, while
somebody watches the session and a `headsup serve` runs on the store. It
starts at the present end: history is never reported, and what is half-written
belongs to the future. Nothing of the text is kept.

Adopting again from the same file keeps the position and counts its misses
anew; another file starts over there. PATH must lie inside the folders that
`upstreams.folders` of the configuration allows: those of the user's Claude and
Codex, if nothing else is set. A symbolic link that leads outside is refused.

With --json, the answer of the method `adopt`:
  {\"adopted\":true,\"stateVersion\":19}

Exit status:
  0  fine, also if the session was adopted from this file before
  1  the store or the core could not be opened or written, or the file is not
     there, cannot be read, or lies outside the folders that are allowed
  2  wrong usage, or a session key that is not one

Environment:
  HEADSUP_DB, HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --plugin, --config and --log, where they are not given
  CLAUDE_CONFIG_DIR, CODEX_HOME
         the allowed folders, in place of ~/.claude and ~/.codex

Examples:
  headsup adopt agent:main:worker ~/.claude/projects/-home-me-app/3f2a.jsonl
  headsup adopt global --agent main ~/.codex/sessions/2026/11/30/rollout-7f.jsonl
  headsup upstreams                              what became of it";

/// Adopt a session that lives in a transcript of another tool
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// The key of the session
    session: String,
    /// The transcript
    path: PathBuf,
    /// The agent of the session; needed for a bare key, such as `global`
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// How its rows are read [default: by the file's name: `rollout-*` is codex-jsonl, anything else
    /// claude-jsonl]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// The catalog it comes from, which its signals name as their channel [default: claude or codex]
    #[arg(long, value_name = "NAME")]
    catalog: Option<String>,
    /// The machine it lives on
    #[arg(long, value_name = "ID")]
    host: Option<String>,
    /// Its id in the catalog
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The answer of `adopt`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Adopted {
    adopted: bool,
    state_version: u64,
}

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let path = std::path::absolute(&arguments.path)
        .with_context(|| format!("{} is no path", arguments.path.display()))?;
    let Some(place) = path.to_str() else {
        let name = path.display();
        return Err(Failure::Usage(format!("the path {name} is not UTF-8, and cannot be kept")));
    };
    let kind = arguments.kind.unwrap_or_else(|| Kind::guess(&path));
    let mut params = json!({
        "session": session(&arguments.session, arguments.agent.as_deref()),
        "source": {"kind": kind.word(), "path": place},
        "catalog": arguments.catalog.as_deref().unwrap_or(kind.catalog()),
    });
    for (name, given) in [("host", &arguments.host), ("thread", &arguments.thread)] {
        if let Some(given) = given {
            params[name] = given.as_str().into();
        }
    }
    let builder = setup.builder(setup.existing_db()?)?.recover_on_open(false);
    let awareness = setup.open(builder)?;
    let answer = ask(&awareness, "adopt", &params)?;
    if arguments.json {
        output.line(answer.get())?;
        return Ok(Verdict::Fine);
    }
    let Adopted { adopted, state_version } =
        serde_json::from_str(answer.get()).map_err(anyhow::Error::from)?;
    output.line(if adopted {
        format!("adopted, at state version {state_version}: what is there by now is history")
    } else {
        "adopted from this file before: it is read on from where it was".into()
    })?;
    Ok(Verdict::Fine)
}
