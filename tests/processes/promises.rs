//! What was told to the processes, held against what the store has in the end.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use crate::fleet::Records;
use harness::command::{run_with, text};

/// Each session's log: sequence and dedupe key, as the file has it.
pub fn logs(db: &Path) -> BTreeMap<String, Vec<(u64, String)>> {
    let connection = Connection::open(db).unwrap();
    let sql =
        "SELECT session_key, sequence, dedupe_key FROM session_state_events ORDER BY sequence";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement
        .query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get(2)?)))
        .unwrap();
    let mut logs = BTreeMap::<String, Vec<(u64, String)>>::new();
    for row in rows {
        let (session, sequence, key) = row.unwrap();
        logs.entry(session).or_default().push((u64::try_from(sequence).unwrap(), key));
    }
    logs
}

/// What a writer was told is recorded stands under the version that it was told; what it was not
/// told stands there once or not at all; and nobody else wrote anything.
pub fn nothing_is_lost_or_doubled(db: &Path, writers: &[Records]) {
    let logs = logs(db);
    let mut stored: BTreeMap<(String, String), u64> = BTreeMap::new();
    for (session, rows) in &logs {
        for (sequence, key) in rows {
            let before = stored.insert((session.clone(), key.clone()), *sequence);
            assert_eq!(before, None, "{key} of {session} stands twice");
        }
    }
    for (session, key, version) in writers.iter().flatten() {
        let found = stored.remove(&(session.clone(), key.clone()));
        if version.is_some() {
            assert_eq!(found, *version, "{key} of {session}");
        }
    }
    assert_eq!(stored, BTreeMap::new(), "nobody was asked to record these");
}

/// Sequences are consecutive over all sessions: nothing pruned, nothing skipped.
pub fn the_series_is_whole(db: &Path) {
    let mut all: Vec<u64> = logs(db).values().flatten().map(|(sequence, _)| *sequence).collect();
    all.sort_unstable();
    let length = u64::try_from(all.len()).unwrap();
    assert_eq!(all, (1..=length).collect::<Vec<u64>>());
}

/// Acknowledgements that counted follow one another without a hole or an overlap, from nothing to
/// the newest event of each target.
pub fn each_notice_was_acknowledged_once(db: &Path, ranges: &[(String, u64, u64)]) {
    for (target, rows) in logs(db) {
        let mut of_target: Vec<(u64, u64)> = ranges
            .iter()
            .filter(|(name, ..)| *name == target)
            .map(|(_, since, up_to)| (*since, *up_to))
            .collect();
        of_target.sort_unstable();
        let mut seen = 0;
        for (since, up_to) in of_target {
            assert_eq!(since, seen, "{target}: after {seen} came {since}..{up_to}");
            seen = up_to;
        }
        assert_eq!(Some(seen), rows.last().map(|(sequence, _)| *sequence), "{target}");
    }
}

pub fn doctor_finds_nothing(db: &Path) {
    let ended = run_with(["doctor", "--db", text(db)]);
    assert_eq!(ended.status, 0, "{ended:?}");
}
