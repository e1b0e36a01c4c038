//! The component's edge: the contract's imports as [`Ports`], its exports as calls of the logic,
//! and what a `no_std` guest must bring. Compiled for WASI only.
#![allow(unsafe_code)]

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::contract::headsup::awareness::{log, queue, settings, storage};
use crate::contract::wasi::clocks::wall_clock;
use crate::contract::{
    AppendOutcome, AppendRequest, Changes, CursorQuery, Head, Level, LogPage, OpenCount, Opening,
    Pair, PairState, PruneRequest, Pruned, Removed, Session, Setting, Watched,
};
use crate::ports::{Ports, Stored};

/// The imports of the contract.
struct Imports;

impl Ports for Imports {
    fn now(&mut self) -> u64 {
        let now = wall_clock::now();
        now.seconds * 1_000 + u64::from(now.nanoseconds / 1_000_000)
    }
    fn append(&mut self, request: &AppendRequest) -> Stored<AppendOutcome> {
        storage::append(request)
    }
    fn save(&mut self, changes: &Changes) -> Stored<()> {
        storage::save(changes)
    }
    fn cursors(
        &mut self,
        query: &CursorQuery,
        after: Option<&Pair>,
        limit: u32,
    ) -> Stored<Vec<Watched>> {
        storage::cursors(query, after, limit)
    }
    fn pairs(&mut self, pairs: &[Pair]) -> Stored<Vec<PairState>> {
        storage::pairs(pairs)
    }
    fn open_counts(&mut self) -> Stored<Vec<OpenCount>> {
        storage::open_counts()
    }
    fn heads(&mut self, sessions: &[Session]) -> Stored<Vec<Option<Head>>> {
        storage::heads(sessions)
    }
    fn history(&mut self, session: &Session, after: u64, limit: u32) -> Stored<LogPage> {
        storage::history(session, after, limit)
    }
    fn reset(&mut self, watcher: &str) -> Stored<u32> {
        storage::reset(watcher)
    }
    fn delete(&mut self, session: &Session, now: u64) -> Stored<Removed> {
        storage::delete(session, now)
    }
    fn prune(&mut self, request: &PruneRequest) -> Stored<Pruned> {
        storage::prune(*request)
    }
    fn restored(&mut self, by: u64) -> Stored<u64> {
        storage::restored(by)
    }
    fn settings(&mut self, names: &[&str]) -> Stored<Vec<Option<String>>> {
        settings::get(&names.iter().map(ToString::to_string).collect::<Vec<_>>())
    }
    fn set(&mut self, entries: &[Setting]) -> Stored<()> {
        settings::set(entries)
    }
    fn enqueue(&mut self, openings: &[Opening]) {
        queue::enqueue(openings);
    }
    fn log(&mut self, level: Level, message: &str) {
        log::write(level, message);
    }
}
