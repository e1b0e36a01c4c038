//! Taking in what was read: at most one event and the link's new position, together.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::adopt::by_system;
use super::digest::Digest;
use super::lines::Lines;
use super::marker::{FileMarker, ItemsMarker, LONGEST_LINE, Marker, WINDOW};
use super::queued::Queued;
use super::row::{self, Facts};
use super::source::Kind;
use super::{shape, turns};
use crate::contract::{
    Actor, ActorType, Check, DirectMessage, Error, FileFound, Finding, Found, Happening,
    InvalidReason, Level, Link, Outcome, Session, SessionRef, Signal, Upstream,
};
use crate::ports::Ports;
use crate::record;
use crate::refusal::refuse;
use crate::retention::DAY_MS;
use crate::session;

/// Definitive misses in a row after which a source counts as gone.
const MISSES: u32 = 3;
/// The most items of one feed.
const MAX_ITEMS: usize = 1_000;
/// The longest reason that is kept, in bytes.
const MAX_TROUBLE_BYTES: usize = 256;

/// Takes in what was found for a plan. See `upstreams.feed` in the contract.
pub fn feed(
    ports: &mut impl Ports,
    session: &Session,
    revision: u64,
    found: &Found,
) -> Result<Check, Error> {
    let named = SessionRef { key: session.key.clone(), agent: Some(session.agent.clone()) };
    let session = session::resolve("session", &named)?;
    let now = ports.now();
    let mut upstream = ports.upstream(&session)?;
    let running = turns::is_running(&upstream, now);
    let Some(link) = upstream.link.take().filter(|link| link.revision == revision && !running)
    else {
        return Ok(without_event(Finding::Superseded));
    };
    let Some(kind) = Kind::of(&link.source.kind) else {
        return Ok(without_event(Finding::Superseded));
    };
    let marker = Marker::read(&link.marker, &link.source)?;
    let mut feed = Feed { ports, kind, upstream, before: link.clone(), link, now };
    match (found, marker) {
        (Found::Missing, _) => feed.missed(),
        (Found::Unavailable(why) | Found::Refused(why), _) => feed.unavailable(why),
        (Found::Unchanged, marker @ Marker::File(_)) => feed.settle(&marker, Turns::default()),
        (Found::File(file), Marker::File(marker)) => feed.file(marker, file),
        (Found::Items(items), Marker::Items(marker)) => feed.items(marker, items),
        _ => Err(refuse(InvalidReason::WrongType, "found", "not what was asked for").into()),
    }
}

/// A signal about an adopted session.
pub fn signal(
    session: &Session,
    happening: Happening,
    actor: Actor,
    occurred_at: Option<u64>,
    dedupe_key: String,
) -> Signal {
    Signal {
        session: SessionRef { key: session.key.clone(), agent: Some(session.agent.clone()) },
        happening,
        actor,
        session_id: None,
        run_id: None,
        occurred_at: occurred_at.and_then(|at| i64::try_from(at).ok()),
        dedupe_key: Some(dedupe_key),
        watchers: Vec::new(),
    }
}

/// The default dedupe key of a source that is gone.
#[must_use]
pub fn missing_key(generation: u64) -> String {
    format!("upstream-missing:{generation}")
}

/// A row's time, unless it lies more than a day past the file's own.
#[must_use]
pub fn usable(at: Option<u64>, file: &FileFound) -> Option<u64> {
    at.filter(|at| *at <= file.modified_at.saturating_add(DAY_MS))
}

fn without_event(finding: Finding) -> Check {
    Check { finding, turns: 0, state_version: None }
}

/// The human turns that a check found.
#[derive(Default)]
struct Turns {
    count: u32,
    /// When the last one was taken, if that is known.
    at: Option<u64>,
    /// What tells the last one from every other of this source.
    position: String,
}

/// One check of one link.
struct Feed<'p, P> {
    ports: &'p mut P,
    kind: &'static Kind,
    /// Without its link.
    upstream: Upstream,
    /// The link as it was.
    before: Link,
    /// The link as it will be.
    link: Link,
    now: u64,
}

