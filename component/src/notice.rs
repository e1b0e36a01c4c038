//! Notices: how they open, how they are taken, and how recovery puts them back (protocol,
//! section 6).

use alloc::string::ToString;
use alloc::vec::Vec;

use crate::contract::{
    Changes, Cursor, CursorQuery, CursorState, Delivery, Error, Head, Notice, Opening, Pair,
    PendingCount, PendingNotice, Positions, Provenance, StorageFailure, Watched,
};
use crate::cursor::material;
use crate::policy::{self, Template};
use crate::ports::{Ports, Stored};
use crate::refusal::corrupt;
use crate::rules::Rules;
use crate::session::Key;

/// How many cursors cross the boundary at once.
const PAGE: u32 = 1_000;

/// Shows the pending notices, by `up_to`. See `notices.take` in the contract.
pub fn take(ports: &mut impl Ports, watcher: &str) -> Result<Vec<Notice>, Error> {
    let pending = pending_of(ports, watcher)?;
    let mut notices = Vec::with_capacity(pending.len());
    for pending in pending {
        notices.push(pending.notice);
    }
    Ok(notices)
}

/// The same with what a wake scheduler needs.
pub fn pending_of<P: Ports>(ports: &mut P, watcher: &str) -> Result<Vec<PendingNotice>, Error> {
    let watcher = Key::parse("watcher", watcher)?;
    let open = open_of(ports, &watcher)?;
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let template = policy::template(ports)?;
    let mut pending = Vec::with_capacity(open.len());
    for Open { cursor, positions, .. } in &open {
        pending.push(PendingNotice {
            notice: notice(&template, &cursor.pair, positions),
            wakes: P::Rules::wakes(&cursor.pair.watcher, positions.provenance),
        });
    }
    Ok(pending)
}

/// Who has how many notices pending.
pub fn pending(ports: &mut impl Ports) -> Result<Vec<PendingCount>, Error> {
    Ok(ports.open_counts()?)
}

/// Recovery: puts every pending notice back in the queue, standing for everything up to now and
/// with the same text. It is no move, so it renews no expiry. Returns how many there are.
pub fn put_back(ports: &mut impl Ports) -> Result<u32, Error> {
    let mut count = 0;
    let mut after: Option<Pair> = None;
    loop {
        let page = ports.cursors(&CursorQuery::Open, after.as_ref(), PAGE)?;
        let Some(last) = page.last() else {
            return Ok(count);
        };
        after = Some(last.cursor.pair.clone());
        let mut opened = Opened::default();
        let mut changed = Vec::new();
        for open in open(page)? {
            let Open { mut cursor, positions, head } = open;
            let newest = material(head.as_ref(), &cursor.pair.watcher, positions.last_seen);
            let recovered = positions.recover(newest);
            cursor.state = CursorState::Live(recovered);
            opened.notice(&cursor);
            count += 1;
            if recovered != positions {
                changed.push(cursor);
            }
        }
        ports.save(&Changes { heads: Vec::new(), cursors: changed })?;
        opened.enqueue(ports)?;
    }
}

/// Every live cursor that a query names, page by page.
pub fn all_cursors(ports: &mut impl Ports, query: &CursorQuery) -> Stored<Vec<Watched>> {
    let mut all: Vec<Watched> = Vec::new();
    loop {
        let after = all.last().map(|watched| watched.cursor.pair.clone());
        let page = ports.cursors(query, after.as_ref(), PAGE)?;
        let full = page.len() >= PAGE as usize;
        all.extend(page);
        if !full {
            return Ok(all);
        }
    }
}

/// Notices that opened in a call and are not in the queue yet.
#[derive(Default)]
pub struct Opened {
    openings: Vec<Candidate>,
}

/// What the queue is told of, if there is anything to tell.
struct Candidate {
    pair: Pair,
    positions: Positions,
    /// The cursor's provenance when the notice opened, if that was in an earlier call: it was announced
    /// then, and may have woken its watcher.
    open_since: Option<Provenance>,
}

impl Candidate {
    fn delivery<R: Rules>(&self) -> Option<Delivery> {
        let wakes = |provenance| R::wakes(&self.pair.watcher, provenance);
        match (self.open_since, wakes(self.positions.provenance)) {
            (None, true) => Some(Delivery::AnnounceAndWake),
            (None, false) => Some(Delivery::Announce),
            (Some(before), true) if !wakes(before) => Some(Delivery::Wake),
            (Some(_), _) => None,
        }
    }
}

