//! The statements alone: what SQLite costs without any logic. The files that the store embeds, on
//! a connection that is set up as the store's.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, Row, named_params};

use crate::stores::TARGET;

const APPEND_TARGET: &str = include_str!("../../../host/sql/append/target.sql");
const INSERT: &str = include_str!("../../../host/sql/append/insert.sql");
const HEAD: &str = include_str!("../../../host/sql/heads.sql");
const SETTLED: &str = include_str!("../../../host/sql/append/settled.sql");
const SAVE_HEAD: &str = include_str!("../../../host/sql/save/head.sql");
const MOVE_CURSOR: &str = include_str!("../../../host/sql/save/move_cursor.sql");
const OPEN_OF: &str = include_str!("../../../host/sql/cursors/open_of.sql");
const PAIR: &str = include_str!("../../../host/sql/pairs.sql");
const SETTING: &str = include_str!("../../../host/sql/settings/get.sql");
const ROWS: &str = include_str!("../../../host/sql/history/rows.sql");
const RESTORED_AT: &str = include_str!("../../../host/sql/history/restored_at.sql");

/// Who the target belongs to.
const AGENT: &str = "main";

/// When everything happens, in ms since the epoch.
const NOW: i64 = 1_790_000_000_000;

/// A connection with the statements of single calls.
pub struct Bare(Connection);

/// A pending notice: its target and positions.
pub struct Pending {
    target: (String, String),
    last_seen: i64,
    notified: i64,
}