impl<P: Ports> Feed<'_, P> {
    /// Reads on in a file, or notices that it is another one.
    fn file(mut self, mut marker: FileMarker, file: &FileFound) -> Result<Check, Error> {
        if file.start != marker.span().0 {
            let what = "not read from where it was asked for";
            return Err(refuse(InvalidReason::OutOfRange, "found.start", what).into());
        }
        let Some(rest) = marker.rest(file) else {
            marker.rotate();
            marker.identity.clone_from(&file.identity);
            self.link.rotations += 1;
            self.settle(&Marker::File(marker), Turns::default())?;
            return Ok(without_event(Finding::Again));
        };
        let mut turns = Turns::default();
        let passed = passed(&marker, rest);
        let mut read = passed;
        for line in Lines::new(rest.get(passed..).unwrap_or_default(), marker.at == 0) {
            let begins = marker.at + (passed + line.start) as u64;
            read = passed + line.end;
            if let Some(facts) = row::read(line.text) {
                if begins == 0 && self.kind.has_head {
                    marker.headless = (self.kind.headless)(&facts);
                }
                let at = usable(facts.at, file);
                if !marker.is_old(at)
                    && !marker.headless
                    && self.is_turn(&facts, &mut marker.queued)
                {
                    turns.count += 1;
                    turns.at = at;
                    turns.position = (marker.at + read as u64).to_string();
                }
                marker.pass(at);
            }
        }
        self.move_on(&mut marker, file, read, rest.len());
        marker.remember(file, self.now);
        self.settle(&Marker::File(marker), turns)
    }

    /// Moves behind what was read. A line that is longer than the window gets a wider one next time;
    /// the longest ones are passed over.
    fn move_on(&mut self, marker: &mut FileMarker, file: &FileFound, read: usize, found: usize) {
        if read > 0 {
            marker.passing = false;
            marker.set_window(WINDOW);
            marker.advance(marker.at + read as u64, file);
            return;
        }
        let filled = found >= marker.window() as usize;
        if marker.passing {
            marker.advance(marker.at + found as u64, file);
        } else if filled && marker.window() >= LONGEST_LINE {
            let key = &self.upstream.session.key;
            let at = marker.at;
            let line = format!(
                "the source of {key} has a line of over 64 MiB at byte {at}: it is passed over"
            );
            self.ports.log(Level::Warn, &line);
            marker.passing = true;
            marker.advance(at + found as u64, file);
        } else if filled {
            marker.set_window(marker.window().saturating_mul(2).min(LONGEST_LINE));
        }
    }

    /// Takes in the items after the one that was last.
    fn items(mut self, mut marker: ItemsMarker, items: &[String]) -> Result<Check, Error> {
        if items.len() > MAX_ITEMS {
            let what = "a feed has at most 1,000 items; give the newest";
            return Err(refuse(InvalidReason::TooMany, "items", what).into());
        }
        let mut rows = Vec::with_capacity(items.len());
        for item in items {
            let facts = row::read(item.as_bytes());
            let own = facts.as_ref().and_then(|facts| facts.uuid);
            rows.push((own.unwrap_or_else(|| Digest::of_bytes(item.as_bytes())), facts));
        }
        let known = rows.iter().rposition(|(id, _)| Some(*id) == marker.last);
        let mut turns = Turns::default();
        for (id, facts) in rows.iter().skip(known.map_or(0, |at| at + 1)) {
            marker.last = Some(*id);
            let Some(facts) = facts else { continue };
            marker.newest = marker.newest.max(facts.at);
            if marker.begun && self.is_turn(facts, &mut marker.queued) {
                turns.count += 1;
                turns.at = facts.at;
                turns.position = id.hex();
            }
        }
        marker.begun = true;
        self.settle(&Marker::Items(marker), turns)
    }

    /// Whether a person typed this row just now: no repeat of a queued one, and no text of the
    /// gateway's own.
    fn is_turn(&self, facts: &Facts, queued: &mut Queued) -> bool {
        let echo = || {
            let empty = Digest::of_text("");
            [facts.text, facts.bare]
                .into_iter()
                .any(|text| text != empty && turns::is_echo(&self.upstream, text))
        };
        shape::of(self.kind.shapes, facts).human && !echo() && !queued.absorb(facts)
    }

    /// Records what people did, and keeps the position. A quiet check that changes nothing writes
    /// nothing.
    fn settle(&mut self, marker: &Marker, turns: Turns) -> Result<Check, Error> {
        self.link.marker = marker.text();
        self.link.misses = 0;
        self.link.trouble = None;
        let mut check = without_event(Finding::Quiet);
        if turns.count > 0 {
            check = Check { finding: Finding::Activity, turns: turns.count, state_version: None };
            let signal = self.turn(turns);
            check.state_version = match record::record(self.ports, &signal)? {
                Outcome::Recorded(version) => Some(version),
                Outcome::Duplicate(_) | Outcome::Unwatched => None,
            };
        }
        self.save()?;
        Ok(check)
    }

    fn turn(&self, turns: Turns) -> Signal {
        let Link { catalog, generation, rotations, .. } = &self.link;
        let message = DirectMessage { channel: Some(catalog.clone()), turns: Some(turns.count) };
        let happening = Happening::HumanDirectMessage(message);
        let actor = Actor { type_: ActorType::Human, id: None };
        let key = format!("upstream:{generation}:{rotations}:{}", turns.position);
        signal(&self.upstream.session, happening, actor, turns.at, key)
    }

    /// Counts a miss; at the third in a row the link goes, and its watchers are told.
    fn missed(mut self) -> Result<Check, Error> {
        self.link.misses += 1;
        self.link.trouble = None;
        if self.link.misses < MISSES {
            self.save()?;
            return Ok(without_event(Finding::Missed));
        }
        let happening = Happening::UpstreamMissing(self.link.catalog.clone());
        let key = missing_key(self.link.generation);
        let signal = by_system(&self.upstream.session, happening, key);
        let mut check = without_event(Finding::Missing);
        if let Outcome::Recorded(version) = record::record(self.ports, &signal)? {
            check.state_version = Some(version);
        }
        self.ports.save_upstream(&self.upstream)?;
        Ok(check)
    }

    /// Remembers why, for people; everything else stays as it is.
    fn unavailable(mut self, why: &str) -> Result<Check, Error> {
        let mut end = why.len().min(MAX_TROUBLE_BYTES);
        while !why.is_char_boundary(end) {
            end -= 1;
        }
        let why = why.get(..end).unwrap_or_default();
        self.link.trouble = Some(why.replace(session::is_forbidden, " "));
        self.save()?;
        Ok(without_event(Finding::Unavailable))
    }

    fn save(&mut self) -> Result<(), Error> {
        if self.link == self.before {
            return Ok(());
        }
        self.link.revision = self.before.revision + 1;
        self.upstream.link = Some(self.link.clone());
        Ok(self.ports.save_upstream(&self.upstream)?)
    }
}

/// How many bytes end the line that is passed over; all, if it does not end yet.
fn passed(marker: &FileMarker, rest: &[u8]) -> usize {
    if !marker.passing {
        return 0;
    }
    rest.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}
