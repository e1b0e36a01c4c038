//! `headsup stats`.

use headsup::storage::{Stats, Store};

use super::doctor::inspect;
use super::failure::{Failure, Verdict};
use super::options::Setup;
use super::output::Output;
use super::table::table;
use super::time::utc;

const MORE: &str = "\
The store is opened to look at it: nothing is created, changed, pruned or
recovered. No core is asked: --plugin and --manual-clock change nothing here.

With --json, one object; times are in ms since 1970, sizes in bytes:
  {\"events\":19,\"sessions\":4,\"tombstones\":0,\"spawnCursors\":3,...}

Exit status:
  0  fine
  1  there is no store, or it cannot be read
  2  wrong usage

Environment:
  HEADSUP_DB, HEADSUP_CONFIG, HEADSUP_LOG
         the options --db, --config and --log, where they are not given

Examples:
  headsup stats
  headsup stats --json --db /var/lib/gateway/state.db";

/// Show what a store holds, in numbers
#[derive(Debug, clap::Args)]
#[command(after_long_help = MORE)]
pub struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(setup: &Setup, arguments: &Arguments, output: &mut Output) -> Result<Verdict, Failure> {
    let (name, stats) = inspect(setup, Store::stats)?;
    if arguments.json {
        output.line(serde_json::to_string(&stats).map_err(anyhow::Error::from)?)?;
    } else {
        output
            .line(table(["store", "#"], rows(&stats).map(|(what, value)| [what.into(), value])))?;
        output.line(format!("\n{name}, read by SQLite {}", stats.sqlite_version))?;
    }
    Ok(Verdict::Fine)
}

fn rows(stats: &Stats) -> [(&'static str, String); 16] {
    let time = |at: Option<u64>| at.map_or_else(|| "-".into(), utc);
    let restored = match stats.restored_at {
        0 => "never".into(),
        position => format!("at {position}"),
    };
    [
        ("events kept", stats.events.to_string()),
        ("oldest event", time(stats.oldest_event_at)),
        ("newest event", time(stats.newest_event_at)),
        ("last sequence", stats.last_sequence.to_string()),
        ("sessions", stats.sessions.to_string()),
        ("deleted sessions remembered", stats.tombstones.to_string()),
        ("watches by spawning", stats.spawn_cursors.to_string()),
        ("watches asked for", stats.explicit_cursors.to_string()),
        ("watches, ambient", stats.ambient_cursors.to_string()),
        ("marks of ended watches", stats.marks.to_string()),
        ("notices pending", stats.open_notices.to_string()),
        ("adopted sessions", stats.upstream_links.to_string()),
        ("restored from a backup", restored),
        ("schema version", stats.schema_version.to_string()),
        ("bytes in the file", stats.file_bytes.to_string()),
        ("bytes in the log beside it", stats.wal_bytes.to_string()),
    ]
}
