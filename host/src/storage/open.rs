//! Opening: to write, as a reader beside a writer, to inspect without changing anything, and in
//! memory. A file that is not ours to use is refused before anything is written to it.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::Store;
use super::companions::Companions;
use super::doubt::{Doubt, checkpoint_after_commits};
use super::failure::{Problem, code_of, read_only};
use super::options::{Durability, StoreOptions};
use super::patience::wait_for_locks;
use super::place::{
    Beside, has_wal, immutable, make_folder, refuse_missing, refuse_what_is_no_database,
    refuse_what_is_no_path, remove_empty,
};
use super::schema;
use super::transaction::{Role, Transaction};
use crate::contract::{StorageFailure, StorageFault};

/// SQLite 3.51.3: older ones can corrupt a file in WAL mode.
const OLDEST_SQLITE: i32 = 3_051_003;

/// More than there are statements, so that each is prepared once for each connection.
pub(super) const CACHED_STATEMENTS: usize = 96;

/// How long to wait before trying again to switch a new file to WAL.
const WAL_RETRY: Duration = Duration::from_millis(10);

impl Store {
    /// Opens a store to write, and makes it if it is not there: missing folders, the file, our
    /// tables beside whatever else the file holds. An older schema is brought up to date.
    ///
    /// # Errors
    /// `read-only`, `corrupt`, `too-new` and `foreign-schema` leave the file as it was.
    pub fn open(options: &StoreOptions) -> Result<Self, StorageFailure> {
        let place = options.place();
        let doubt = Doubt::default();
        let opened =
            if options.is_in_memory() { memory() } else { made_or_opened(options, &doubt) };
        match opened {
            Ok(connection) => Ok(Self::over(connection, options, Role::Writes, doubt)),
            Err(problem) => Err(problem.worded(&place)),
        }
    }

    /// An empty store that lives as long as this value.
    pub fn in_memory() -> Result<Self, StorageFailure> {
        Self::open(&StoreOptions::new(":memory:"))
    }

    /// Opens another connection to a store that a writer has opened before: it only reads, and
    /// neither waits for the writer nor holds it up.
    ///
    /// # Errors
    /// `failed` if there is no store at the path, and for `:memory:`, which has one connection.
    pub fn open_reader(options: &StoreOptions) -> Result<Self, StorageFailure> {
        let place = options.place();
        reader(options)
            .map(|connection| Self::over(connection, options, Role::Reads, Doubt::default()))
            .map_err(|problem| problem.worded(&place))
    }

    /// Opens a store to look into it, changing nothing: it need not be writable, and neither need
    /// its folder.
    ///
    /// # Errors
    /// `failed` if there is no store at the path, or an older headsup made it.
    pub fn inspect(options: &StoreOptions) -> Result<Self, StorageFailure> {
        let place = options.place();
        inspected(options)
            .map(|connection| Self::over(connection, options, Role::Looks, Doubt::default()))
            .map_err(|problem| problem.worded(&place))
    }

    fn over(connection: Connection, options: &StoreOptions, role: Role, doubt: Doubt) -> Self {
        let companions = Companions::of(&connection);
        Self {
            connection,
            place: options.place(),
            role,
            patience: options.busy_timeout,
            transaction: Transaction::None,
            doubt,
            companions,
        }
    }
}

fn memory() -> Result<Connection, Problem> {
    refuse_old_sqlite()?;
    let mut connection = Connection::open_in_memory()?;
    configure(&mut connection, Duration::ZERO)?;
    bring_up_to_date(&mut connection, 0)?;
    Ok(connection)
}

/// A full disk leaves no empty file where there was none.
fn made_or_opened(options: &StoreOptions, doubt: &Doubt) -> Result<Connection, Problem> {
    let is_new = matches!(options.path.try_exists(), Ok(false));
    writer(options, doubt).inspect_err(|problem| {
        if is_new && problem.fault() == StorageFault::Full {
            remove_empty(&options.path);
        }
    })
}

fn writer(options: &StoreOptions, doubt: &Doubt) -> Result<Connection, Problem> {
    refuse_old_sqlite()?;
    refuse_what_is_no_path(&options.path)?;
    make_folder(&options.path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut connection = connect(&options.path, flags, options.busy_timeout)
        .map_err(|problem| unless_folder_refuses(problem, &options.path))?;
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Err(Problem::known(StorageFault::ReadOnly, read_only()));
    }
    // Looks before it touches: the journal mode is a property of the file.
    refuse_other_encodings(&connection)?;
    let version = found_version(&connection)?;
    use_wal(&connection, options.busy_timeout)?;
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    checkpoint_after_commits(&mut connection, options.checkpoint_pages, doubt, &options.place())?;
    bring_up_to_date(&mut connection, version)?;
    Ok(connection)
}

fn reader(options: &StoreOptions) -> Result<Connection, Problem> {
    refuse_nothing_there(options)?;
    // Writable as a file, so that it can help to keep the WAL in order; not so as a connection.
    let connection =
        connect(&options.path, OpenFlags::SQLITE_OPEN_READ_WRITE, options.busy_timeout)?;
    connection.pragma_update(None, "query_only", true)?;
    refuse_other_versions(&connection)?;
    Ok(connection)
}

