//! The protocol as plainly as it can be said: lists that are searched from end to end, written
//! from its sections 2 to 8 and from nothing else. Keys are canonical here.

use harness::{DAY, News};
use headsup::{Delta, Event, Kind, Policy, Provenance, Recording, Session, Signal, WatchEntry};

mod notices;
mod retention;
mod wakes;
mod words;

pub use wakes::Woken;
use words::{session_of, worded};

/// A store, the world around it, and one process that has it open.
#[derive(Clone, Debug)]
pub struct Model {
    pub now: u64,
    /// The newest sequence ever given.
    sequence: u64,
    restored_at: u64,
    /// The log that is kept, oldest first, with dedupe keys.
    events: Vec<(Event, Option<String>)>,
    /// What was pruned or deleted, as far as it is remembered.
    removed: Vec<(Session, u64)>,
    /// Every notifying event of the sessions that were not deleted since, pruned ones included.
    notifying: Vec<(Session, u64, Option<String>)>,
    heads: Vec<Head>,
    cursors: Vec<Cursor>,
    history_days: u64,
    history_rows: usize,
    cursor_days: u64,
    pruned_at: Option<u64>,
    /// When the clock was last seen to have moved by more than a day, while that still matters.
    jumped_at: Option<u64>,
    /// Whom this process has woken.
    pub wakes: Vec<Woken>,
    /// What came out in the current step.
    pub news: Vec<News>,
}

#[derive(Clone, Debug)]
struct Head {
    session: Session,
    /// 0 once it was deleted.
    version: u64,
    moved: u64,
}

#[derive(Clone, Debug)]
struct Cursor {
    watcher: String,
    target: Session,
    /// Absent: the mark of an unwatch.
    live: Option<Live>,
    moved: u64,
}

impl Cursor {
    /// By watcher, then target key, then target agent.
    fn pair(&self) -> [&str; 3] {
        [&self.watcher, &self.target.key, &self.target.agent]
    }
}

#[derive(Clone, Copy, Debug)]
struct Live {
    last_seen: u64,
    notified: u64,
    provenance: Provenance,
}

/// Whether a key names a session that can watch.
pub fn is_qualified(key: &str) -> bool {
    key.starts_with("agent:")
}

fn notifies(kind: Kind) -> bool {
    matches!(kind, Kind::HumanDirectMessage | Kind::UpstreamMissing | Kind::GoalChanged)
}

impl Model {
    /// An empty store.
    pub fn new(now: u64, policy: &Policy) -> Self {
        Self {
            now,
            sequence: 0,
            restored_at: 0,
            events: Vec::new(),
            removed: Vec::new(),
            notifying: Vec::new(),
            heads: Vec::new(),
            cursors: Vec::new(),
            history_days: policy.history_days.into(),
            history_rows: policy.history_rows as usize,
            cursor_days: policy.cursor_days.into(),
            pruned_at: None,
            jumped_at: None,
            wakes: Vec::new(),
            news: Vec::new(),
        }
    }

    // Recording (sections 3 to 6).

    pub fn record(&mut self, signal: &Signal) -> Recording {
        let session = session_of(signal);
        let (kind, summary, payload, default_key) = worded(signal);
        let dedupe = signal.dedupe_key.clone().or(default_key);
        let first = self
            .events
            .iter()
            .find(|(event, key)| event.session == session && key.is_some() && *key == dedupe);
        if let Some((first, _)) = first {
            return Recording::Duplicate(first.sequence);
        }
        let watched = self.cursors.iter().any(|it| it.target == session && it.live.is_some());
        if kind == Kind::HumanDirectMessage && !watched && signal.watchers.is_empty() {
            return Recording::Unwatched;
        }
        self.sequence += 1;
        let occurred_at = signal.occurred_at.map_or(self.now, |at| {
            u64::try_from(at).unwrap_or(0).max(self.now.saturating_sub(DAY)).min(self.now)
        });
        let event = Event {
            sequence: self.sequence,
            session: session.clone(),
            kind,
            actor: signal.actor.clone(),
            occurred_at,
            summary,
            session_id: signal.session_id.clone(),
            run_id: signal.run_id.clone(),
            payload,
        };
        self.events.push((event, dedupe));
        self.move_head(&session);
        if notifies(kind) {
            self.notifying.push((session.clone(), self.sequence, signal.actor.id.clone()));
            self.notify(&session, signal);
        }
        if kind == Kind::ChildSpawned {
            self.seed(&session, signal);
        }
        Recording::Recorded(self.sequence)
    }