impl Bare {
    pub fn open(path: &Path) -> Self {
        let connection = Connection::open(path).unwrap();
        connection.set_prepared_statement_cache_capacity(96);
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).unwrap();
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false).unwrap();
        connection.pragma_update(None, "synchronous", "NORMAL").unwrap();
        connection.pragma_update(None, "wal_autocheckpoint", 4_000).unwrap();
        connection.pragma_update(None, "cell_size_check", true).unwrap();
        connection.pragma_update(None, "temp_store", "MEMORY").unwrap();
        Self(connection)
    }

    fn run(&self, sql: &str) {
        self.0.prepare_cached(sql).unwrap().execute([]).unwrap();
    }

    /// A record on the target.
    pub fn record(&self) {
        self.run("BEGIN IMMEDIATE");
        let (watched, any_settled, before): (bool, bool, i64) = self
            .0
            .prepare_cached(APPEND_TARGET)
            .unwrap()
            .query_row((true, TARGET, AGENT, true), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        let sequence = self.insert();
        assert!(watched && before < sequence);
        let settled = if any_settled { self.settled() } else { Vec::new() };
        self.save_head(sequence);
        for (watcher, last_seen) in settled {
            self.move_cursor(&watcher, (TARGET, AGENT), last_seen, sequence);
        }
        self.run("COMMIT");
    }

    fn insert(&self) -> i64 {
        let none = None::<&str>;
        let (kind, summary) = ("human_direct_message", "human message via telegram");
        let payload = r#"{"channel":"telegram"}"#;
        self.0
            .prepare_cached(INSERT)
            .unwrap()
            .execute((none, TARGET, AGENT, none, kind, "human", none, none, NOW, summary, payload))
            .unwrap();
        self.0.last_insert_rowid()
    }

    fn settled(&self) -> Vec<(String, i64)> {
        let mut statement = self.0.prepare_cached(SETTLED).unwrap();
        let rows = statement.query_map((TARGET, AGENT), |row| Ok((row.get(0)?, row.get(5)?)));
        rows.unwrap().map(Result::unwrap).collect()
    }

    fn head(&self, key: &str, agent: &str) -> Option<i64> {
        let mut statement = self.0.prepare_cached(HEAD).unwrap();
        let session = named_params! {":session_key": key, ":agent_id": agent};
        statement.query_row(session, |row| row.get(0)).optional().unwrap()
    }

    fn save_head(&self, sequence: i64) {
        let mut statement = self.0.prepare_cached(SAVE_HEAD).unwrap();
        let head = (sequence, 0, sequence, None::<&str>, 0, NOW, TARGET, AGENT);
        assert_eq!(statement.execute(head).unwrap(), 1);
    }

    fn move_cursor(&self, watcher: &str, target: (&str, &str), last_seen: i64, notified: i64) {
        let mut statement = self.0.prepare_cached(MOVE_CURSOR).unwrap();
        let moved = statement
            .execute(named_params! {
                ":watcher_key": watcher,
                ":target_key": target.0,
                ":target_agent_id": target.1,
                ":provenance": "spawn",
                ":last_seen": last_seen,
                ":notified": notified,
                ":moved_at": NOW,
            })
            .unwrap();
        assert_eq!(moved, 1);
    }

    /// The pending notices of a watcher, on a snapshot.
    pub fn take(&self, watcher: &str) -> Vec<Pending> {
        self.run("BEGIN DEFERRED");
        let setting = named_params! {":name": "notice.template"};
        self.0.prepare_cached(SETTING).unwrap().exists(setting).unwrap();
        let mut statement = self.0.prepare_cached(OPEN_OF).unwrap();
        let from_the_start = named_params! {
            ":watcher_key": watcher,
            ":after_target_key": "",
            ":after_target_agent_id": "",
            ":limit": 1_000,
        };
        let pending = |row: &Row| {
            Ok(Pending {
                target: (row.get(1)?, row.get(2)?),
                last_seen: row.get(5)?,
                notified: row.get(6)?,
            })
        };
        let found = statement.query_map(from_the_start, pending).unwrap();
        let found = found.map(Result::unwrap).collect();
        self.run("ROLLBACK");
        found
    }

    /// Acknowledges them.
    pub fn acknowledge(&self, watcher: &str, pending: &[Pending]) {
        self.run("BEGIN IMMEDIATE");
        for notice in pending {
            let (key, agent) = (notice.target.0.as_str(), notice.target.1.as_str());
            let pair = named_params! {
                ":watcher_key": watcher,
                ":target_key": key,
                ":target_agent_id": agent,
            };
            let last_seen: i64 =
                self.0.prepare_cached(PAIR).unwrap().query_row(pair, |row| row.get(5)).unwrap();
            assert_eq!(last_seen, notice.last_seen);
            self.move_cursor(watcher, (key, agent), notice.notified, notice.notified);
        }
        self.run("COMMIT");
    }

    /// Lets every watcher of the target have seen everything.
    pub fn settle(&self) {
        let sql = "UPDATE session_watch_cursors SET last_seen = notified WHERE target_key = ?";
        self.0.prepare_cached(sql).unwrap().execute([TARGET]).unwrap();
    }

    /// The rows of the target after a version, every column of them, on a snapshot.
    pub fn changes_since(&self, version: u64) -> usize {
        self.run("BEGIN DEFERRED");
        assert!(self.head(TARGET, AGENT).is_some());
        assert!(!self.0.prepare_cached(RESTORED_AT).unwrap().exists([]).unwrap());
        let mut statement = self.0.prepare_cached(ROWS).unwrap();
        let page = named_params! {
            ":session_key": TARGET,
            ":agent_id": AGENT,
            ":after": i64::try_from(version).unwrap(),
            ":limit": 200,
        };
        let mut rows = statement.query(page).unwrap();
        let mut found = 0;
        while let Some(row) = rows.next().unwrap() {
            let _: (i64, String, String, String) = (
                row.get(0).unwrap(),
                row.get(1).unwrap(),
                row.get(2).unwrap(),
                row.get(3).unwrap(),
            );
            let _: (String, Option<String>, i64, String) = (
                row.get(4).unwrap(),
                row.get(5).unwrap(),
                row.get(6).unwrap(),
                row.get(7).unwrap(),
            );
            let _: [Option<String>; 4] = [8, 9, 10, 11].map(|column| row.get(column).unwrap());
            found += 1;
        }
        drop(rows);
        self.run("ROLLBACK");
        found
    }
}
