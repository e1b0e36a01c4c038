//! What to read now: links that somebody watches and nobody else has claimed.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::marker::Marker;
use super::source::{KINDS, Kind};
use super::turns;
use crate::contract::{
    ClaimRequest, Error, FileRead, Level, Link, Order, Plan, Reader, Selection, Start, Upstream,
};
use crate::ports::{Ports, Stored};

/// How often a link is checked, over all processes of a store, in ms.
pub const INTERVAL_MS: u64 = 60 * 1_000;
/// How many of the newest items of a thread are read.
pub const ITEMS: u32 = 50;
/// The most links of one plan.
const MOST: u32 = 100_000;

/// What to read for checks. See `upstreams.plan` in the contract.
pub fn plan(
    ports: &mut impl Ports,
    selection: &Selection,
    reader: Reader,
) -> Result<Vec<Plan>, Error> {
    let now = ports.now();
    let claimed_too = match selection {
        Selection::One(session) => {
            let upstream = ports.upstream(session)?;
            let free = upstream.watched && !turns::is_running(&upstream, now);
            let planned = if free { plan_of(ports, upstream, reader) } else { None };
            return Ok(planned.into_iter().collect());
        }
        Selection::All => true,
        Selection::Due => false,
    };
    let request = ClaimRequest {
        kinds: words(reader),
        now,
        until: now + INTERVAL_MS,
        claimed_too,
        limit: MOST,
    };
    let claimed = ports.claim(&request)?;
    let mut plans = Vec::with_capacity(claimed.len());
    for upstream in claimed {
        plans.extend(plan_of(ports, upstream, reader));
    }
    Ok(plans)
}

/// From when on a link is due. See `upstreams.next-check` in the contract.
pub fn next_check(ports: &mut impl Ports, reader: Reader) -> Stored<Option<u64>> {
    let now = ports.now();
    let next = ports.next_claim(&words(reader))?;
    // A claim that ends later is one of a clock that was set back.
    Ok(next.map(|until| if until > now + INTERVAL_MS { now } else { until }))
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
    match order(kind, &link) {
        Ok(order) => Some(Plan { session, source: link.source, revision: link.revision, order }),
        Err(failure) => {
            let line = format!("the source of {} is not checked: {}", session.key, failure.message);
            ports.log(Level::Error, &line);
            None
        }
    }
}

fn order(kind: &Kind, link: &Link) -> Stored<Order> {
    let Marker::File(marker) = Marker::read(&link.marker, &link.source)? else {
        return Ok(Order::Items(ITEMS));
    };
    let (from, at_most) = marker.span();
    // An unchanged file answers nothing new, unless it has to be said that it is there again.
    let untroubled = link.misses == 0 && link.trouble.is_none();
    Ok(Order::File(FileRead {
        places: (kind.places)(&link.source.place),
        head: 0,
        start: Start::Byte(from),
        at_most,
        stamp: marker.stamp.filter(|_| untroubled),
    }))
}
