//! Adopting a session: a link to where it really lives, from the source's present end on.

use alloc::format;
use alloc::string::{String, ToString};

use super::lines::Lines;
use super::marker::{FileMarker, ItemsMarker, LONGEST_LINE, Marker, WINDOW};
use super::source::{KINDS, Kind};
use super::{feed, row};
use crate::contract::{
    Actor, ActorType, Adopted, Adoption, AdoptionRequest, Error, FileFound, FileRead, Found,
    Happening, InvalidInput, InvalidReason, Link, Outcome, Reader, Session, Signal, Source, Start,
    Upstream,
};
use crate::ports::{Ports, Stored};
use crate::refusal::{corrupt, listed, refuse};
use crate::{policy, record, session};

/// The longest path, in bytes.
const MAX_PATH_BYTES: usize = 4_096;
/// The number of the newest link of the store.
const GENERATION: &str = "upstreams.generation";
/// A link's revisions start here times its generation: no two links of a session ever share one.
const REVISIONS: u64 = 1 << 20;

/// What to read for an adoption. See `upstreams.prepare-adoption` in the contract.
pub fn prepare(request: &AdoptionRequest) -> Result<Option<FileRead>, Error> {
    let checked = Checked::of(request)?;
    Ok((checked.kind.reader == Reader::File).then(|| FileRead {
        places: (checked.kind.places)(&checked.source.place),
        head: if checked.kind.has_head { WINDOW } else { 0 },
        start: Start::BeforeEnd(WINDOW),
        at_most: LONGEST_LINE,
        stamp: None,
    }))
}

/// Adopts a session. See `upstreams.adopt` in the contract.
pub fn adopt(
    ports: &mut impl Ports,
    request: &AdoptionRequest,
    found: Option<&Found>,
) -> Result<Adopted, Error> {
    let checked = Checked::of(request)?;
    let file = checked.file(found)?;
    let now = ports.now();
    let mut upstream = ports.upstream(&checked.session)?;
    let before = upstream.link.take();
    if let Some(link) = before.as_ref().filter(|link| checked.is_source_of(link)) {
        refresh(ports, &checked, upstream, link)?;
        let heads = ports.heads(core::slice::from_ref(&checked.session))?;
        let version = heads.into_iter().next().flatten().map_or(0, |head| head.version);
        return Ok(Adopted { adopted: false, state_version: version });
    }
    let generation = next_generation(ports)?;
    let revision = before.map_or(0, |link| link.revision + 1).max(generation * REVISIONS);
    let marker = match file {
        Some(file) => Marker::File(at_the_end(checked.kind, file, now)),
        None => Marker::Items(ItemsMarker::default()),
    };
    upstream.link = Some(Link {
        source: checked.source.clone(),
        catalog: checked.catalog.clone(),
        host: checked.host.clone(),
        thread: checked.thread.clone(),
        generation,
        revision,
        rotations: 0,
        marker: marker.text(),
        misses: 0,
        adopted_at: now,
        checked_at: None,
        claimed_until: 0,
        trouble: None,
    });
    ports.save_upstream(&upstream)?;
    let state_version = match record::record(ports, &checked.signal(generation))? {
        Outcome::Recorded(version) | Outcome::Duplicate(version) => version,
        Outcome::Unwatched => 0,
    };
    Ok(Adopted { adopted: true, state_version })
}

/// The default dedupe key of an adoption.
#[must_use]
pub fn dedupe_key(generation: u64) -> String {
    format!("adopted:{generation}")
}

/// A request in bounds.
struct Checked {
    session: Session,
    kind: &'static Kind,
    source: Source,
    catalog: String,
    host: Option<String>,
    thread: Option<String>,
}

impl Checked {
    fn of(request: &AdoptionRequest) -> Result<Self, InvalidInput> {
        let AdoptionRequest { session, source, catalog, host, thread } = request;
        let session = session::resolve("session", session)?;
        let Some(kind) = Kind::of(&source.kind) else {
            let what = listed("must be one of", &mut KINDS.iter().map(|kind| kind.word));
            return Err(refuse(InvalidReason::UnknownValue, "source.kind", &what));
        };
        check_source(kind, source)?;
        let catalog = session::name("catalog", catalog)?.ok_or_else(|| {
            let what = "an adoption needs the catalog's name; an empty one counts as missing";
            refuse(InvalidReason::MissingField, "catalog", what)
        })?;
        let optional = |field: &str, given: &Option<String>| {
            given.as_deref().map(|id| session::id(field, id)).transpose()
        };
        let (host, thread) = (optional("host", host)?, optional("thread", thread)?);
        Ok(Self { session, kind, source: source.clone(), catalog, host, thread })
    }

