//! Which schema a file has: ours, none yet, a newer one, or somebody else's; and bringing it up to
//! date. A file may belong to a gateway, so only our own tables are looked at.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use rusqlite::{Connection, Row as SqlRow, named_params};

use super::failure::Problem;
use crate::contract::StorageFault;

const MIGRATIONS_TABLE: &str = include_str!("../../sql/schema/migrations.sql");
const MIGRATIONS_NAME: &str = "headsup_migrations";
const APPLIED: &str = include_str!("../../sql/schema/applied.sql");
const RECORD: &str = include_str!("../../sql/schema/record.sql");
const SHAPE: &str = include_str!("../../sql/schema/shape.sql");

/// A schema file: its statements, and the name under which a store remembers that it ran.
struct Migration {
    name: &'static str,
    sql: &'static str,
}

/// All schema files, oldest first; the first one makes version 1.
const MIGRATIONS: &[Migration] = &[
    Migration {
        name: "0001_signal_log",
        sql: include_str!("../../sql/schema/0001_signal_log.sql"),
    },
    Migration {
        name: "0002_broken_order_is_open",
        sql: include_str!("../../sql/schema/0002_broken_order_is_open.sql"),
    },
];

/// The schema version that this build makes and understands.
pub(super) fn newest_version() -> usize {
    MIGRATIONS.len()
}

/// One line of a file's shape, as `schema/shape.sql` describes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    owner: String,
    kind: String,
    position: i64,
    name: String,
    detail: String,
}

/// The schema version of a file: 0 if there is nothing of ours yet. Changes nothing.
///
/// # Errors
/// `too-new`, or `foreign-schema` if something has one of our names and is not what we made.
pub(super) fn version(connection: &Connection) -> Result<usize, Problem> {
    let shape = shape(connection)?;
    let Some(first) = shape.first() else { return Ok(0) };
    let has_migrations = shape.iter().any(|part| part.owner == MIGRATIONS_NAME);
    if !has_migrations {
        return Err(foreign(&first.kind, &first.owner));
    }
    // Our migration table first: what it says counts only if it is ours.
    let newest = shape_of(newest_version())?;
    let of_migrations = |part: &&Part| part.owner == MIGRATIONS_NAME;
    if !shape.iter().filter(of_migrations).eq(newest.iter().filter(of_migrations)) {
        return Err(foreign("table", MIGRATIONS_NAME));
    }
    let version = applied(connection)?;
    match shape.symmetric_difference(&*shape_of(version)?).next() {
        None => Ok(version),
        Some(part) => Err(foreign(&part.kind, &part.owner)),
    }
}

/// The shape that we make, as a fresh store has it. The newest one is kept, because every
/// connection that is opened wants it.
fn shape_of(version: usize) -> Result<Cow<'static, BTreeSet<Part>>, Problem> {
    static NEWEST: OnceLock<BTreeSet<Part>> = OnceLock::new();
    if let Some(newest) = NEWEST.get().filter(|_| version == newest_version()) {
        return Ok(Cow::Borrowed(newest));
    }
    let fresh = Connection::open_in_memory()?;
    fresh.execute_batch(MIGRATIONS_TABLE)?;
    migrate_between(&fresh, 0, version)?;
    let made = shape(&fresh)?;
    if version == newest_version() {
        return Ok(Cow::Borrowed(NEWEST.get_or_init(|| made)));
    }
    Ok(Cow::Owned(made))
}

fn shape(connection: &Connection) -> Result<BTreeSet<Part>, Problem> {
    let part = |row: &SqlRow<'_>| {
        Ok(Part {
            owner: row.get(0)?,
            kind: row.get(1)?,
            position: row.get(2)?,
            name: row.get(3)?,
            detail: row.get(4)?,
        })
    };
    let parts = connection.prepare(SHAPE)?.query_map([], part)?.collect::<Result<_, _>>()?;
    Ok(parts)
}

/// How many schema files ran.
fn applied(connection: &Connection) -> Result<usize, Problem> {
    let ran: Vec<(i64, String)> = connection
        .prepare(APPLIED)?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    if ran.len() > MIGRATIONS.len() {
        return Err(Problem::known(
            StorageFault::TooNew,
            format!(
                "a newer headsup made it (schema {}, this one knows {}); nothing was changed. Use \
                 that version, or a newer one",
                ran.len(),
                MIGRATIONS.len()
            ),
        ));
    }
    let ours = ran
        .iter()
        .zip(MIGRATIONS)
        .zip(1..)
        .all(|(((version, name), ours), expected)| *version == expected && name == ours.name);
    if ours { Ok(ran.len()) } else { Err(foreign("table", MIGRATIONS_NAME)) }
}

fn foreign(kind: &str, name: &str) -> Problem {
    Problem::known(
        StorageFault::ForeignSchema,
        format!(
            "the {kind} `{name}` is not as headsup makes it, so somebody else made or changed it; \
             nothing was changed. Rename it, or give headsup a file of its own"
        ),
    )
}

/// Brings a file from a version to the newest. To be called inside a write transaction.
pub(super) fn migrate(connection: &Connection, from: usize) -> Result<(), Problem> {
    if from == 0 {
        connection.execute_batch(MIGRATIONS_TABLE)?;
    }
    migrate_between(connection, from, MIGRATIONS.len())
}

fn migrate_between(connection: &Connection, from: usize, to: usize) -> Result<(), Problem> {
    for (version, migration) in (1_i64..).zip(MIGRATIONS).take(to).skip(from) {
        connection.execute_batch(migration.sql)?;
        connection
            .execute(RECORD, named_params! { ":version": version, ":name": migration.name })?;
    }
    Ok(())
}
