//! Recording: one append a signal, one save for signals in a row on one session, and one queue entry
//! for each notice that opened (protocol, sections 4 and 5).

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::contract::{
    ActorType, AppendOutcome, AppendRequest, Appended, Changes, Cursor, CursorState, Entry, Error,
    Head, HeadChange, InvalidReason, Kind, Outcome, Pair, Positions, Session, Signal,
};
use crate::cursor::{self, moved};
use crate::notice::Opened;
use crate::ports::{Ports, Stored};
use crate::refusal::{refuse, within};
use crate::rules::Rules;
use crate::session::Key;
use crate::signal::{self, Checked};
use crate::text::element;
use crate::upstream::{adopt, feed};
use crate::watch;

/// The most signals in one `record_many`.
pub const MAX_SIGNALS: usize = 1_000;

/// Records one signal. See `signals.record` in the contract.
pub fn record(ports: &mut impl Ports, signal: &Signal) -> Result<Outcome, Error> {
    let now = ports.now();
    let checked = signal::check(signal, now)?;
    let mut recording = Recording { now, unsaved: None, opened: Opened::default() };
    let outcome = recording.append(ports, checked)?;
    recording.end(ports)?;
    Ok(outcome)
}

/// Records many, all or none: every signal is checked before the first is written.
///
/// # Errors
/// Fields are prefixed `signals[<index>].`.
pub fn record_many(ports: &mut impl Ports, signals: &[Signal]) -> Result<Vec<Outcome>, Error> {
    if signals.len() > MAX_SIGNALS {
        return Err(refuse(
            InvalidReason::TooMany,
            "signals",
            "one call records at most 1,000 signals; split the list",
        )
        .into());
    }
    let now = ports.now();
    let mut checked = Vec::with_capacity(signals.len());
    for (at, signal) in signals.iter().enumerate() {
        let result = signal::check(signal, now);
        checked.push(result.map_err(|refusal| within(&element("signals", at), &refusal))?);
    }
    let mut recording = Recording { now, unsaved: None, opened: Opened::default() };
    let mut outcomes = Vec::with_capacity(signals.len());
    for checked in checked {
        outcomes.push(recording.append(ports, checked)?);
    }
    recording.end(ports)?;
    Ok(outcomes)
}

/// One call that records.
struct Recording {
    now: u64,
    /// The head of the session that the last signal went to, while nothing but the head moved: if
    /// the next one goes to the same session, one save will do for both.
    unsaved: Option<HeadChange>,
    opened: Opened,
}

impl Recording {
    fn append<P: Ports>(&mut self, ports: &mut P, checked: Checked) -> Result<Outcome, Error> {
        let Checked { kind, actor, watchers, mut entry } = checked;
        if entry.dedupe_key.is_none() {
            entry.dedupe_key = key_of_link(ports, kind, &entry.session)?;
        }
        if self.unsaved.as_ref().is_some_and(|unsaved| unsaved.session != entry.session) {
            self.save(ports, Vec::new())?;
        }
        let only_if_watched = kind == Kind::HumanDirectMessage && watchers.is_empty();
        let effect = Effect::of::<P::Rules>(kind, actor, &entry);
        let named = watchers_of::<P::Rules>(effect, watchers, &entry);
        let settled = effect == Effect::Notifies;
        let request = AppendRequest { entry, only_if_watched, settled, named };
        let appended = match ports.append(&request)? {
            AppendOutcome::Appended(appended) => appended,
            AppendOutcome::Duplicate(version) => return Ok(Outcome::Duplicate(version)),
            AppendOutcome::Unwatched => return Ok(Outcome::Unwatched),
        };
        let AppendRequest { entry, named, .. } = request;
        let (now, sequence) = (self.now, appended.sequence);
        let (session, actor) = (&entry.session, entry.actor_id.as_deref());
        let moves = Moves { now, sequence, session, actor };
        let before = self.unsaved.as_ref().map(|unsaved| &unsaved.head);
        let head = moves.head(before.or(appended.head.as_ref()), effect);
        let cursors = match effect {
            Effect::Seeds => moves.seed(&appended, named, &mut self.opened),
            Effect::Notifies => moves.notify(&appended, named, &mut self.opened),
            Effect::None => Vec::new(),
        };
        self.unsaved = Some(HeadChange { session: entry.session, head });
        if !cursors.is_empty() {
            // The next append has to find them as they are now.
            self.save(ports, cursors)?;
        }
        Ok(Outcome::Recorded(sequence))
    }

    fn save(&mut self, ports: &mut impl Ports, cursors: Vec<Cursor>) -> Result<(), Error> {
        if let Some(unsaved) = self.unsaved.take() {
            ports.save(&Changes { heads: vec![unsaved], cursors })?;
        }
        Ok(())
    }

    /// Saves what is left and hands on what opened.
    fn end(mut self, ports: &mut impl Ports) -> Result<(), Error> {
        self.save(ports, Vec::new())?;
        self.opened.enqueue(ports)?;
        Ok(())
    }
}