    fn move_head(&mut self, session: &Session) {
        let (now, version) = (self.now, self.sequence);
        match self.heads.iter_mut().find(|head| head.session == *session) {
            Some(head) => {
                head.version = version;
                head.moved = head.moved.max(now);
            }
            None => self.heads.push(Head { session: session.clone(), version, moved: now }),
        }
    }

    fn notify(&mut self, session: &Session, signal: &Signal) {
        let (now, sequence) = (self.now, self.sequence);
        for watcher in &signal.watchers {
            let known = self.find(watcher, session).is_some();
            let itself = signal.actor.id.as_ref() == Some(watcher);
            if !known && !itself && is_qualified(watcher) && *watcher != session.key {
                let live = Live { last_seen: 0, notified: 0, provenance: Provenance::Spawn };
                self.put(watcher, session, live);
            }
        }
        let mut opened = Vec::new();
        for cursor in &mut self.cursors {
            let others = signal.actor.id.as_ref() != Some(&cursor.watcher);
            if let Some(live) = &mut cursor.live
                && cursor.target == *session
                && others
                && live.notified == live.last_seen
            {
                live.notified = sequence;
                cursor.moved = cursor.moved.max(now);
                opened.push(cursor.clone());
            }
        }
        for cursor in opened {
            self.open(&cursor);
        }
    }

    fn seed(&mut self, session: &Session, signal: &Signal) {
        let mut parents = signal.watchers.clone();
        if parents.is_empty() {
            parents.extend(signal.actor.id.clone());
        }
        for parent in parents {
            if !is_qualified(&parent) || parent == session.key {
                continue;
            }
            let before = self.find(&parent, session).and_then(|cursor| cursor.live);
            let seen = self.sequence;
            let mut live = Live { last_seen: seen, notified: seen, provenance: Provenance::Spawn };
            if let Some(before) = before
                && before.notified > before.last_seen
            {
                live = Live { provenance: Provenance::Spawn, ..before };
            }
            self.put(&parent, session, live);
            self.wake_if_strengthened(&parent, session, before);
        }
    }

    // Watching (section 5).

    pub fn watch(&mut self, watcher: &str, target: &Session, ambient: bool) -> bool {
        if !is_qualified(watcher) || watcher == target.key {
            return false;
        }
        let before = self.find(watcher, target).and_then(|cursor| cursor.live);
        let version = self.version(target).unwrap_or(0);
        let wanted = if ambient { Provenance::Ambient } else { Provenance::Explicit };
        let live = match before {
            None => Live { last_seen: version, notified: version, provenance: wanted },
            Some(before) if before.provenance == Provenance::Ambient => {
                Live { provenance: wanted, ..before }
            }
            Some(before) => before,
        };
        self.put(watcher, target, live);
        self.wake_if_strengthened(watcher, target, before);
        true
    }

    pub fn unwatch(&mut self, watcher: &str, target: &Session) -> bool {
        if !is_qualified(watcher) || watcher == target.key {
            return false;
        }
        let before = self.find(watcher, target).and_then(|cursor| cursor.live);
        self.put(
            watcher,
            target,
            Live { last_seen: 0, notified: 0, provenance: Provenance::Spawn },
        );
        if let Some(cursor) = self.find_mut(watcher, target) {
            cursor.live = None;
        }
        before.is_some()
    }

