//! Who is woken when, by one process (section 6).

use harness::{MINUTE, News, SECOND};
use headsup::{Provenance, Session};

use super::Model;

const WINDOW: u64 = 20 * SECOND;
const REMINDER: u64 = 15 * MINUTE;

/// A watcher that this process has woken.
#[derive(Clone, Debug)]
pub struct Woken {
    pub watcher: String,
    pub at: u64,
    /// What opened since, within the window: target and `since`.
    pub since: Vec<(Session, u64)>,
}

/// Whether a notice may wake its watcher.
pub fn may_wake(watcher: &str, provenance: Provenance) -> bool {
    let nested = watcher.split(':').nth(2) == Some("subagent");
    provenance != Provenance::Ambient && !nested
}

impl Model {
    /// A notice that may wake its watcher opened, or may from now on.
    pub fn opening_wakes(&mut self, watcher: &str, target: &Session, since: u64) {
        let now = self.now;
        match self.wakes.iter_mut().find(|woken| woken.watcher == watcher) {
            Some(woken) if now < woken.at + WINDOW => {
                woken.since.push((target.clone(), since));
            }
            Some(woken) => {
                woken.at = now;
                woken.since.clear();
                self.news.push(News::Wake(watcher.to_owned()));
            }
            None => {
                self.wakes.push(Woken { watcher: watcher.to_owned(), at: now, since: Vec::new() });
                self.news.push(News::Wake(watcher.to_owned()));
            }
        }
    }

    /// Time is `now`: what was due fires once.
    pub fn clock(&mut self, now: u64) {
        self.now = now;
        for mut woken in std::mem::take(&mut self.wakes) {
            // A clock that went back must neither storm nor fall silent: woken "later" is now.
            woken.at = woken.at.min(now);
            let pending: Vec<(Session, u64)> = self
                .pending_of(&woken.watcher)
                .into_iter()
                .filter(|pending| pending.wakes)
                .map(|pending| (pending.notice.target, pending.notice.since))
                .collect();
            let window_over = now >= woken.at + WINDOW;
            let shared = window_over && woken.since.iter().any(|it| pending.contains(it));
            let reminder_due = now >= woken.at + REMINDER;
            if window_over {
                woken.since.clear();
            }
            if shared || reminder_due && !pending.is_empty() {
                woken.at = now;
                self.news.push(News::Wake(woken.watcher.clone()));
            } else if reminder_due {
                // Nothing to remind of: this wake is history.
                continue;
            }
            self.wakes.push(woken);
        }
    }
}