fn inspected(options: &StoreOptions) -> Result<Connection, Problem> {
    refuse_nothing_there(options)?;
    // Writable as a file if it can be: SQLite checks no constraints on one that is not.
    let connection =
        connect(&options.path, OpenFlags::SQLITE_OPEN_READ_WRITE, options.busy_timeout)?;
    // The first read would put files beside it that the owner of the store could not write.
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return match Beside::of(&options.path) {
            Beside::Nothing => unchanging(options),
            Beside::Shared => looked_into(connection, options),
            Beside::CommitsAlone => Err(commits_out_of_reach()),
        };
    }
    match looked_into(connection, options) {
        Err(Problem::Sqlite(error)) if cannot_share(&error) => match Beside::of(&options.path) {
            Beside::CommitsAlone => Err(commits_out_of_reach()),
            _ if has_wal(&options.path) => Err(error.into()),
            _ => unchanging(options),
        },
        other => other,
    }
}

/// A connection that only reads, and that leaves commits beside the file where they are.
fn looked_into(connection: Connection, options: &StoreOptions) -> Result<Connection, Problem> {
    // Without any there is nothing to move, and closing tidies away what opening put beside it.
    let commits_beside = has_wal(&options.path);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, commits_beside)?;
    connection.pragma_update(None, "query_only", true)?;
    refuse_other_versions(&connection)?;
    Ok(connection)
}

/// A connection to a file that nobody has open, which puts nothing beside it.
fn unchanging(options: &StoreOptions) -> Result<Connection, Problem> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    let connection = connect(&immutable(&options.path), flags, options.busy_timeout)?;
    refuse_other_versions(&connection)?;
    Ok(connection)
}

fn commits_out_of_reach() -> Problem {
    let message = "commits lie beside the file, and reading them needs the file and its folder to \
                   be writable; look as a user who may write both, or copy the file together with \
                   its -wal to such a folder";
    Problem::known(StorageFault::ReadOnly, message)
}

fn connect(path: &Path, flags: OpenFlags, busy_timeout: Duration) -> Result<Connection, Problem> {
    refuse_what_is_no_database(path)?;
    Companions::refuse_opening(path)?;
    // One connection is used by one thread at a time, so SQLite's own mutexes are not needed.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    configure(&mut connection, busy_timeout)?;
    Ok(connection)
}

/// What every connection needs and what changes nothing in the file.
fn configure(connection: &mut Connection, busy_timeout: Duration) -> Result<(), Problem> {
    wait_for_locks(connection, busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Without it, statistics in the file would have statements prepared again at each use.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // The schema of a shared file is not ours to trust.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // Sorting while pruning must not need a place to write beside the store.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(())
}

fn refuse_old_sqlite() -> Result<(), Problem> {
    if rusqlite::version_number() >= OLDEST_SQLITE {
        return Ok(());
    }
    Err(Problem::known(
        StorageFault::Failed,
        format!(
            "SQLite {} can damage a file in WAL mode; 3.51.3 or newer is needed",
            rusqlite::version()
        ),
    ))
}

/// A file that is not there and cannot be made means that its folder may not be written.
fn unless_folder_refuses(problem: Problem, path: &Path) -> Problem {
    match problem {
        Problem::Sqlite(error)
            if code_of(&error) == Some(ErrorCode::CannotOpen) && !path.exists() =>
        {
            Problem::known(StorageFault::ReadOnly, read_only())
        }
        other => other,
    }
}

fn refuse_nothing_there(options: &StoreOptions) -> Result<(), Problem> {
    refuse_old_sqlite()?;
    if options.is_in_memory() {
        let message = "there is no store here: one in memory has no second connection";
        return Err(Problem::known(StorageFault::Failed, message));
    }
    refuse_missing(&options.path)
}

/// Keys compare byte by byte only where text is UTF-8.
fn refuse_other_encodings(connection: &Connection) -> Result<(), Problem> {
    let encoding: String = connection.pragma_query_value(None, "encoding", |row| row.get(0))?;
    if encoding == "UTF-8" {
        return Ok(());
    }
    Err(Problem::known(
        StorageFault::ForeignSchema,
        "the file keeps its text as UTF-16; give headsup a file of its own",
    ))
}

fn refuse_other_versions(connection: &Connection) -> Result<(), Problem> {
    refuse_other_encodings(connection)?;
    let found = found_version(connection)?;
    if found == schema::newest_version() {
        return Ok(());
    }
    let message = if found == 0 {
        "the file holds nothing of headsup's; check the path"
    } else {
        "an older headsup made it; open it once with a command that writes, such as `headsup serve`"
    };
    Err(Problem::known(StorageFault::Failed, message))
}

/// The schema version, looked up in one snapshot: another process may be migrating.
fn found_version(connection: &Connection) -> Result<usize, Problem> {
    let snapshot = connection.unchecked_transaction()?;
    let version = schema::version(&snapshot)?;
    snapshot.rollback()?;
    Ok(version)
}

/// Switches the file to WAL, which lets readers and the writer run beside each other. The switch
/// needs the file for itself for a moment and does not wait for that by itself.
fn use_wal(connection: &Connection, patience: Duration) -> Result<(), Problem> {
    let started = Instant::now();
    loop {
        let switched: Result<String, _> =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match switched {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(_) => {
                let message = "its file system does not support WAL; put it on a local disk";
                return Err(Problem::known(StorageFault::Failed, message));
            }
            Err(error) if is_busy(&error) && started.elapsed() < patience => {
                std::thread::sleep(WAL_RETRY);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    code_of(error) == Some(ErrorCode::DatabaseBusy)
}

fn bring_up_to_date(connection: &mut Connection, found: usize) -> Result<(), Problem> {
    if found < schema::newest_version() {
        // Looks again under the lock: another process may have been faster.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let from = schema::version(&transaction)?;
        schema::migrate(&transaction, from)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Whether a file could not be read because its folder may not be written: WAL wants to share
/// memory beside the file.
fn cannot_share(error: &rusqlite::Error) -> bool {
    matches!(
        code_of(error),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure)
    )
}
