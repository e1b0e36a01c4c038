//! Checks a store: SQLite's own integrity, and the protocol's invariants as `host/sql/doctor/`
//! states them.

use std::fmt;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, Row as SqlRow};
use serde::Serialize;

use super::Store;
use super::failure::{Problem, code_of};
use crate::contract::{StorageFailure, StorageFault};

/// The rule that stands for what SQLite itself finds.
const INTEGRITY: &str = "sqlite-integrity";
/// The rule that no SQL can check: SQLite takes any bytes for text.
const ENCODING: &str = "text-encoding";

const OUR_TABLES: [&str; 8] = [
    "session_state_events",
    "session_state_heads",
    "session_watch_cursors",
    "session_upstream_links",
    "headsup_own_turns",
    "headsup_open_counts",
    "headsup_settings",
    "headsup_migrations",
];

/// Each rule with the query for what breaks it.
const RULES: &[(&str, &str)] = &[
    ("cursor-order", include_str!("../../sql/doctor/cursor_order.sql")),
    ("cursor-notice", include_str!("../../sql/doctor/cursor_notice.sql")),
    ("cursor-ahead", include_str!("../../sql/doctor/cursor_ahead.sql")),
    ("open-counts", include_str!("../../sql/doctor/open_counts.sql")),
    ("cursor-keys", include_str!("../../sql/doctor/cursor_keys.sql")),
    ("session-names", include_str!("../../sql/doctor/session_names.sql")),
    ("head-behind-log", include_str!("../../sql/doctor/head_behind_log.sql")),
    ("head-order", include_str!("../../sql/doctor/head_order.sql")),
    ("event-words", include_str!("../../sql/doctor/event_words.sql")),
    ("link-values", include_str!("../../sql/doctor/link_values.sql")),
    ("own-turns", include_str!("../../sql/doctor/own_turns.sql")),
    ("series", include_str!("../../sql/doctor/series.sql")),
    ("setting-values", include_str!("../../sql/doctor/setting_values.sql")),
];

/// One thing that is wrong with a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The rule that is broken, in kebab-case: `cursor-order`.
    pub rule: &'static str,
    /// The watcher whose cursor it is; absent if it is not about a cursor.
    pub watcher: Option<String>,
    /// The session's key; absent if it is about the whole store.
    pub session: Option<String>,
    /// The session's agent id; absent if it is about the whole store.
    pub agent: Option<String>,
    /// What is wrong, for people, without the subject.
    pub problem: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Debug form of the keys: one that is broken may hold anything.
        let Self { rule, watcher, session, agent, problem } = self;
        match (watcher, session) {
            (Some(watcher), Some(session)) => {
                write!(f, "{rule}: the cursor of {watcher:?} on {session:?}")?;
            }
            (_, Some(session)) => write!(f, "{rule}: session {session:?}")?,
            (_, None) => return write!(f, "{rule}: {problem}"),
        }
        if let Some(agent) = agent {
            write!(f, " (agent {agent:?})")?;
        }
        write!(f, " {problem}")
    }
}

impl Store {
    /// Everything that is wrong with the store, by rule; empty if nothing is. Inside a transaction,
    /// like the verbs. Takes time in proportion to the file.
    ///
    /// # Errors
    /// When the store cannot be read at all; damage that it can read around is a violation.
    pub fn doctor(&mut self) -> Result<Vec<Violation>, StorageFailure> {
        self.reading(|connection| {
            let mut found = integrity(connection)?;
            for (rule, sql) in RULES {
                found.extend(or_damage(broken(connection, rule, sql))?);
            }
            for table in OUR_TABLES {
                found.extend(or_damage(misencoded(connection, table))?);
            }
            Ok(found)
        })
    }
}

fn broken(
    connection: &Connection,
    rule: &'static str,
    sql: &str,
) -> Result<Vec<Violation>, Problem> {
    let violation = |row: &SqlRow<'_>| {
        Ok(Violation {
            rule,
            watcher: row.get(0)?,
            session: row.get(1)?,
            agent: row.get(2)?,
            problem: row.get(3)?,
        })
    };
    let found = connection.prepare(sql)?.query_map([], violation)?.collect::<Result<_, _>>()?;
    Ok(found)
}

/// What SQLite finds in the whole file, or in our tables alone where a gateway's tables need
/// functions that only the gateway has.
fn integrity(connection: &Connection) -> Result<Vec<Violation>, Problem> {
    match integrity_of(connection, None) {
        Err(Problem::Sqlite(error)) if code_of(&error) == Some(ErrorCode::Unknown) => {
            let mut found = Vec::new();
            for table in OUR_TABLES {
                found.extend(or_damage(integrity_of(connection, Some(table)))?);
            }
            Ok(found)
        }
        other => or_damage(other),
    }
}

fn integrity_of(
    connection: &Connection,
    table: Option<&'static str>,
) -> Result<Vec<Violation>, Problem> {
    let sql = table.map_or_else(
        || "PRAGMA integrity_check".to_owned(),
        |table| format!("PRAGMA integrity_check('{table}')"),
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let line: String = row.get(0)?;
        if line != "ok" {
            found.push(of_the_file(line));
        }
    }
    Ok(found)
}

/// Columns of a table with text that is not UTF-8.
fn misencoded(connection: &Connection, table: &'static str) -> Result<Vec<Violation>, Problem> {
    let mut statement = connection.prepare(&format!("SELECT * FROM {table}"))?;
    let mut counts = vec![0_u64; statement.column_count()];
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for (column, count) in counts.iter_mut().enumerate() {
            if let ValueRef::Text(bytes) = row.get_ref(column)? {
                *count += u64::from(std::str::from_utf8(bytes).is_err());
            }
        }
    }
    drop(rows);
    let names = statement.column_names().zip(counts);
    let bad = names.filter(|(_, count)| *count > 0).map(|(name, count)| Violation {
        rule: ENCODING,
        watcher: None,
        session: None,
        agent: None,
        problem: format!("the text of {name} is not UTF-8 in {count} rows of {table}"),
    });
    Ok(bad.collect())
}

/// A check that runs into damage found some.
fn or_damage(outcome: Result<Vec<Violation>, Problem>) -> Result<Vec<Violation>, Problem> {
    match outcome {
        Err(Problem::Sqlite(error)) if has_wrong_value(&error) => {
            let problem = "a value is not of the type that it must be, or its text is not UTF-8; \
                           a check could not be finished";
            Ok(vec![of_the_file(problem.to_owned())])
        }
        Err(problem) if problem.fault() == StorageFault::Corrupt => {
            let problem = "the file is damaged, and a check could not be finished".to_owned();
            Ok(vec![of_the_file(problem)])
        }
        other => other,
    }
}

fn has_wrong_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, InvalidColumnType, Utf8Error};
    matches!(error, FromSqlConversionFailure(..) | InvalidColumnType(..) | Utf8Error(..))
}

fn of_the_file(problem: String) -> Violation {
    Violation { rule: INTEGRITY, watcher: None, session: None, agent: None, problem }
}