    /// The file that was found, where one had to be read.
    fn file<'f>(&self, found: Option<&'f Found>) -> Result<Option<&'f FileFound>, InvalidInput> {
        let (reason, what) = match (self.kind.reader, found) {
            (Reader::Gateway, None) => return Ok(None),
            (Reader::File, Some(Found::File(file))) => return Ok(Some(file)),
            (Reader::File, Some(Found::Missing)) => {
                (InvalidReason::SourceMissing, "there is no such regular file")
            }
            (Reader::File, Some(Found::Unavailable(why))) => {
                (InvalidReason::SourceUnavailable, why.as_str())
            }
            (Reader::File, Some(Found::Refused(why))) => {
                (InvalidReason::SourceRefused, why.as_str())
            }
            _ => (InvalidReason::WrongType, "this source was not read as it was asked for"),
        };
        Err(refuse(reason, "source.path", what))
    }

    /// Whether a link leads to the same source, wherever that lies by now.
    fn is_source_of(&self, link: &Link) -> bool {
        let Source { kind, place, thread } = &link.source;
        *kind == self.source.kind
            && *thread == self.source.thread
            && (self.kind.places)(place).contains(&self.source.place)
    }

    fn signal(&self, generation: u64) -> Signal {
        let (catalog, host) = (self.catalog.clone(), self.host.clone());
        let happening = Happening::Adopted(Adoption { catalog, host });
        by_system(&self.session, happening, dedupe_key(generation))
    }
}

/// A signal that the system itself records.
pub fn by_system(session: &Session, happening: Happening, dedupe_key: String) -> Signal {
    let actor = Actor { type_: ActorType::System, id: None };
    feed::signal(session, happening, actor, None, dedupe_key)
}

fn check_source(kind: &Kind, source: &Source) -> Result<(), InvalidInput> {
    let place = &source.place;
    if kind.reader == Reader::Gateway {
        session::id("source.node", place)?;
        let Some(thread) = &source.thread else {
            let what = "a source on a node needs the thread's id";
            return Err(refuse(InvalidReason::MissingField, "source.thread", what));
        };
        session::id("source.thread", thread)?;
        return Ok(());
    }
    if source.thread.is_some() {
        let what = "a file is one thread; leave it out";
        return Err(refuse(InvalidReason::UnknownField, "source.thread", what));
    }
    if place.len() > MAX_PATH_BYTES {
        let what = "a path has at most 4,096 bytes";
        return Err(refuse(InvalidReason::TooLong, "source.path", what));
    }
    if !is_absolute(place) || place.chars().any(session::is_forbidden) {
        let what = "give an absolute path without control characters";
        return Err(refuse(InvalidReason::InvalidPath, "source.path", what));
    }
    Ok(())
}

/// Absolute on some system: `/…`, `\\…`, `C:\…`. The host that reads it knows better.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
        || path.starts_with(r"\\")
        || matches!(path.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
}

/// The link lives on with its position; a check in flight that was planned before writes nothing.
fn refresh(
    ports: &mut impl Ports,
    checked: &Checked,
    upstream: Upstream,
    before: &Link,
) -> Stored<()> {
    let link = Link {
        catalog: checked.catalog.clone(),
        host: checked.host.clone(),
        thread: checked.thread.clone(),
        revision: before.revision + 1,
        misses: 0,
        trouble: None,
        ..before.clone()
    };
    ports.save_upstream(&Upstream { link: Some(link), ..upstream })
}

/// Generations count the links of the whole store, so that none is used twice for a session, even
/// if its link was gone in between.
fn next_generation(ports: &mut impl Ports) -> Stored<u64> {
    let last = ports.settings(&[GENERATION])?.into_iter().next().flatten();
    let last: u64 = match last {
        None => 0,
        Some(text) => text.parse().map_err(|_| corrupt("the count of adoptions is no number"))?,
    };
    ports.set(&[policy::setting(GENERATION, (last + 1).to_string())])?;
    Ok(last + 1)
}

/// The position after the last whole line. What is half-written belongs to the future.
fn at_the_end(kind: &Kind, file: &FileFound, now: u64) -> FileMarker {
    let mut marker = FileMarker::default();
    if let Some(first) = Lines::new(&file.head, true).next() {
        marker.headless = row::read(first.text).is_some_and(|facts| (kind.headless)(&facts));
    }
    let mut end = 0;
    for line in Lines::new(&file.bytes, file.start == 0) {
        end = line.end;
        if let Some(facts) = row::read(line.text) {
            marker.pass(feed::usable(facts.at, file));
        }
    }
    // A line that began too far back to be found is passed over once it ends.
    marker.passing = end == 0 && file.start > 0;
    if marker.passing {
        end = file.bytes.len();
    }
    marker.advance(file.start + end as u64, file);
    marker.remember(file, now);
    marker
}