    fn find(&self, watcher: &str, target: &Session) -> Option<&Cursor> {
        self.cursors.iter().find(|it| it.watcher == watcher && it.target == *target)
    }

    fn find_mut(&mut self, watcher: &str, target: &Session) -> Option<&mut Cursor> {
        self.cursors.iter_mut().find(|it| it.watcher == watcher && it.target == *target)
    }

    /// Sets a cursor, which is a move.
    fn put(&mut self, watcher: &str, target: &Session, live: Live) {
        let now = self.now;
        match self.find_mut(watcher, target) {
            Some(cursor) => {
                cursor.live = Some(live);
                cursor.moved = cursor.moved.max(now);
            }
            None => self.cursors.push(Cursor {
                watcher: watcher.to_owned(),
                target: target.clone(),
                live: Some(live),
                moved: now,
            }),
        }
    }

    /// The newest notifying event of the target by anybody but the watcher, or what it has seen.
    fn material(&self, cursor: &Cursor, last_seen: u64) -> u64 {
        let foreign = self.notifying.iter().filter(|(session, _, actor)| {
            *session == cursor.target && actor.as_ref() != Some(&cursor.watcher)
        });
        foreign.map(|(_, sequence, _)| *sequence).max().unwrap_or(0).max(last_seen)
    }

    // Reconciliation (section 7).

    pub fn changes_since(&self, session: &Session, version: u64, limit: usize) -> Delta {
        let after = |event: &&Event| event.session == *session && event.sequence > version;
        let all: Vec<Event> = self.events.iter().map(|(it, _)| it).filter(after).cloned().collect();
        let state_version = self.version(session).unwrap_or(0);
        let lost = self.removed.iter().any(|(it, sequence)| it == session && *sequence > version);
        Delta {
            state_version,
            truncated: all.len() > limit,
            events: all.into_iter().take(limit).collect(),
            history_gap: lost || version > state_version || version < self.restored_at,
        }
    }

    /// Versions of a session at and around which answers change.
    pub fn telling_versions(&self, session: &Session) -> Vec<u64> {
        let mut versions = vec![0, self.restored_at, self.version(session).unwrap_or(0)];
        let of_session = |it: &&(Session, u64)| it.0 == *session;
        versions.extend(self.removed.iter().filter(of_session).map(|(_, it)| *it).max());
        versions.extend(self.cursors.iter().filter_map(|it| {
            if it.target == *session { it.live.map(|live| live.last_seen) } else { None }
        }));
        for version in versions.clone() {
            versions.extend([version.saturating_sub(1), version + 1]);
        }
        versions.sort_unstable();
        versions.dedup();
        versions
    }

    pub fn version(&self, session: &Session) -> Option<u64> {
        let head = self.heads.iter().find(|head| head.session == *session)?;
        (head.version > 0).then_some(head.version)
    }

    pub fn watches(&self) -> Vec<WatchEntry> {
        let mut cursors: Vec<&Cursor> = self.cursors.iter().collect();
        cursors.sort_by_key(|cursor| cursor.pair());
        let live = cursors.into_iter().filter_map(|cursor| Some((cursor, cursor.live?)));
        live.map(|(cursor, live)| self.entry(cursor, live)).collect()
    }

    fn entry(&self, cursor: &Cursor, live: Live) -> WatchEntry {
        let material = self.material(cursor, live.last_seen);
        WatchEntry {
            watcher: cursor.watcher.clone(),
            target: cursor.target.clone(),
            provenance: live.provenance,
            last_seen: live.last_seen,
            notified: live.notified,
            material,
            pending: material > live.last_seen,
            expires_at: self.last_move(cursor) + self.cursor_days * DAY,
            state_version: self.version(&cursor.target),
        }
    }

    fn last_move(&self, cursor: &Cursor) -> u64 {
        let head = self.heads.iter().find(|head| head.session == cursor.target);
        head.map_or(0, |head| head.moved).max(cursor.moved)
    }
}
