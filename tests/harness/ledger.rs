//! What gateways asked and were told, and what a store must hold therefore, whatever happened to
//! the processes and the disk in between.
//!
//! Each recording has a run id of its own that is its dedupe key, too: so every event in the store
//! is known for the recording it came from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use headsup::contract::StorageFailure;
use headsup::storage::{Store, StoreOptions};
use headsup::{Awareness, Event, Kind};

/// What may be gone of what was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing.
    None,
    /// The last commits, as a power loss may take them where durability is `normal`.
    LastCommits,
}

/// A recording that was asked for.
#[derive(Clone, Debug)]
struct Asked {
    session: String,
    /// Absent while no answer has arrived.
    version: Option<u64>,
}

/// A cursor that somebody has for certain.
#[derive(Clone, Debug, Default)]
struct Position {
    /// Where it stood when it was last looked at, or what was acknowledged since.
    at_least: u64,
    /// Up to where acknowledgements were asked for since.
    asked: BTreeSet<u64>,
    /// Whether it was asked to be drained since: then it may be anywhere.
    drained: bool,
}

/// The memory of all gateways of a store.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    asked: BTreeMap<String, Asked>,
    cursors: BTreeMap<(String, String), Position>,
    /// The highest version that anybody was told of a session.
    told: BTreeMap<String, u64>,
    /// Versions that were given for good, and to whom.
    given: BTreeMap<u64, String>,
    /// What deltas held: of which session, after which version, which numbers.
    deltas: Vec<(String, u64, Vec<u64>)>,
}

impl Ledger {
    /// A recording with this run id is about to be asked for.
    pub fn asks(&mut self, run: &str, session: &str) {
        let asked = Asked { session: session.to_owned(), version: None };
        self.asked.entry(run.to_owned()).or_insert(asked);
    }

    /// It was answered with this version, as new or as a duplicate.
    ///
    /// # Panics
    /// If the version was given to another recording.
    pub fn recorded(&mut self, run: &str, version: u64) {
        let owner = self.given.entry(version).or_insert_with(|| run.to_owned());
        assert_eq!(owner, run, "version {version} was given twice");
        let asked = self.asked.get_mut(run).expect("it was asked for");
        assert!(asked.version.is_none_or(|before| before == version), "{run} has two versions");
        asked.version = Some(version);
        let session = asked.session.clone();
        self.tells(&session, version);
    }

    /// The recordings that were never answered, with their sessions.
    #[must_use]
    pub fn unanswered(&self) -> Vec<(String, String)> {
        let open = self.asked.iter().filter(|(_, asked)| asked.version.is_none());
        open.map(|(run, asked)| (run.clone(), asked.session.clone())).collect()
    }

