//! `headsup replay FILE`.

mod answer;
mod outcome;
mod scenario;
mod sentence;
mod server;
mod story;
mod transcripts;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde_json::Value;

use self::answer::Answer;
use self::scenario::{Request, Step};
use self::server::{Recipe, Server};
use self::transcripts::{Row, Transcripts};
use super::failure::{Failure, Verdict};
use super::options::{MEMORY, Setup};
use super::output::Output;

const MORE: &str = "\
A scenario is a text file:

  {\"jsonrpc\":...}            a request, or a batch, as `headsup serve` reads it
  # words                    narration; a heading at the start of a paragraph
  #! kill                    kill the server as SIGKILL does, and start it again
                             on the same store
  #! expect-error [REASON]   the next request is answered with an error, which
                             is part of the story; it need not even be JSON
  #! append NAME ROW         another tool writes this row into the transcript NAME,
                             which requests call {transcripts}/NAME
  #anything else             skipped, and so are blank lines

The requests go to a server of their own, as those of a gateway would: a child
process `headsup serve --stdio --manual-clock`. Time stands still between
`clock` requests, so that the same scenario always prints the same. The store
is a scratch one that is gone at the end, unless --db is given on the command
line; HEADSUP_DB and the configuration do not count here. A store in memory
ends with its server: there is no `#! kill` for it. Transcripts lie in a scratch
folder, too, which is the server's CLAUDE_CONFIG_DIR.

Printed is who did what and what came of it, and below it what each session
sees: its one notice, the wake, the delta it pulls. With --json: the raw
responses and notifications, one a line, and nothing else.

Exit status:
  0  the story went as announced
  1  a response was an error that was not announced, or an announced one did
     not come; a line of the scenario is no request; or the server failed
  2  wrong usage

Environment:
  HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --plugin, --config and --log, where they are not given
  NO_COLOR, CLICOLOR_FORCE
         no colour, or colour even if the output is no terminal

Examples:
  headsup replay tests/scenarios/01-manager-and-workers.jsonl
  headsup replay story.jsonl --json --db kept.db";

/// Play a scenario and tell what each session would see
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// The scenario
    file: PathBuf,
    /// Print the raw responses and notifications
    #[arg(long)]
    json: bool,
}

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let steps = scenario::read(&arguments.file)?;
    if setup.options.db.as_deref() == Some(Path::new(MEMORY)) && steps.contains(&Step::Kill) {
        let words = "a store in memory ends with the server that `#! kill` kills: leave --db out, \
                     or give the path of a file";
        return Err(Failure::Usage(words.into()));
    }
    let scratch = tempfile::tempdir().context("there is no place for a scratch store")?;
    let store = match &setup.options.db {
        Some(path) => path.clone(),
        None => scratch.path().join("replay.db"),
    };
    let mut options = setup.for_child();
    options.extend([OsString::from("--db"), store.into()]);
    let tool = scratch.path().join("claude");
    let transcripts = Transcripts::inside(&tool)?;
    let recipe = Recipe { options, clock: setup.options.manual_clock.unwrap_or(0), tool };
    let surprises = Replay::start(recipe, transcripts, arguments.json, output)?.play(&steps)?;
    for surprise in &surprises {
        anstream::eprintln!("{surprise}");
    }
    Ok(if surprises.is_empty() { Verdict::Fine } else { Verdict::Found })
}

/// A scenario in progress.
struct Replay<'a> {
    recipe: Recipe,
    transcripts: Transcripts,
    server: Server,
    json: bool,
    output: &'a mut Output,
    surprises: Vec<String>,
    /// Whether a paragraph was printed.
    begun: bool,
}

impl<'a> Replay<'a> {
    fn start(
        recipe: Recipe,
        transcripts: Transcripts,
        json: bool,
        output: &'a mut Output,
    ) -> Result<Self, Failure> {
        let (server, before) = Server::start(&recipe)?;
        let surprises = Vec::new();
        let mut replay =
            Self { recipe, transcripts, server, json, output, surprises, begun: false };
        replay.hear(&before)?;
        Ok(replay)
    }

    fn play(mut self, steps: &[Step]) -> Result<Vec<String>, Failure> {
        for step in steps {
            match step {
                Step::Send(request) => self.send(request)?,
                Step::Kill => self.kill()?,
                Step::Append(row) => self.append(row)?,
                Step::Heading(_) | Step::Narration(_) if self.json => {}
                Step::Heading(text) => self.heading(text)?,
                Step::Narration(text) => self.output.line(story::narration(text))?,
            }
            // A story is told while it happens.
            self.output.flush()?;
        }
        let rest = self.server.end()?;
        hear(&rest, self.json, self.output)?;
        Ok(self.surprises)
    }

    fn heading(&mut self, text: &str) -> Result<(), Failure> {
        if std::mem::replace(&mut self.begun, true) {
            self.output.line("")?;
        }
        self.output.line(story::heading(text))
    }

    fn send(&mut self, request: &Request) -> Result<(), Failure> {
        let lines = self.server.send(&self.transcripts.fill(&request.text))?;
        let answer = Answer::of(&lines)?;
        let value = request.value.clone().unwrap_or(Value::Null);
        self.recipe.clock = answer.clock(&value).unwrap_or(self.recipe.clock);
        self.surprises.extend(answer.surprise(request));
        if self.json {
            return raw(&lines, self.output);
        }
        for line in story::told(request, &value, &answer) {
            self.output.line(line)?;
        }
        Ok(())
    }

    fn append(&mut self, row: &Row) -> Result<(), Failure> {
        self.transcripts.append(row)?;
        if self.json { Ok(()) } else { self.output.line(story::appended(row)) }
    }

    fn kill(&mut self) -> Result<(), Failure> {
        if !self.json {
            self.output.line(story::killed())?;
        }
        let (server, before) = {
            // The old one goes first: two on one store is another story.
            self.server.kill()?;
            Server::start(&self.recipe)?
        };
        self.server = server;
        self.hear(&before)
    }

    fn hear(&mut self, lines: &[String]) -> Result<(), Failure> {
        hear(lines, self.json, self.output)
    }
}

/// Prints what came without a request.
fn hear(lines: &[String], json: bool, output: &mut Output) -> Result<(), Failure> {
    if json {
        return raw(lines, output);
    }
    for line in story::heard(&Answer::of(lines)?) {
        output.line(line)?;
    }
    Ok(())
}

fn raw(lines: &[String], output: &mut Output) -> Result<(), Failure> {
    lines.iter().try_for_each(|line| output.line(line))
}
