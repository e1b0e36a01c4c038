//! What can be wrong with the store while one thing is asked, brought about from outside.

use rusqlite::Connection;

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Another process holds the write lock for longer than anybody waits.
    Locked,
    /// The process has opened the store to look at it only.
    LookingOnly,
    /// SQLite has no room for another number, which it reports as a full disk.
    Full,
    /// The head is refused, after the event was written.
    HeadRefused,
    /// A cursor is refused, after the event was written.
    CursorRefused,
    /// SQLite undoes the whole transaction by itself, as it does when a disk fails.
    RolledBack,
}

/// All of them.
pub const FAULTS: [Fault; 6] = [
    Fault::Locked,
    Fault::LookingOnly,
    Fault::Full,
    Fault::HeadRefused,
    Fault::CursorRefused,
    Fault::RolledBack,
];

impl Fault {
    /// What a history that it struck counts it as.
    pub fn name(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::LookingOnly => "looking only",
            Self::Full => "full",
            Self::HeadRefused => "head refused",
            Self::CursorRefused => "cursor refused",
            Self::RolledBack => "rolled back",
        }
    }

    /// The words for failures that it may cause.
    pub fn reasons(self) -> &'static [&'static str] {
        match self {
            Self::Locked => &["store-busy"],
            Self::LookingOnly => &["store-read-only"],
            Self::Full | Self::HeadRefused | Self::CursorRefused | Self::RolledBack => {
                &["store-failed"]
            }
        }
    }

    /// Brings it about.
    pub fn begin(self, store: &Connection) {
        match self {
            Self::Locked => store.execute_batch("BEGIN IMMEDIATE").unwrap(),
            Self::LookingOnly => {}
            Self::Full => store.execute_batch(FILL).unwrap(),
            Self::HeadRefused => refuse(store, "session_state_heads", "ABORT"),
            Self::CursorRefused => refuse(store, "session_watch_cursors", "ABORT"),
            Self::RolledBack => refuse(store, "session_state_heads", "ROLLBACK"),
        }
    }

    /// Ends it.
    pub fn end(self, store: &Connection) {
        match self {
            Self::Locked => store.execute_batch("ROLLBACK").unwrap(),
            Self::LookingOnly => {}
            Self::Full => store.execute_batch(EMPTY).unwrap(),
            Self::HeadRefused | Self::CursorRefused | Self::RolledBack => {
                store.execute_batch(ALLOW).unwrap();
            }
        }
    }
}

/// The series of sequences at its end; where it stood is kept aside.
const FILL: &str = "
    BEGIN IMMEDIATE;
    CREATE TABLE planted_series AS
      SELECT seq FROM sqlite_sequence WHERE name = 'session_state_events';
    UPDATE sqlite_sequence SET seq = 9223372036854775807 WHERE name = 'session_state_events';
    INSERT INTO sqlite_sequence (name, seq)
      SELECT 'session_state_events', 9223372036854775807
      WHERE NOT EXISTS (SELECT 1 FROM planted_series);
    COMMIT;";
const EMPTY: &str = "
    BEGIN IMMEDIATE;
    DELETE FROM sqlite_sequence WHERE name = 'session_state_events';
    INSERT INTO sqlite_sequence (name, seq) SELECT 'session_state_events', seq FROM planted_series;
    DROP TABLE planted_series;
    COMMIT;";
const ALLOW: &str = "DROP TRIGGER planted_insert; DROP TRIGGER planted_update;";

fn refuse(store: &Connection, table: &str, how: &str) {
    for event in ["insert", "update"] {
        let trigger = format!(
            "CREATE TRIGGER planted_{event} BEFORE {event} ON {table}
             BEGIN SELECT RAISE({how}, 'planted'); END"
        );
        store.execute_batch(&trigger).unwrap();
    }
}
