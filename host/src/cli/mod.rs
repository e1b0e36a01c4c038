//! The command line: arguments, exit statuses and help; one file a command.

mod adopt;
mod ask;
mod doctor;
mod failure;
mod input;
mod log;
mod notices;
mod options;
mod output;
mod plugin;
mod replay;
mod restored;
mod serve;
mod source;
mod stats;
mod table;
mod time;
mod upstreams;
mod watches;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use self::failure::{Failure, Verdict};
use self::options::{Options, Setup};
use self::output::Output;

/// What `headsup --help` says after the options.
const MORE: &str = "\
Exit status:
  0  fine
  1  failed, or something was found that is not as it should be
  2  wrong usage

Environment:
  HEADSUP_DB, HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --plugin, --config and --log, where they are not given
  NO_COLOR, CLICOLOR_FORCE
         no colour, or colour even if the output is no terminal
  CLAUDE_CONFIG_DIR, CODEX_HOME
         where transcripts may be read, in place of ~/.claude and ~/.codex
  XDG_DATA_HOME, XDG_CACHE_HOME
         where the store and compiled code are by default (on Linux)

Examples:
  headsup replay story.jsonl                     see what it is all about
  headsup serve --stdio                          talk JSON-RPC to a gateway
  headsup watches agent:main:main                who watches whom
  headsup adopt agent:main:worker 3f2a.jsonl     watch a session of another tool
  headsup doctor && headsup stats                is it sound, and what is in it";

/// Tells an agent session, once, that another session changed behind its back, and lets it catch
/// up exactly.
///
/// headsup keeps a log of what changed in each session, cursors of who watches whom, and at most
/// one pending notice for each of them, in one SQLite file that several processes may share. The
/// logic is a WebAssembly component, which can be replaced.
#[derive(Parser)]
#[command(name = "headsup", version, after_long_help = MORE, max_term_width = 100)]
#[command(subcommand_required = true, arg_required_else_help = true)]
struct Arguments {
    #[command(flatten)]
    options: Options,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Replay(replay::Arguments),
    Serve(serve::Arguments),
    Log(log::Arguments),
    Watches(watches::Arguments),
    Notices(notices::Arguments),
    Stats(stats::Arguments),
    Adopt(adopt::Arguments),
    Upstreams(upstreams::Arguments),
    Doctor(doctor::Arguments),
    Restored(restored::Arguments),
    #[command(subcommand)]
    Plugin(plugin::Command),
}

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    let mut output = Output::new();
    let done = perform(arguments, &mut output);
    match done.and_then(|verdict| output.flush().map(|()| verdict)) {
        Ok(Verdict::Fine) | Err(Failure::NobodyReads) => ExitCode::SUCCESS,
        Ok(Verdict::Found) => ExitCode::from(1),
        Err(failure) => failure.report(),
    }
}

fn perform(arguments: Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let setup = Setup::resolve(arguments.options)?;
    match arguments.command {
        Command::Replay(arguments) => replay::run(&setup, &arguments, output),
        Command::Serve(arguments) => serve::run(&setup, &arguments),
        Command::Log(arguments) => log::run(&setup, &arguments, output),
        Command::Watches(arguments) => watches::run(&setup, &arguments, output),
        Command::Notices(arguments) => notices::run(&setup, &arguments, output),
        Command::Stats(arguments) => stats::run(&setup, &arguments, output),
        Command::Adopt(arguments) => adopt::run(&setup, &arguments, output),
        Command::Upstreams(arguments) => upstreams::run(&setup, &arguments, output),
        Command::Doctor(arguments) => doctor::run(&setup, &arguments, output),
        Command::Restored(arguments) => restored::run(&setup, &arguments, output),
        Command::Plugin(command) => plugin::run(&setup, &command, output),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_free_of_contradictions() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does_its_exit_statuses_and_an_example() {
        fn look(command: &mut clap::Command) {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Exit status:"), "{help}");
            assert!(help.contains("Example"), "{help}");
            // The command `help` is clap's own.
            let ours = command.get_subcommands_mut().filter(|command| command.get_name() != "help");
            ours.for_each(look);
        }
        look(&mut Arguments::command());
    }
}
