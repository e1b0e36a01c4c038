//! The links of a store, for people who look after them.

use alloc::vec::Vec;

use super::marker::Marker;
use super::turns;
use crate::contract::{Error, Link, LinkState, Obstacle, Progress, Session, Upstream};
use crate::ports::{Ports, Stored};

/// The most links of one answer.
const PAGE: u32 = 1_000;

/// A page of links. See `upstreams.links` in the contract.
pub fn links(ports: &mut impl Ports, after: Option<&Session>) -> Result<Vec<LinkState>, Error> {
    let now = ports.now();
    let upstreams = ports.upstreams(after, PAGE)?;
    let mut states = Vec::with_capacity(upstreams.len());
    for upstream in upstreams {
        let obstacle = obstacle(&upstream, now);
        if let Some(link) = upstream.link {
            states.push(state(upstream.session, link, obstacle)?);
        }
    }
    Ok(states)
}

fn obstacle(upstream: &Upstream, now: u64) -> Option<Obstacle> {
    if !upstream.watched {
        return Some(Obstacle::Unwatched);
    }
    turns::is_running(upstream, now).then_some(Obstacle::Running)
}

fn state(session: Session, link: Link, obstacle: Option<Obstacle>) -> Stored<LinkState> {
    let rotations = link.rotations;
    let progress = match Marker::read(&link.marker, &link.source)? {
        Marker::File(file) => Progress {
            position: Some(file.at),
            size: Some(file.size),
            window: Some(file.window()),
            newest: file.newest,
            rotations,
        },
        Marker::Items(items) => {
            let newest = items.newest;
            Progress { position: None, size: None, window: None, newest, rotations }
        }
    };
    Ok(LinkState {
        session_key: session.key,
        session_agent: session.agent,
        source: link.source,
        catalog: link.catalog,
        host: link.host,
        thread: link.thread,
        generation: link.generation,
        progress,
        misses: link.misses,
        adopted_at: link.adopted_at,
        checked_at: link.checked_at,
        claimed_until: link.claimed_until,
        trouble: link.trouble,
        obstacle,
    })
}
