//! `headsup upstreams [SESSION]`, and what is below it.

mod explain;
mod link;

use self::link::Link;
use super::failure::{Failure, Verdict};
use super::options::Setup;
use super::output::{FAINT, Output, styled};
use super::table::table;

const MORE: &str = "\
Of each adopted session: where it lives, up to which byte that was read, how
many bytes are there beyond, when it was last planned to be checked, how often
in a row it was definitively not there (the third time, the link goes), and
what keeps it from being checked or read.

A session is checked about once a minute while somebody watches it and no turn
of it runs, by one process of those that serve the store.

The store is opened to look at it: nothing is created, changed, pruned or
recovered. Of transcripts only the size is looked at. A file that does not answer
within two seconds, as on a file system that hangs, is left alone.

With --json, one object; times are in ms since 1970, sizes in bytes:
  {\"links\":[{\"session\":...,\"agent\":...,\"kind\":...,\"place\":...,\"at\":...,\"behind\":...,\"hangs\":false,...}]}

Exit status:
  0  fine, also if nothing is adopted
  1  the store or the core could not be opened or read
  2  wrong usage

Environment:
  HEADSUP_DB, HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --plugin, --config and --log, where they are not given

Examples:
  headsup upstreams
  headsup upstreams agent:main:worker --json
  headsup upstreams explain --human ~/.claude/projects/-home-me-app/3f2a.jsonl";

/// Show adopted sessions: where each lives, and how far that was read
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    /// The key of one session; without it, all are shown
    session: Option<String>,
    /// The agent of the session, if the key is one of several agents'
    #[arg(long, value_name = "ID", requires = "session")]
    agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Explain(explain::Arguments),
}

/// All that are asked for.
#[derive(serde::Serialize)]
struct Links {
    links: Vec<Link>,
}

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    if let Some(Command::Explain(arguments)) = &arguments.command {
        return explain::run(setup, arguments, output);
    }
    let awareness = setup.look()?;
    let now = awareness.now();
    let states = awareness.links()?.into_iter().filter(|link| arguments.want(link));
    let links = Link::of(states.collect());
    if arguments.json {
        let all = serde_json::to_string(&Links { links }).map_err(anyhow::Error::from)?;
        output.line(all)?;
    } else if links.is_empty() {
        let whose = if arguments.session.is_some() { "the session" } else { "no session" };
        let not = if arguments.session.is_some() { " not" } else { "" };
        output.line(styled(FAINT, format!("{whose} is{not} adopted")))?;
    } else {
        let columns =
            ["session", "agent", "source", "#read to", "#behind", "checked", "#misses", "state"];
        output.line(table(columns, links.iter().map(|link| link.row(now))))?;
    }
    Ok(Verdict::Fine)
}

impl Arguments {
    /// Keys are shown as the store has them: canonical. White space around what was typed, and the
    /// case of its letters, are no reason not to find one.
    fn want(&self, link: &headsup::LinkState) -> bool {
        let key = self.session.as_deref().map(str::trim);
        key.is_none_or(|key| link.session.eq_ignore_ascii_case(key))
            && self.agent.as_ref().is_none_or(|agent| *agent == link.agent)
    }
}