impl Opened {
    /// A notice opened on this cursor.
    pub fn notice(&mut self, cursor: &Cursor) {
        if let CursorState::Live(positions) = &cursor.state {
            self.openings.push(Candidate {
                pair: cursor.pair.clone(),
                positions: *positions,
                open_since: None,
            });
        }
    }

    /// A cursor's provenance may have grown stronger: a notice that was open on one that does not wake
    /// may wake its watcher from now on.
    pub fn strengthened(&mut self, before: &Cursor, after: &Cursor) {
        if let (CursorState::Live(old), CursorState::Live(new)) = (&before.state, &after.state)
            && new.is_open()
            && old.provenance != new.provenance
        {
            self.openings.push(Candidate {
                pair: after.pair.clone(),
                positions: *new,
                open_since: Some(old.provenance),
            });
        }
    }

    /// Hands what opened to the queue, worded. Returns the notices.
    pub fn enqueue<P: Ports>(self, ports: &mut P) -> Stored<Vec<Notice>> {
        if self.openings.is_empty() {
            return Ok(Vec::new());
        }
        let template = policy::template(ports)?;
        let mut openings = Vec::with_capacity(self.openings.len());
        let mut notices = Vec::with_capacity(self.openings.len());
        for candidate in self.openings {
            let Some(delivery) = candidate.delivery::<P::Rules>() else {
                continue;
            };
            let Candidate { pair, positions, .. } = candidate;
            let notice = notice(&template, &pair, &positions);
            notices.push(notice.clone());
            openings.push(Opening { watcher: pair.watcher, notice, delivery });
        }
        ports.enqueue(&openings);
        Ok(notices)
    }
}

/// A live cursor with an open notice.
pub struct Open {
    /// The cursor.
    pub cursor: Cursor,
    /// Its positions: `notified > last_seen`.
    pub positions: Positions,
    /// The head of its target.
    pub head: Option<Head>,
}

/// The open cursors of a watcher, by `notified`.
pub fn open_of(ports: &mut impl Ports, watcher: &Key) -> Stored<Vec<Open>> {
    if !watcher.is_qualified() {
        return Ok(Vec::new());
    }
    let query = CursorQuery::OpenOf(watcher.as_str().to_string());
    let mut open = open(all_cursors(ports, &query)?)?;
    sort_by_notified(&mut open);
    Ok(open)
}

/// Heapsort: a watcher may have any number of notices, and the library's sort would be 3 KB of the
/// guest for this one list.
fn sort_by_notified(open: &mut [Open]) {
    for parent in (0..open.len() / 2).rev() {
        sift_down(open, parent);
    }
    let mut heap = open;
    while let [first, .., last] = heap {
        core::mem::swap(first, last);
        heap = heap.split_last_mut().map_or(&mut [], |(_, rest)| rest);
        sift_down(heap, 0);
    }
}

/// Moves what stands at `parent` down until nothing below it was notified later.
fn sift_down(heap: &mut [Open], mut parent: usize) {
    loop {
        let mut latest = parent;
        for child in [2 * parent + 1, 2 * parent + 2] {
            if notified(heap, child) > notified(heap, latest) {
                latest = child;
            }
        }
        if latest == parent {
            return;
        }
        if let Ok([upper, lower]) = heap.get_disjoint_mut([parent, latest]) {
            core::mem::swap(upper, lower);
        }
        parent = latest;
    }
}

fn notified(heap: &[Open], at: usize) -> Option<u64> {
    heap.get(at).map(|open| open.positions.notified)
}

fn open(page: Vec<Watched>) -> Stored<Vec<Open>> {
    let mut open = Vec::with_capacity(page.len());
    for Watched { cursor, head } in page {
        let CursorState::Live(positions) = cursor.state else {
            return Err(marked());
        };
        open.push(Open { cursor, positions, head });
    }
    Ok(open)
}

/// The store listed a mark among the live cursors.
#[must_use]
pub fn marked() -> StorageFailure {
    corrupt("a listed cursor is the mark of an unwatch")
}

/// The notice that is open on a cursor.
#[must_use]
pub fn notice(template: &Template, pair: &Pair, positions: &Positions) -> Notice {
    Notice {
        target: pair.target.clone(),
        since: positions.last_seen,
        up_to: positions.notified,
        text: template.word(&pair.target, positions.last_seen),
    }
}

#[cfg(test)]
mod tests;
