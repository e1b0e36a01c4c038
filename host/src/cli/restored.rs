//! `headsup restored`.

use serde_json::json;

use super::failure::{Failure, Verdict};
use super::options::Setup;
use super::output::Output;

const MORE: &str = "\
Run it once after putting a backup in the place of a store, and before serving
it. Sessions may have seen versions that the backup does not have; afterwards
every version from before answers with a history gap, so that they refresh
instead of missing a change. Sequences go on 2^32 further.

With --json: {\"position\":4294967315}

Exit status:
  0  marked
  1  there is no store, or it could not be written
  2  wrong usage

Environment:
  HEADSUP_DB, HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --plugin, --config and --log, where they are not given

Example:
  cp backup/headsup.db headsup.db && headsup restored --db headsup.db";

/// Mark a store that came back from a backup
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let path = setup.existing_db()?;
    let name = path.display().to_string();
    let awareness = setup.builder(path)?.recover_on_open(false).open()?;
    let position = awareness.restored()?;
    if arguments.json {
        output.line(json!({ "position": position }))?;
    } else {
        output
            .line(format!("{name} is marked as restored; its sequences go on after {position}"))?;
    }
    Ok(Verdict::Fine)
}
