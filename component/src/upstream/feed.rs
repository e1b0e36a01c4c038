//! Taking in what was read: at most one event and the link's new position, together.

use alloc::string::String;
use alloc::vec::Vec;

use super::digest::Digest;
use super::lines::Lines;
use super::progress::{LONGEST_LINE, Progress, WINDOW};
use super::row::{self, Facts};
use super::source::Kind;
use super::{adopt, shape, turns};
use crate::contract::{
    ActorType, Check, DirectMessage, Error, FileFound, Finding, Found, Happening, InvalidReason,
    Level, Link, Outcome, Reader, Session, SessionRef, Signal, Upstream,
};
use crate::ports::Ports;
use crate::refusal::refuse;
use crate::retention::DAY_MS;
use crate::text::{joined, number};
use crate::{record, session};

/// Definitive misses in a row after which a source counts as gone.
const MISSES: u32 = 3;
/// The most items of one feed.
const MAX_ITEMS: usize = 1_000;
/// The longest reason that is kept, in characters.
const MAX_TROUBLE_CHARS: usize = 120;

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
    let planned = |link: &Link| link.revision == revision && !turns::is_running(&upstream, now);
    let Some(kind) = upstream.link.as_ref().filter(|link| planned(link)).and_then(kind_of) else {
        return Ok(without_event(Finding::Superseded));
    };
    let Some(link) = upstream.link.take() else {
        return Ok(without_event(Finding::Superseded));
    };
    let progress = Progress::of(&link)?;
    let mut feed = Feed { ports, kind, upstream, link, progress, now, turns: Turns::default() };
    let finding = feed.take_in(found)?;
    feed.settle(finding)
}

/// The default dedupe key of a source that is gone.
#[must_use]
pub fn missing_key(generation: u64) -> String {
    joined(&["upstream-missing:", &number(generation)])
}

/// A row's time, unless it lies more than a day past the file's own.
#[must_use]
pub fn usable(at: Option<u64>, file: &FileFound) -> Option<u64> {
    at.filter(|at| *at <= file.modified_at.saturating_add(DAY_MS))
}

fn kind_of(link: &Link) -> Option<&'static Kind> {
    Kind::of(&link.source.kind)
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
    link: Link,
    /// Its state as it will be.
    progress: Progress,
    now: u64,
    turns: Turns,
}

