//! `headsup doctor`.

use std::time::Duration;

use headsup::storage::{Store, StoreOptions, Violation};
use serde_json::json;

use super::failure::{Failure, Verdict};
use super::options::Setup;
use super::output::{BAD, GOOD, Output, styled};

const MORE: &str = "\
SQLite's own integrity check, then the invariants of the protocol: the order
of the positions of each cursor, an open notice exactly where there is
something to tell, heads that are not behind their log, watermarks, keys and
the series of sequences, and the settings. Each violation is named with its
rule, the session and the watcher. It reads the whole store, changes nothing,
and does not disturb a process that serves it. No core is asked: --plugin and
--manual-clock change nothing here.

With --json: {\"store\":..., \"violations\":[{\"rule\":\"cursor-order\",
\"watcher\":..., \"session\":..., \"agent\":..., \"problem\":...}]}; watcher,
session and agent are null where they do not apply.

A store that is damaged is best put back from a backup, and then marked with
`headsup restored`. A single session whose rows break an invariant is put
right by deleting it (method `delete`).

Exit status:
  0  the store is sound
  1  a violation was found, or there is no store, or it cannot be read
  2  wrong usage

Environment:
  HEADSUP_DB, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --config and --log, where they are not given

Examples:
  headsup doctor
  headsup doctor --db /var/lib/gateway/state.db --json";

/// Check a store: SQLite's integrity and the protocol's invariants
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let (name, violations) = inspect(setup, Store::doctor)?;
    if arguments.json {
        output.line(json!({"store": name, "violations": violations}))?;
    } else {
        show(&name, &violations, output)?;
    }
    Ok(if violations.is_empty() { Verdict::Fine } else { Verdict::Found })
}

/// Looks into the store with one snapshot. Returns the name of the store with what was seen.
pub fn inspect<T>(
    setup: &Setup,
    look: impl FnOnce(&mut Store) -> Result<T, headsup::StorageFailure>,
) -> Result<(String, T), Failure> {
    let mut options = StoreOptions::new(setup.existing_db()?);
    options.busy_timeout = Duration::from_millis(setup.config.store.busy_timeout_ms);
    let mut store = Store::inspect(&options)?;
    store.begin_read()?;
    let seen = look(&mut store);
    store.rollback();
    Ok((options.path.display().to_string(), seen?))
}

fn show(name: &str, violations: &[Violation], output: &mut Output) -> Result<(), Failure> {
    for violation in violations {
        output.line(violation)?;
    }
    output.line(match violations.len() {
        0 => styled(GOOD, format!("{name} is sound")),
        1 => styled(BAD, format!("{name} has 1 violation")),
        number => styled(BAD, format!("{name} has {number} violations")),
    })
}
