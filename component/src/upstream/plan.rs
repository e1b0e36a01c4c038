//! What to read now: links that somebody watches and nobody else has claimed.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::progress::Progress;
use super::source::{KINDS, Kind};
use super::turns;
use crate::contract::{
    ClaimRequest, Error, FileRead, Level, Link, Plan, Reader, Selection, Upstream,
};
use crate::ports::{Ports, Stored};
use crate::refusal::MAX_INTEGER;
use crate::text::joined;

/// How long a link is claimed for a check, in ms: a second less than the interval of checks, so that a
/// timer that is slightly early does not miss its turn.
pub const CLAIM_MS: u64 = 59 * 1_000;

/// What to read for checks. See `upstreams.plan-checks` in the contract.
pub fn plan(
    ports: &mut impl Ports,
    selection: &Selection,
    reader: Reader,
) -> Result<Vec<Plan>, Error> {
    let now = ports.now();
    let mut planned = Vec::new();
    if let Selection::One(session) = selection {
        let upstream = ports.upstream(session)?;
        if upstream.watched && !turns::is_running(&upstream, now) {
            planned.push(upstream);
        }
    } else {
        planned = ports.claim(&ClaimRequest {
            kinds: words(reader),
            now,
            running_at_most: turns::at_most(now),
            until: (now + CLAIM_MS).min(MAX_INTEGER),
            claimed_too: matches!(selection, Selection::All),
        })?;
    }
    let mut plans = Vec::with_capacity(planned.len());
    for upstream in planned {
        if let Some(plan) = plan_of(ports, upstream, reader) {
            plans.push(plan);
        }
    }
    Ok(plans)
}

/// The words of the kinds that this reader reads.
fn words(reader: Reader) -> Vec<String> {
    let mut words = Vec::new();
    for kind in KINDS {
        if kind.reader == reader {
            words.push(kind.word.to_string());
        }
    }
    words
}

/// The plan of a link. One that cannot be read does not stop the others: it is logged.
fn plan_of(ports: &mut impl Ports, upstream: Upstream, reader: Reader) -> Option<Plan> {
    let Upstream { session, link: Some(link), .. } = upstream else { return None };
    let kind = Kind::of(&link.source.kind).filter(|kind| kind.reader == reader)?;
    match file(kind, &link) {
        Ok(file) => Some(Plan { session, source: link.source, revision: link.revision, file }),
        Err(failure) => {
            let words = [&session.key, " is not checked: ", &failure.message];
            ports.log(Level::Error, &joined(&words));
            None
        }
    }
}

fn file(kind: &Kind, link: &Link) -> Stored<Option<FileRead>> {
    let Progress { file, trouble, .. } = Progress::of(link)?;
    // An unchanged file answers nothing new, unless it has to be said that it is there again.
    let untroubled = link.misses == 0 && trouble.is_none();
    Ok((kind.reader == Reader::File).then(|| FileRead {
        places: (kind.places)(&link.source.place),
        start: file.start(),
        at_most: file.at_most(),
        stamp: file.stamp.filter(|_| untroubled),
    }))
}
