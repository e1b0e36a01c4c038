//! `headsup plugin new NAME`, `headsup plugin inspect FILE` and `headsup plugin check FILE`.

mod new;

use std::path::PathBuf;

use headsup::conformance::{self, Report};
use headsup::{Inspection, Interfaces, Metadata, Plugin};
use serde_json::{Value, json};

use super::failure::{Failure, Verdict};
use super::options::Setup;
use super::output::{BAD, GOOD, Output, STRONG, styled};
use super::table::table;

const INSPECT: &str = "\
What the component says about itself, its size, its imports and exports, and
whether headsup would load it. A core may import the contract
(headsup:awareness) and wasi:clocks/wall-clock and nothing else: no files, no
network, no environment. No store is opened and no other core loaded: --db,
--plugin and --manual-clock change nothing here.

With --json: {\"name\":..., \"version\":..., \"protocol\":..., \"size\":...,
\"imports\":{...}, \"exports\":{...}, \"loads\":true, \"problem\":null};
imports and exports are lists of functions by interface, and name, version and
protocol are null where it cannot be asked.

Exit status:
  0  it may be loaded
  1  it may not, and why is said; or it cannot be read
  2  wrong usage

Environment:
  HEADSUP_CONFIG, HEADSUP_LOG
         the options --config and --log, where they are not given

Examples:
  headsup plugin inspect core.wasm
  headsup plugin inspect --builtin";

const CHECK: &str = "\
Loads the component and sends it the conformance vectors of the protocol:
requests with exactly what must come back, each file of them on a scratch
store of its own in memory. No store of yours is touched. Of each file the
first answer that is not as it must be is shown. --db, --plugin and
--manual-clock change nothing here.

With --json: {\"files\":29, \"passed\":1675, \"differences\":[{\"file\":...,
\"line\":..., \"rule\":..., \"sent\":..., \"detail\":...}]}

Exit status:
  0  every answer is as it must be
  1  one is not, or the component may not be loaded
  2  wrong usage

Environment:
  HEADSUP_CONFIG, HEADSUP_LOG
         the options --config and --log, where they are not given

Example:
  headsup plugin check core.wasm && headsup serve --stdio --plugin core.wasm";

const ALL: &str = "\
Exit status:
  0  the component is as it should be, or the crate was written
  1  it is not
  2  wrong usage

Examples:
  headsup plugin new quiet-plans
  headsup plugin inspect core.wasm && headsup plugin check core.wasm";

/// Make a core of your own, or look at a component before it is used as one
#[derive(Debug, clap::Subcommand)]
#[command(after_long_help = ALL)]
pub enum Command {
    /// Write a crate that builds a core with a rule of your own
    #[command(after_long_help = new::HELP)]
    New(new::Arguments),
    /// Show what a component imports and exports, and whether it may be loaded
    #[command(after_long_help = INSPECT)]
    Inspect(Arguments),
    /// Run the protocol's conformance vectors against a component
    #[command(after_long_help = CHECK)]
    Check(Arguments),
}

/// Which component.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The component
    #[arg(required_unless_present = "builtin", conflicts_with = "builtin")]
    file: Option<PathBuf>,
    /// The core that headsup was built with
    #[arg(long)]
    builtin: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(setup: &Setup, command: &Command, output: &mut Output) -> Result<Verdict, Failure> {
    match command {
        Command::New(arguments) => new::run(arguments, output).map(|()| Verdict::Fine),
        Command::Inspect(arguments) => inspect(setup, arguments, output),
        Command::Check(arguments) => check(setup, arguments, output),
    }
}

fn inspect(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let engine = setup.engine()?;
    let inspection = match &arguments.file {
        Some(file) => Inspection::of_file(&engine, file)?,
        None => Inspection::of_built_in(&engine)?,
    };
    let problem = inspection.verdict.as_ref().err().map(ToString::to_string);
    let metadata = inspection.verdict.as_ref().ok().map(Plugin::metadata);
    if arguments.json {
        output.line(as_json(&inspection, metadata, problem.as_deref()))?;
    } else {
        show(&inspection, metadata, problem.as_deref(), output)?;
    }
    Ok(if problem.is_none() { Verdict::Fine } else { Verdict::Found })
}

fn as_json(inspection: &Inspection, metadata: Option<&Metadata>, problem: Option<&str>) -> Value {
    json!({
        "name": metadata.map(|metadata| &metadata.name),
        "version": metadata.map(|metadata| &metadata.version),
        "protocol": metadata.map(|metadata| &metadata.protocol),
        "size": inspection.size,
        "imports": inspection.surface.imports,
        "exports": inspection.surface.exports,
        "loads": problem.is_none(),
        "problem": problem,
    })
}

fn show(
    inspection: &Inspection,
    metadata: Option<&Metadata>,
    problem: Option<&str>,
    output: &mut Output,
) -> Result<(), Failure> {
    if let Some(Metadata { name, version, protocol }) = metadata {
        output.line(format!("{} {version}, protocol {protocol}", styled(STRONG, name)))?;
    }
    output.line(format!("{} bytes\n", inspection.size))?;
    output.line(interfaces("imports", &inspection.surface.imports))?;
    output.line("")?;
    output.line(interfaces("exports", &inspection.surface.exports))?;
    output.line("")?;
    output.line(match problem {
        None => styled(GOOD, "it may be loaded"),
        Some(problem) => format!("{} {problem}", styled(BAD, "it may not be loaded:")),
    })
}

fn interfaces(title: &str, interfaces: &Interfaces) -> String {
    let rows = interfaces.iter().map(|(name, functions)| [name.clone(), functions.join(" ")]);
    table([title, "functions"], rows)
}

fn check(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let engine = setup.engine()?;
    let plugin = match &arguments.file {
        Some(file) => Plugin::from_file(&engine, file)?,
        None => Plugin::built_in(&engine)?,
    };
    let report = conformance::check(&plugin)?;
    if arguments.json {
        output.line(report_as_json(&report))?;
    } else {
        for difference in &report.differences {
            output.line(format!("{} {difference}\n", styled(BAD, "differs:")))?;
        }
        let Report { files, passed, differences } = &report;
        let Metadata { name, version, .. } = plugin.metadata();
        output.line(match differences.len() {
            0 => {
                styled(GOOD, format!("{name} {version} conforms: {passed} steps in {files} files"))
            }
            bad => {
                format!("{name} {version}: {bad} of {files} files differ, {passed} steps passed")
            }
        })?;
    }
    Ok(if report.conforms() { Verdict::Fine } else { Verdict::Found })
}

fn report_as_json(report: &Report) -> Value {
    let differences = report.differences.iter().map(|difference| {
        json!({
            "file": difference.file,
            "line": difference.line,
            "rule": difference.rule,
            "sent": difference.sent,
            "detail": difference.detail,
        })
    });
    json!({
        "files": report.files,
        "passed": report.passed,
        "differences": differences.collect::<Vec<_>>(),
    })
}
