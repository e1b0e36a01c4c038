//! `headsup upstreams explain FILE`.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

use anyhow::Context;
use headsup::{ExplainError, ExplainedLine};
use serde::Serialize;

use crate::cli::failure::{Failure, Verdict};
use crate::cli::options::Setup;
use crate::cli::output::{FAINT, Output, styled};
use crate::cli::source::Kind;
use crate::cli::table::table;
use crate::cli::time::utc;

const MORE: &str = "\
Line by line, what a check of an adopted session takes each row for: the shape
that it matched, whether a person typed it so that it counts as a turn, why,
and its time. This is how a false or a missed notice is looked into. Blank
lines are left out. Nothing of the transcript's text is printed.

What is not in the file is not known here: that the gateway itself sent a
text, that a row was there before the session was adopted, or that it was
reported before the file was replaced.

FILE may be any regular file, and no store is opened: --db and --manual-clock
change nothing here.

With --json, one object; times are in ms since 1970, starts and sizes in bytes:
  {\"rows\":[{\"line\":1,\"start\":0,\"bytes\":88,\"human\":true,\"shape\":...,\"reason\":...,\"at\":...}],
   \"explained\":19,\"human\":2,\"shapes\":{\"...\":2}}

Exit status:
  0  fine
  1  the file could not be read, or the core not be loaded
  2  wrong usage

Environment:
  HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --plugin, --config and --log, where they are not given

Examples:
  headsup upstreams explain ~/.claude/projects/-home-me-app/3f2a.jsonl
  headsup upstreams explain --human --json rollout-7f.jsonl";

/// Say what each row of a transcript is taken for, and why
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// The transcript
    file: PathBuf,
    /// How its rows are read [default: by the file's name: `rollout-*` is codex-jsonl, anything else
    /// claude-jsonl]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Only rows that count as a person's turn
    #[arg(long)]
    human: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Everything that is said of a file.
#[derive(Default, Serialize)]
struct Report {
    rows: Vec<Row>,
    /// How many rows there are, shown or not.
    explained: u64,
    /// How many of them a person typed.
    human: u64,
    /// How many there are of each shape.
    shapes: BTreeMap<String, u64>,
}

#[derive(Serialize)]
struct Row {
    line: u64,
    start: u64,
    bytes: u32,
    human: bool,
    shape: String,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<u64>,
}

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let report = explain(setup, arguments)?;
    if arguments.json {
        output.line(serde_json::to_string(&report).map_err(anyhow::Error::from)?)?;
    } else {
        show(&report, output)?;
    }
    Ok(Verdict::Fine)
}

fn explain(setup: &Setup, arguments: &Arguments) -> Result<Report, Failure> {
    let unreadable = || format!("{} cannot be read", arguments.file.display());
    // Opening a pipe or a device may wait for ever.
    let is_file = std::fs::metadata(&arguments.file).with_context(unreadable)?.is_file();
    if !is_file {
        return Err(anyhow::anyhow!("it is no regular file").context(unreadable()).into());
    }
    let file = File::open(&arguments.file).with_context(unreadable)?;
    let kind = arguments.kind.unwrap_or_else(|| Kind::guess(&arguments.file));
    let mut report = Report::default();
    for explained in setup.plugin()?.explain(kind.word(), file) {
        match explained {
            Ok(line) => report.add(line, arguments.human),
            Err(ExplainError::Core(error)) => return Err(error.into()),
            Err(error) => return Err(anyhow::Error::from(error).context(unreadable()).into()),
        }
    }
    Ok(report)
}

impl Report {
    fn add(&mut self, explained: ExplainedLine, only_human: bool) {
        let ExplainedLine { line, row } = explained;
        self.explained += 1;
        self.human += u64::from(row.human);
        *self.shapes.entry(row.shape.clone()).or_default() += 1;
        if row.human || !only_human {
            let headsup::ExplainedRow { start, bytes, human, shape, reason, at } = row;
            self.rows.push(Row { line, start, bytes, human, shape, reason, at });
        }
    }
}

fn show(report: &Report, output: &mut Output) -> Result<(), Failure> {
    let Report { rows, explained, human, shapes } = report;
    if !rows.is_empty() {
        let rows = rows.iter().map(|row| {
            let turn = if row.human { "turn" } else { "-" };
            let at = row.at.map_or_else(|| "-".into(), utc);
            [row.line.to_string(), turn.into(), row.shape.clone(), at, row.reason.clone()]
        });
        output.line(table(["#line", "human", "shape", "time", "reason"], rows))?;
        output.line("")?;
    }
    if !shapes.is_empty() {
        let rows = shapes.iter().map(|(shape, count)| [shape.clone(), count.to_string()]);
        output.line(table(["shape", "#rows"], rows))?;
        output.line("")?;
    }
    output.line(styled(FAINT, format!("{explained} rows, {human} of them a person's turn")))
}