    /// How many recordings were answered.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.asked.values().filter(|asked| asked.version.is_some()).count()
    }

    /// Somebody was told this state version of a session.
    pub fn tells(&mut self, session: &str, version: u64) {
        let told = self.told.entry(session.to_owned()).or_default();
        *told = version.max(*told);
    }

    /// The highest version of a session that anybody was told.
    #[must_use]
    pub fn version(&self, session: &str) -> u64 {
        self.told.get(session).copied().unwrap_or(0)
    }

    /// A reader got these numbers of a session after a version, without a gap.
    pub fn read(&mut self, session: &str, after: u64, numbers: Vec<u64>) {
        self.deltas.push((session.to_owned(), after, numbers));
    }

    /// Up to where a watcher has certainly seen a target.
    #[must_use]
    pub fn seen(&self, watcher: &str, target: &str) -> u64 {
        let key = (watcher.to_owned(), target.to_owned());
        self.cursors.get(&key).map_or(0, |position| position.at_least)
    }

    /// A watch was confirmed.
    pub fn watched(&mut self, watcher: &str, target: &str) {
        self.cursors.entry((watcher.to_owned(), target.to_owned())).or_default();
    }

    /// An acknowledgement up to this version is about to be asked for.
    pub fn acknowledges(&mut self, watcher: &str, target: &str, up_to: u64) {
        if let Some(position) = self.position(watcher, target) {
            position.asked.insert(up_to);
        }
    }

    /// A watcher is about to ask for all its notices, acknowledged.
    pub fn drains(&mut self, watcher: &str) {
        let own = self.cursors.iter_mut().filter(|((it, _), _)| it == watcher);
        own.for_each(|(_, position)| position.drained = true);
    }

    /// It was answered, whoever's it was that moved the cursor.
    pub fn acknowledged(&mut self, watcher: &str, target: &str, up_to: u64) {
        if let Some(position) = self.position(watcher, target) {
            position.asked.insert(up_to);
            position.at_least = up_to.max(position.at_least);
        }
    }

    /// A watch that was never confirmed may be there or not.
    fn position(&mut self, watcher: &str, target: &str) -> Option<&mut Position> {
        self.cursors.get_mut(&(watcher.to_owned(), target.to_owned()))
    }

    /// Holds a store that was opened again against what was told: every promise. What was found
    /// is what later checks start from.
    ///
    /// # Panics
    /// If a promise is broken; which, and on what.
    pub fn check(&mut self, awareness: &Awareness, path: &Path, allowed: Loss) {
        assert_eq!(doctor(path).expect("a store that can be read"), Vec::<String>::new());
        let sessions: BTreeSet<String> = self.asked.values().map(|it| it.session.clone()).collect();
        let logs: BTreeMap<String, Vec<Event>> =
            sessions.iter().map(|session| (session.clone(), log_of(awareness, session))).collect();
        self.nothing_acknowledged_is_lost(&logs, allowed);
        self.nothing_is_doubled(&logs);
        for (session, log) in &logs {
            let last = log.last().map(|event| event.sequence);
            let version = awareness.versions([session.as_str()]).expect("versions")[0];
            assert_eq!(version, last, "the head of {session} is its last event");
            if allowed == Loss::None {
                let told = self.told.get(session).copied();
                assert!(version >= told, "{session} was at {told:?} and is at {version:?}");
            }
        }
        self.every_notice_is_there(awareness, &logs, allowed);
        self.no_reader_missed_any(&logs, allowed);
        self.settle(&logs, allowed);
    }

    /// Every recording that was answered is there, at the version that was told.
    fn nothing_acknowledged_is_lost(&self, logs: &BTreeMap<String, Vec<Event>>, allowed: Loss) {
        let all = || logs.values().flatten();
        let newest = all().map(|event| event.sequence).max().unwrap_or(0);
        let there: BTreeMap<u64, &str> =
            all().map(|event| (event.sequence, run_of(event))).collect();
        for (run, asked) in &self.asked {
            let Some(version) = asked.version else { continue };
            if allowed == Loss::LastCommits && version > newest {
                continue;
            }
            let found = there.get(&version).copied();
            assert_eq!(found, Some(run.as_str()), "version {version} was acknowledged");
        }
    }

    /// Every event was asked for, once, on its session; and the log ascends.
    fn nothing_is_doubled(&self, logs: &BTreeMap<String, Vec<Event>>) {
        let mut seen = BTreeSet::new();
        for (session, log) in logs {
            for event in log {
                let run = run_of(event);
                let asked = self.asked.get(run);
                assert_eq!(asked.map(|it| &it.session), Some(session), "nobody asked for {run}");
                assert!(seen.insert(run), "{run} was recorded twice");
            }
            let ascends = log.windows(2).all(|pair| pair[0].sequence < pair[1].sequence);
            assert!(ascends, "the log of {session} ascends");
        }
    }

    /// For every watcher and target exactly one notice is pending, precisely when something that
    /// another did lies beyond what was acknowledged.
    fn every_notice_is_there(
        &self,
        awareness: &Awareness,
        logs: &BTreeMap<String, Vec<Event>>,
        allowed: Loss,
    ) {
        let empty = Vec::new();
        for ((watcher, target), position) in &self.cursors {
            let what = format!("{watcher} on {target}");
            let watches = awareness.watches_of(watcher).expect("a list");
            let entry = watches.iter().find(|entry| entry.target.key == *target);
            let entry = match (entry, allowed) {
                (Some(entry), _) => entry,
                (None, Loss::LastCommits) => continue,
                (None, Loss::None) => panic!("{what}: the watch is gone"),
            };
            let seen = entry.last_seen;
            if allowed == Loss::None {
                let least = position.at_least;
                assert!(seen >= least, "{what}: {least} was acknowledged, and it is at {seen}");
                let known = position.drained || seen == least || position.asked.contains(&seen);
                assert!(known, "{what}: nobody acknowledged {seen}");
            }
            let log = logs.get(target).unwrap_or(&empty);
            let others = log
                .iter()
                .filter(|event| notifies(event.kind) && event.actor.id.as_deref() != Some(watcher));
            let material = others.map(|event| event.sequence).max().unwrap_or(0).max(seen);
            assert_eq!(entry.material, material, "{what}: the newest event by another");
            let taken = awareness.take(watcher).expect("notices");
            let notices: Vec<_> = taken.iter().filter(|it| it.target.key == *target).collect();
            assert_eq!(notices.len(), usize::from(material > seen), "{what}: {notices:?}");
            for notice in notices {
                assert_eq!(notice.since, seen, "{what}");
                assert!(notice.up_to > seen && notice.up_to <= material, "{what}: {notice:?}");
            }
        }
    }

    /// Between the version that a reader began at and the last that it got there is nothing else.
    fn no_reader_missed_any(&mut self, logs: &BTreeMap<String, Vec<Event>>, allowed: Loss) {
        for (session, after, numbers) in std::mem::take(&mut self.deltas) {
            let Some(last) = numbers.last() else { continue };
            let log = logs.get(&session).map_or(&[][..], Vec::as_slice);
            let between = log.iter().map(|event| event.sequence);
            let between: Vec<u64> = between.filter(|it| (after + 1..=*last).contains(it)).collect();
            if allowed == Loss::None {
                assert_eq!(numbers, between, "what a reader got of {session} after {after}");
            }
        }
    }

    /// What was found is what the next check goes by: an unanswered recording that is there has
    /// been recorded, and one that is lost was never answered.
    fn settle(&mut self, logs: &BTreeMap<String, Vec<Event>>, allowed: Loss) {
        let found: BTreeMap<&str, u64> =
            logs.values().flatten().map(|event| (run_of(event), event.sequence)).collect();
        if allowed == Loss::LastCommits {
            self.told.clear();
            self.given.clear();
        }
        for (run, asked) in &mut self.asked {
            asked.version = found.get(run.as_str()).copied();
        }
        for (run, version) in found {
            self.given.insert(version, run.to_owned());
        }
    }

    /// Takes over where the cursors stand now, once nobody is at work on the store.
    pub fn look(&mut self, awareness: &Awareness) {
        self.cursors.retain(|(watcher, target), position| {
            let watches = awareness.watches_of(watcher).expect("a list");
            let entry = watches.iter().find(|entry| entry.target.key == *target);
            if let Some(entry) = entry {
                *position = Position { at_least: entry.last_seen, ..Position::default() };
            }
            entry.is_some()
        });
    }
}

/// What is wrong with the store in this file, as `headsup doctor` says it.
///
/// # Errors
/// If it cannot be read at all.
pub fn doctor(path: &Path) -> Result<Vec<String>, StorageFailure> {
    let mut store = Store::inspect(&StoreOptions::new(path))?;
    store.begin_read()?;
    let found = store.doctor()?;
    Ok(found.iter().map(ToString::to_string).collect())
}

/// All events of a session.
fn log_of(awareness: &Awareness, session: &str) -> Vec<Event> {
    let mut log: Vec<Event> = Vec::new();
    loop {
        let after = log.last().map_or(0, |event| event.sequence);
        let delta = awareness.changes_since(session, after, None).expect("a delta");
        assert!(!delta.history_gap, "nothing of {session} was pruned");
        log.extend(delta.events);
        if !delta.truncated {
            return log;
        }
    }
}

fn run_of(event: &Event) -> &str {
    event.run_id.as_deref().expect("each recording has a run id")
}

fn notifies(kind: Kind) -> bool {
    matches!(kind, Kind::HumanDirectMessage | Kind::GoalChanged | Kind::UpstreamMissing)
}
