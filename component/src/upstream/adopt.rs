//! Adopting a session: a link to where it really lives, from the source's present end on.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::lines::Lines;
use super::progress::{Position, Progress};
use super::source::{KINDS, Kind};
use super::{feed, row, shape};
use crate::contract::{
    Actor, ActorType, Adopted, Adoption, AdoptionRequest, Error, FileFound, Found, Happening,
    InvalidInput, InvalidReason, Link, Outcome, Reader, Session, SessionRef, Signal, Source,
};
use crate::ports::{Ports, Stored};
use crate::refusal::{MAX_INTEGER, corrupt, listed, refuse};
use crate::{policy, record, session, text};

/// The longest path, in bytes.
const MAX_PATH_BYTES: usize = 4_096;
/// The number of the newest link of the store.
const GENERATION: &str = "upstreams.generation";
/// A link's revisions start here times its generation: no two links of a session ever share one.
const REVISIONS: u64 = 1 << 20;
/// Generations beyond this would have revisions that no language holds exactly.
const MAX_GENERATION: u64 = (MAX_INTEGER >> 20) - 1;

/// Adopts a session. See `upstreams.adopt` in the contract.
pub fn adopt(
    ports: &mut impl Ports,
    request: &AdoptionRequest,
    found: Option<&Found>,
) -> Result<Adopted, Error> {
    let Checked { session, kind, catalog } = check(request)?;
    let file = file_of(kind, found)?;
    let now = ports.now();
    let mut upstream = ports.upstream(&session)?;
    let mut link = upstream.link.take().unwrap_or_else(|| unlinked(&request.source));
    let mut progress = Progress::default();
    let mut lives_on = false;
    if link.generation > 0 {
        progress = Progress::of(&link)?;
        // The same file may be named by another path.
        lives_on = is_same(kind, &link.source, &request.source)
            || file.is_some_and(|file| file.identity == progress.file.identity);
    }
    link.source = request.source.clone();
    if !lives_on {
        progress = Progress::default();
        link.generation = next_generation(ports)?;
        progress.labels.adopted_at = now;
        if let Some(file) = file {
            start_at_the_end(&mut progress, kind, file);
        }
    }
    progress.labels.host.clone_from(&request.host);
    progress.labels.thread.clone_from(&request.thread);
    progress.trouble = None;
    let generation = link.generation;
    link.catalog.clone_from(&catalog);
    link.revision = (link.revision + 1).max(generation * REVISIONS);
    link.misses = 0;
    link.state = progress.text();
    upstream.link = Some(link);
    ports.save_upstream(&upstream, now)?;
    if lives_on {
        return Ok(Adopted { adopted: false, state_version: version_of(ports, session)? });
    }
    let happening = Happening::Adopted(Adoption { catalog, host: request.host.clone() });
    let signal = signal(session, happening, dedupe_key(generation));
    let state_version = match record::record(ports, &signal)? {
        Outcome::Recorded(version) | Outcome::Duplicate(version) => version,
        Outcome::Unwatched => 0,
    };
    Ok(Adopted { adopted: true, state_version })
}

/// What there is to read for an adoption: a file's path, or nothing.
pub fn path_of(request: &AdoptionRequest) -> Result<Option<String>, InvalidInput> {
    let reads = check(request)?.kind.reader == Reader::File;
    Ok(reads.then(|| request.source.place.clone()))
}

/// The default dedupe key of an adoption.
#[must_use]
pub fn dedupe_key(generation: u64) -> String {
    text::joined(&["adopted:", &text::number(generation)])
}

/// A signal that the system itself records about an adopted session.
#[must_use]
pub fn signal(session: Session, happening: Happening, dedupe_key: String) -> Signal {
    Signal {
        session: SessionRef { key: session.key, agent: Some(session.agent) },
        happening,
        actor: Actor { type_: ActorType::System, id: None },
        session_id: None,
        run_id: None,
        occurred_at: None,
        dedupe_key: Some(dedupe_key),
        watchers: Vec::new(),
    }
}

/// What a request names, in bounds.
struct Checked {
    session: Session,
    kind: &'static Kind,
    catalog: String,
}

