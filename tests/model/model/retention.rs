//! Life cycle, retention and recovery (section 8).

use harness::{DAY, HOUR};
use headsup::{Event, Session};

use super::{Cursor, Head, Model};

impl Model {
    /// How many live cursors went.
    pub fn reset(&mut self, session: &Session) -> u32 {
        self.drop_cursors(|it| it.watcher == session.key && it.live.is_some()).0
    }

    /// How many live cursors and how many events went.
    pub fn delete(&mut self, session: &Session) -> (u32, u32) {
        let (cursors, _) =
            self.drop_cursors(|it| it.target == *session || it.watcher == session.key);
        let gone = self.remove_events(|event| event.session == *session);
        self.notifying.retain(|(it, ..)| it != session);
        let now = self.now;
        if let Some(head) = self.heads.iter_mut().find(|head| head.session == *session) {
            // Every version up to this one answers with a gap, whatever was pruned before.
            self.removed.push((session.clone(), head.version));
            head.version = 0;
            head.moved = now;
        }
        (cursors, gone)
    }

    /// How many live ones and how many in all went.
    fn drop_cursors(&mut self, goes: impl Fn(&Cursor) -> bool) -> (u32, u32) {
        let (mut live, mut all) = (0, 0);
        self.cursors.retain(|cursor| {
            let goes = goes(cursor);
            all += u32::from(goes);
            live += u32::from(goes && cursor.live.is_some());
            !goes
        });
        (live, all)
    }

    fn remove_events(&mut self, goes: impl Fn(&Event) -> bool) -> u32 {
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.events).into_iter().partition(|(event, _)| goes(event));
        self.events = kept;
        let count = gone.len();
        self.removed.extend(gone.into_iter().map(|(event, _)| (event.session, event.sequence)));
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// An hour has passed since the last prune, or there was none, or the clock went back.
    pub fn is_prune_due(&self) -> bool {
        self.pruned_at.is_none_or(|at| self.now < at || self.now >= at + HOUR)
    }

    /// A prune as a start or an hour causes it. Events and cursors that went.
    pub fn prune(&mut self) -> (u32, u32) {
        let jumped = self.pruned_at.is_some_and(|at| at.abs_diff(self.now) > DAY);
        if jumped || self.jumped_at.is_some_and(|at| self.now < at) {
            self.jumped_at = Some(self.now);
        }
        let settled = self.jumped_at.is_none_or(|at| self.now >= at + HOUR);
        if settled {
            self.jumped_at = None;
        }
        self.pruned_at = Some(self.now);
        self.prune_now(settled)
    }

    fn prune_now(&mut self, by_age: bool) -> (u32, u32) {
        let surplus = self.events.len().saturating_sub(self.history_rows);
        let newest_surplus =
            self.events.iter().map(|(event, _)| event.sequence).take(surplus).max().unwrap_or(0);
        let cutoff = self.now.saturating_sub(self.history_days * DAY);
        let events = self.remove_events(|event| {
            event.sequence <= newest_surplus || by_age && event.occurred_at < cutoff
        });
        if !by_age {
            return (events, 0);
        }
        let cutoff = self.now.saturating_sub(self.cursor_days * DAY);
        let model = self.clone();
        let (_, cursors) = self.drop_cursors(|cursor| model.last_move(cursor) < cutoff);
        let forgotten = |head: &Head| head.version == 0 && head.moved < cutoff;
        let gone: Vec<Session> =
            self.heads.iter().filter(|it| forgotten(it)).map(|it| it.session.clone()).collect();
        self.heads.retain(|head| !forgotten(head));
        self.removed.retain(|(session, _)| !gone.contains(session));
        (events, cursors)
    }

    /// How many notices were put back, and how many events were pruned before.
    pub fn recover(&mut self, prune_first: bool) -> (u32, u32) {
        let mut pruned = 0;
        if prune_first {
            pruned = self.prune_now(true).0;
            self.pruned_at = Some(self.now);
            self.jumped_at = None;
        }
        let mut count = 0;
        // In the order of the contract, which decides whose opening wakes and whose waits.
        self.cursors.sort_by(|one, other| one.pair().cmp(&other.pair()));
        for at in 0..self.cursors.len() {
            let mut cursor = self.cursors[at].clone();
            if let Some(mut live) = cursor.live
                && live.notified > live.last_seen
            {
                live.notified = self.material(&cursor, live.last_seen);
                cursor.live = Some(live);
                self.cursors[at].live = cursor.live;
                self.open(&cursor);
                count += 1;
            }
        }
        (count, pruned)
    }

    pub fn restored(&mut self) -> u64 {
        self.sequence += 1 << 32;
        self.restored_at = self.sequence;
        for head in self.heads.iter_mut().filter(|head| head.version > 0) {
            head.version = self.sequence;
        }
        self.sequence
    }

    /// Another process starts on the store: it prunes, then recovers, and has woken nobody.
    pub fn start(&mut self) {
        self.wakes.clear();
        self.prune();
        self.recover(false);
    }
}