impl<P: Ports> Feed<'_, P> {
    fn take_in(&mut self, found: &Found) -> Result<Finding, Error> {
        let (reason, field, what) = match (self.kind.reader, found) {
            (_, Found::Missing) if self.link.misses + 1 < MISSES => return Ok(Finding::Missed),
            (_, Found::Missing) => return Ok(Finding::Missing),
            (_, Found::Unavailable(why) | Found::Refused(why)) => {
                let mut trouble = String::new();
                for c in why.chars().take(MAX_TROUBLE_CHARS) {
                    trouble.push(if session::is_forbidden(c) { ' ' } else { c });
                }
                self.progress.trouble = Some(trouble);
                return Ok(Finding::Unavailable);
            }
            (Reader::File, Found::Unchanged) => return Ok(Finding::Quiet),
            (Reader::File, Found::File(file)) if file.start == self.progress.file.start() => {
                return Ok(self.file(file));
            }
            (Reader::Gateway, Found::Items(items)) if items.len() <= MAX_ITEMS => {
                return Ok(self.items(items));
            }
            (Reader::Gateway, Found::Items(_)) => {
                (InvalidReason::TooMany, "items", "a feed has at most 1,000; give the newest")
            }
            (Reader::File, Found::File(_)) => {
                (InvalidReason::OutOfRange, "found.start", "not read from where it was planned")
            }
            _ => (InvalidReason::WrongType, "found", "not what was planned for this source"),
        };
        Err(refuse(reason, field, what).into())
    }

    /// Reads on in a file, or notices that it is another one.
    fn file(&mut self, file: &FileFound) -> Finding {
        let Some(rest) = self.progress.file.rest(file) else {
            let adopted_at = self.progress.labels.adopted_at;
            self.progress.file.rotate(file, self.progress.newest, adopted_at);
            self.progress.rotations += 1;
            return Finding::Again;
        };
        let at = self.progress.file.at;
        let passed = if self.progress.file.passing { end_of_line(rest) } else { 0 };
        let mut read = passed;
        // Of a file that is read from its start, the first row may speak for all of them.
        let mut is_first = at == 0;
        for line in Lines::new(rest.get(passed..).unwrap_or_default(), at == 0) {
            read = passed + line.end;
            if let Some(facts) = row::read(line.text) {
                if core::mem::take(&mut is_first) {
                    self.progress.file.headless = (self.kind.headless)(&facts);
                }
                let time = usable(facts.at, file);
                let old = self.progress.file.is_old(time) || self.progress.file.headless;
                if !old && self.is_turn(&facts) {
                    self.count(time, number(at + read as u64));
                }
                self.progress.newest = self.progress.newest.max(time);
            }
        }
        self.move_on(file, read, rest.len());
        self.progress.file.remember(file);
        self.quiet_or_activity()
    }

    /// Moves behind what was read. A line that is longer than the window gets a wider one next time;
    /// the longest ones are passed over.
    fn move_on(&mut self, file: &FileFound, read: usize, found: usize) {
        let position = &mut self.progress.file;
        let window = position.window();
        let filled = found >= window as usize;
        if read > 0 {
            position.passing = false;
            position.set_window(WINDOW);
            position.advance(position.at + read as u64, file);
        } else if filled && window < LONGEST_LINE {
            position.set_window(window * 2);
        } else if filled || position.passing {
            if !position.passing {
                let line = [
                    &self.upstream.session.key,
                    ": a line of over 64 MiB in its source is passed over, at byte ",
                    &number(position.at),
                ];
                self.ports.log(Level::Warn, &joined(&line));
            }
            position.passing = true;
            position.advance(position.at + found as u64, file);
        }
    }

    /// Takes in the items after the one that was last.
    fn items(&mut self, items: &[String]) -> Finding {
        let mut rows = Vec::with_capacity(items.len());
        let mut new_from = 0;
        for item in items {
            let facts = row::read(item.as_bytes());
            let own = facts.as_ref().and_then(|facts| facts.uuid);
            let id = own.unwrap_or_else(|| Digest::of_bytes(item.as_bytes()));
            rows.push((id, facts));
            if Some(id) == self.progress.last {
                new_from = rows.len();
            }
        }
        for (id, facts) in rows.get(new_from..).unwrap_or_default() {
            self.progress.last = Some(*id);
            let Some(facts) = facts else { continue };
            if self.progress.begun && self.is_turn(facts) {
                self.count(facts.at, id.hex());
            }
            self.progress.newest = self.progress.newest.max(facts.at);
        }
        self.progress.begun = true;
        self.quiet_or_activity()
    }

    /// Whether a person typed this row just now: no repeat of a queued one, and no text of the
    /// gateway's own.
    fn is_turn(&mut self, facts: &Facts) -> bool {
        let is_echo = |text| text != Digest::of_text("") && turns::is_echo(&self.upstream, text);
        shape::of(self.kind.shapes, facts).human
            && !is_echo(facts.text)
            && !is_echo(facts.bare)
            && !self.progress.queued.absorb(facts)
    }

    fn count(&mut self, at: Option<u64>, position: String) {
        self.turns = Turns { count: self.turns.count + 1, at, position };
    }

    fn quiet_or_activity(&self) -> Finding {
        if self.turns.count > 0 { Finding::Activity } else { Finding::Quiet }
    }

    /// Records what people did or that the source is gone, and keeps the link. A check that changes
    /// nothing writes nothing.
    fn settle(mut self, finding: Finding) -> Result<Check, Error> {
        let mut check = Check { finding, turns: self.turns.count, state_version: None };
        let event = match finding {
            Finding::Activity => Some(self.human_turns()),
            Finding::Missing => Some(self.missing()),
            _ => None,
        };
        if let Some(signal) = event
            && let Outcome::Recorded(version) = record::record(self.ports, &signal)?
        {
            check.state_version = Some(version);
        }
        let misses = match finding {
            Finding::Missed => self.link.misses + 1,
            Finding::Unavailable => self.link.misses,
            _ => 0,
        };
        if finding != Finding::Unavailable {
            self.progress.trouble = None;
        }
        let state = self.progress.text();
        if finding == Finding::Missing {
            self.ports.save_upstream(&self.upstream, self.now)?;
            return Ok(check);
        }
        // Who cannot read the source gives its claim back, and stands in the way of no check by another.
        let claimed = finding != Finding::Unavailable;
        if !claimed || misses != self.link.misses || state != self.link.state {
            let revision = self.link.revision + u64::from(claimed);
            self.upstream.link = Some(Link { revision, misses, claimed, state, ..self.link });
            self.ports.save_upstream(&self.upstream, self.now)?;
        }
        Ok(check)
    }

    fn human_turns(&self) -> Signal {
        let Turns { count, at, position } = &self.turns;
        let catalog = self.link.catalog.clone();
        let message = DirectMessage { channel: Some(catalog), turns: Some(*count) };
        let (generation, rotations) =
            (number(self.link.generation), number(self.progress.rotations));
        let key = joined(&["upstream:", &generation, ":", &rotations, ":", position]);
        let happening = Happening::HumanDirectMessage(message);
        let mut signal = adopt::signal(self.upstream.session.clone(), happening, key);
        signal.actor.type_ = ActorType::Human;
        signal.occurred_at = at.and_then(|at| i64::try_from(at).ok());
        signal
    }

    fn missing(&self) -> Signal {
        let happening = Happening::UpstreamMissing(self.link.catalog.clone());
        let key = missing_key(self.link.generation);
        adopt::signal(self.upstream.session.clone(), happening, key)
    }
}

/// How many bytes there are to the end of the line; 0 if it does not end here.
fn end_of_line(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests;
