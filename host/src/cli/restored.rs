//! `headsup restored`.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::failure::{Failure, Verdict};
use super::options::Setup;
use super::output::Output;

const MORE: &str = "\
Stop every process that uses the store, put the backup in its place as below,
and run this once before anything else. The three files belong together: a
-wal of the old store would be replayed over the backup, and undo it. So this
refuses to run where one lies beside the file; --keep-wal says that it belongs
to the file, as after a loss of power or beside a process that serves it.

Sessions may have seen versions that the backup does not have; afterwards
every version from before answers with a history gap, so that they refresh
instead of missing a change. Sequences go on 2^32 further.

With --json: {\"position\":4294967315}

Exit status:
  0  marked
  1  there is no store, or it could not be written, or a -wal lies beside it
  2  wrong usage

Environment:
  HEADSUP_DB, HEADSUP_PLUGIN, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --plugin, --config and --log, where they are not given

Example:
  rm -f headsup.db headsup.db-wal headsup.db-shm
  cp backup.db headsup.db
  headsup restored --db headsup.db";

/// Mark a store that came back from a backup
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// The -wal beside the file belongs to it: what is in it counts
    #[arg(long)]
    keep_wal: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let path = setup.existing_db()?;
    let name = path.display().to_string();
    if !arguments.keep_wal {
        refuse_old_commits(&path)?;
    }
    let awareness = setup.open(setup.builder(path)?.recover_on_open(false))?;
    let position = awareness.restored()?;
    if arguments.json {
        output.line(json!({ "position": position }))?;
    } else {
        output
            .line(format!("{name} is marked as restored; its sequences go on after {position}"))?;
    }
    Ok(Verdict::Fine)
}

/// Nothing tells commits of the store that was there before from those of the one that is there
/// now: whoever put it there has to say.
fn refuse_old_commits(path: &Path) -> Result<(), Failure> {
    let mut wal = OsString::from(path);
    wal.push("-wal");
    let wal = PathBuf::from(wal);
    if fs::metadata(&wal).map_or(true, |file| file.len() == 0) {
        return Ok(());
    }
    let (store, wal) = (path.display(), wal.display());
    Err(anyhow::anyhow!(
        "commits lie beside {store}, in {wal}. If you put a backup there, they are the old \
         store's, and opening it would replay them over the backup: remove {store}, {wal} and \
         {store}-shm, and copy the backup again. If they are its own (after a loss of power, or \
         because a process serves it), say so with --keep-wal"
    )
    .into())
}