fn check(request: &AdoptionRequest) -> Result<Checked, InvalidInput> {
    let session = session::resolve("session", &request.session)?;
    let Some(kind) = Kind::of(&request.source.kind) else {
        let what = listed("must be one of", &[&KINDS.map(|kind| kind.word)]);
        return Err(refuse(InvalidReason::UnknownValue, "source.kind", &what));
    };
    let Source { place, thread, .. } = &request.source;
    let node = if kind.reader == Reader::File {
        check_path(place, thread.as_ref())?;
        None
    } else if thread.is_some() {
        Some(place)
    } else {
        let what = "a source on a node is a thread; name it";
        return Err(refuse(InvalidReason::MissingField, "source.thread", what));
    };
    let ids = [
        ("source.node", node),
        ("source.thread", thread.as_ref()),
        ("host", request.host.as_ref()),
        ("thread", request.thread.as_ref()),
    ];
    for (field, id) in ids {
        if let Some(id) = id {
            session::id(field, id)?;
        }
    }
    let Some(catalog) = session::name("catalog", &request.catalog)? else {
        let what = "an adoption needs the catalog's name; an empty one counts as missing";
        return Err(refuse(InvalidReason::MissingField, "catalog", what));
    };
    Ok(Checked { session, kind, catalog: catalog.to_string() })
}

fn check_path(path: &str, thread: Option<&String>) -> Result<(), InvalidInput> {
    let (reason, field, what) = if thread.is_some() {
        (InvalidReason::UnknownField, "source.thread", "a file is one thread; leave it out")
    } else if path.len() > MAX_PATH_BYTES {
        (InvalidReason::TooLong, "source.path", "a path has at most 4,096 bytes")
    } else if !is_absolute(path) || text::has(path, session::is_forbidden) {
        let what = "give an absolute path without control characters";
        (InvalidReason::InvalidPath, "source.path", what)
    } else {
        return Ok(());
    };
    Err(refuse(reason, field, what))
}

/// Absolute on some system: `/…`, `\\…`, `C:\…`. The host that reads it knows better.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
        || path.starts_with(r"\\")
        || matches!(path.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
}

/// Whether two sources of this kind are one, wherever it lies by now.
fn is_same(kind: &Kind, one: &Source, other: &Source) -> bool {
    one.kind == other.kind
        && one.thread == other.thread
        && (kind.places)(&one.place).contains(&other.place)
}

/// What a session has before it is adopted for the first time.
fn unlinked(source: &Source) -> Link {
    Link {
        source: source.clone(),
        catalog: String::new(),
        generation: 0,
        revision: 0,
        misses: 0,
        claimed: true,
        state: String::new(),
    }
}

/// The file that was found, where one had to be read.
fn file_of<'f>(
    kind: &Kind,
    found: Option<&'f Found>,
) -> Result<Option<&'f FileFound>, InvalidInput> {
    let (reason, what) = match (kind.reader, found) {
        (Reader::Gateway, None) => return Ok(None),
        (Reader::File, Some(Found::File(file))) => return Ok(Some(file)),
        (Reader::File, Some(Found::Missing)) => {
            (InvalidReason::SourceMissing, "there is no such regular file")
        }
        (Reader::File, Some(Found::Unavailable(why))) => {
            (InvalidReason::SourceUnavailable, why.as_str())
        }
        (Reader::File, Some(Found::Refused(why))) => (InvalidReason::SourceRefused, why.as_str()),
        _ => (InvalidReason::WrongType, "this source was not read as it should be"),
    };
    Err(refuse(reason, "source.path", what))
}

fn version_of(ports: &mut impl Ports, session: Session) -> Stored<u64> {
    let heads = ports.heads(&[session])?;
    Ok(heads.first().and_then(Option::as_ref).map_or(0, |head| head.version))
}

/// Generations count the links of the whole store, so that none is used twice for a session, even
/// if its link was gone in between.
fn next_generation(ports: &mut impl Ports) -> Stored<u64> {
    let last = match ports.settings(&[GENERATION])?.first() {
        Some(Some(text)) => text::parse(text),
        _ => Some(0),
    };
    let Some(last) = last.filter(|last| *last < MAX_GENERATION) else {
        return Err(corrupt("the count of adoptions is no number that can be"));
    };
    let next = last + 1;
    ports.set(&[policy::setting(GENERATION, text::number(next))])?;
    Ok(next)
}

/// Goes behind the last whole line. What is half-written belongs to the future.
fn start_at_the_end(progress: &mut Progress, kind: &Kind, file: &FileFound) {
    let mut position = Position::default();
    if let Some(first) = Lines::new(&file.head, true).find_map(|line| row::read(line.text)) {
        position.headless = (kind.headless)(&first);
    }
    let mut end = 0;
    for line in Lines::new(&file.bytes, file.start == 0) {
        end = line.end;
        if let Some(facts) = row::read(line.text) {
            progress.newest = progress.newest.max(feed::usable(facts.at, file));
            if shape::of(kind.shapes, &facts).human {
                progress.queued.pass(&facts);
            }
        }
    }
    progress.queued.keep_waiting();
    // A line that began too far back to be found is passed over once it ends.
    position.passing = end == 0 && file.start > 0;
    if position.passing {
        end = file.bytes.len();
    }
    position.advance(file.start + end as u64, file);
    position.remember(file);
    progress.file = position;
}
