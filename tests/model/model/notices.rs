//! Notices: how they open, are shown and are acknowledged (section 6).

use harness::News;
use headsup::{Notice, PendingCount, PendingNotice, Provenance, Session};

use super::wakes::may_wake;
use super::{Cursor, Live, Model, is_qualified};

impl Model {
    fn notice(cursor: &Cursor, live: Live) -> Notice {
        let (key, agent) = (&cursor.target.key, &cursor.target.agent);
        let named_agent =
            if is_qualified(key) { String::new() } else { format!(r#","agentId":"{agent}""#) };
        let since = live.last_seen;
        let text = format!(
            r#"Session "{key}" was changed by someone else. Catch up before acting: session_status {{"sessionKey":"{key}"{named_agent},"changesSince":{since}}}"#
        );
        Notice { target: cursor.target.clone(), since, up_to: live.notified, text }
    }

    /// A notice opened, or was put back.
    pub(super) fn open(&mut self, cursor: &Cursor) {
        let Some(live) = cursor.live else { return };
        let (watcher, notice) = (cursor.watcher.clone(), Self::notice(cursor, live));
        self.news.push(News::Notice { watcher, notice });
        if may_wake(&cursor.watcher, live.provenance) {
            self.opening_wakes(&cursor.watcher, &cursor.target, live.last_seen);
        }
    }

    pub(super) fn wake_if_strengthened(
        &mut self,
        watcher: &str,
        target: &Session,
        before: Option<Live>,
    ) {
        let after = self.find(watcher, target).and_then(|cursor| cursor.live);
        if let (Some(before), Some(after)) = (before, after)
            && before.provenance == Provenance::Ambient
            && after.notified > after.last_seen
            && may_wake(watcher, after.provenance)
        {
            self.opening_wakes(watcher, target, after.last_seen);
        }
    }

    pub fn pending_of(&self, watcher: &str) -> Vec<PendingNotice> {
        let mut pending: Vec<PendingNotice> = Vec::new();
        for cursor in self.cursors.iter().filter(|cursor| cursor.watcher == watcher) {
            if let Some(live) = cursor.live
                && live.notified > live.last_seen
            {
                let wakes = may_wake(watcher, live.provenance);
                pending.push(PendingNotice { notice: Self::notice(cursor, live), wakes });
            }
        }
        pending.sort_by_key(|it| it.notice.up_to);
        pending
    }

    pub fn take(&self, watcher: &str) -> Vec<Notice> {
        self.pending_of(watcher).into_iter().map(|pending| pending.notice).collect()
    }

    pub fn pending(&self) -> Vec<PendingCount> {
        let mut watchers: Vec<&String> = self.cursors.iter().map(|it| &it.watcher).collect();
        watchers.sort();
        watchers.dedup();
        let counts = watchers.into_iter().map(|watcher| PendingCount {
            watcher: watcher.clone(),
            notices: u32::try_from(self.pending_of(watcher).len()).unwrap_or(u32::MAX),
        });
        counts.filter(|count| count.notices > 0).collect()
    }

    /// Whether it counted, and the notice that opened for the rest.
    pub fn acknowledge(
        &mut self,
        watcher: &str,
        target: &Session,
        since: u64,
        up_to: u64,
    ) -> (bool, Option<Notice>) {
        let Some(mut cursor) = self.find(watcher, target).cloned() else { return (false, None) };
        let Some(live) = cursor.live else { return (false, None) };
        if live.last_seen != since || since >= up_to || up_to > live.notified {
            return (false, None);
        }
        let notified = self.material(&cursor, up_to);
        let live = Live { last_seen: up_to, notified, ..live };
        self.put(watcher, target, live);
        cursor.live = Some(live);
        if notified == up_to {
            return (true, None);
        }
        self.open(&cursor);
        (true, Some(Self::notice(&cursor, live)))
    }
}