/// The default dedupe key of what happens to a link: it holds for one generation. None where there is
/// no link.
fn key_of_link(ports: &mut impl Ports, kind: Kind, session: &Session) -> Stored<Option<String>> {
    let key = match kind {
        Kind::Adopted => adopt::dedupe_key,
        Kind::UpstreamMissing => feed::missing_key,
        _ => return Ok(None),
    };
    Ok(ports.upstream(session)?.link.map(|link| key(link.generation)))
}

/// What a signal does beside entering the log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Seeds the parents' cursors.
    Seeds,
    /// Makes watchers stale, and opens a notice for those that have none open.
    Notifies,
    /// Nothing.
    None,
}

impl Effect {
    fn of<R: Rules>(kind: Kind, actor: ActorType, entry: &Entry) -> Self {
        if kind == Kind::ChildSpawned {
            Self::Seeds
        } else if R::notifies(kind, &entry.session, actor, entry.actor_id.as_deref()) {
            Self::Notifies
        } else {
            Self::None
        }
    }
}

/// Whose cursors the signal may create: the named watchers of a notifying one; the parents of a
/// spawned session, which are the named watchers, or else the actor. Sessions that cannot watch, or may
/// not, are left out.
fn watchers_of<R: Rules>(effect: Effect, named: Vec<Key>, entry: &Entry) -> Vec<String> {
    let mut watchers = Vec::new();
    let mut candidates = named;
    if effect == Effect::None {
        return watchers;
    }
    if effect == Effect::Seeds
        && candidates.is_empty()
        && let Some(Ok(key)) = entry.actor_id.as_deref().map(|id| Key::parse("actor.id", id))
    {
        candidates.push(key);
    }
    for key in candidates {
        if watch::may_watch::<R>(&key, &entry.session).is_ok() {
            watchers.push(key.into_string());
        }
    }
    watchers
}

/// What one recorded signal moves.
struct Moves<'a> {
    now: u64,
    sequence: u64,
    session: &'a Session,
    actor: Option<&'a str>,
}

impl Moves<'_> {
    fn head(&self, before: Option<&Head>, effect: Effect) -> Head {
        let notifying = before.and_then(|head| head.notifying.as_ref());
        Head {
            version: self.sequence,
            watermark: before.map_or(0, |head| head.watermark),
            notifying: if effect == Effect::Notifies {
                Some(cursor::remember(notifying, self.sequence, self.actor))
            } else {
                notifying.cloned()
            },
            moved_at: moved(before.map(|head| head.moved_at), self.now),
        }
    }

    /// Opens a notice for every settled watcher but the actor, and for named ones that have no
    /// cursor. A mark keeps a named watcher out.
    fn notify(&self, appended: &Appended, named: Vec<String>, opened: &mut Opened) -> Vec<Cursor> {
        let mut changed = Vec::new();
        for cursor in &appended.cursors {
            if self.actor == Some(cursor.pair.watcher.as_str()) {
                continue;
            }
            if let CursorState::Live(live) = &cursor.state
                && let Some(positions) = live.notify(self.sequence)
            {
                changed.push(self.cursor(&cursor.pair.watcher, positions, Some(cursor.moved_at)));
            }
        }
        for watcher in absent(named, &appended.cursors) {
            if self.actor != Some(watcher.as_str()) {
                changed.push(self.cursor(&watcher, cursor::named(self.sequence), None));
            }
        }
        for cursor in &changed {
            opened.notice(cursor);
        }
        changed
    }

    /// Seeds the parents' cursors at the spawn. A notice that is open stays so; if it was an
    /// ambient one, it may wake its watcher from now on.
    fn seed(&self, appended: &Appended, parents: Vec<String>, opened: &mut Opened) -> Vec<Cursor> {
        let mut seeded = Vec::new();
        for before in &appended.cursors {
            let positions = cursor::spawn(Some(&before.state), self.sequence);
            let cursor = self.cursor(&before.pair.watcher, positions, Some(before.moved_at));
            opened.strengthened(before, &cursor);
            seeded.push(cursor);
        }
        for parent in absent(parents, &appended.cursors) {
            seeded.push(self.cursor(&parent, cursor::spawn(None, self.sequence), None));
        }
        seeded
    }

    fn cursor(&self, watcher: &str, positions: Positions, before: Option<u64>) -> Cursor {
        Cursor {
            pair: Pair { watcher: watcher.to_string(), target: self.session.clone() },
            state: CursorState::Live(positions),
            moved_at: moved(before, self.now),
        }
    }
}

/// The named watchers without a row, each once. At most 1,000, so a linear search will do.
fn absent(named: Vec<String>, present: &[Cursor]) -> Vec<String> {
    let mut absent: Vec<String> = Vec::new();
    for watcher in named {
        let known = present.iter().any(|cursor| cursor.pair.watcher == watcher);
        if !known && !absent.contains(&watcher) {
            absent.push(watcher);
        }
    }
    absent
}
