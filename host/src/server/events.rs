//! What happens, handed to every event stream that wants it.
//!
//! Each event gets a number. It is in the queue of every stream when the call that caused it
//! returns, which is before that call is answered. All streams get events in one order.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use tokio::sync::mpsc::{self, error::TrySendError};

use crate::contract::{Level, Notice};
use crate::queue::Listener;
use crate::rpc::Notification;

/// Watchers whose last wake is remembered. One that is forgotten is not told of it anew when it
/// connects, and is woken by the reminder.
const WOKEN: usize = 100_000;

/// Every event of a process, for streams to subscribe to. Give it to
/// [`Builder::listener`](crate::Builder::listener), and to [`Bound::serve`](super::Bound::serve).
#[derive(Debug)]
pub struct Events {
    /// Tells this process from an earlier one, whose numbers mean nothing any more.
    epoch: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    readers: Vec<Reader>,
    /// The number of the last wake of each watcher.
    woken: HashMap<String, u64>,
    closed: bool,
}

/// What was counted since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Every event; the number of the newest.
    pub(super) events: u64,
    pub(super) notices: u64,
    pub(super) wakes: u64,
    pub(super) warnings: u64,
    pub(super) errors: u64,
    /// Streams that were ended because their reader was too slow; which is also how many events
    /// found no place in a queue, because each was the last for its stream.
    pub(super) overflows: u64,
}

/// Whom a stream is for: its watchers, or everybody.
pub(super) type Filter = Option<HashSet<String>>;

#[derive(Debug)]
struct Reader {
    filter: Filter,
    queue: mpsc::Sender<Bytes>,
    end: Arc<OnceLock<End>>,
}

/// Why a stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// More events waited for its reader than may.
    TooSlow,
    /// The server stops.
    Stopping,
}

/// One stream's end of it all.
#[derive(Debug)]
pub(super) struct Subscription {
    /// Whole events, as they are sent. Closed when the stream ends.
    pub(super) queue: mpsc::Receiver<Bytes>,
    /// Why, once it is closed.
    pub(super) end: Arc<OnceLock<End>>,
    /// The newest event before the first of the queue.
    pub(super) position: u64,
}

impl Default for Events {
    fn default() -> Self {
        Self::new()
    }
}

impl Events {
    /// Nothing has happened yet.
    #[must_use]
    pub fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Processes that start in the same moment differ in their ids.
        let start = now.as_nanos() ^ (u128::from(std::process::id()) << 64);
        Self { epoch: format!("{start:x}"), state: Mutex::default() }
    }

    /// The id of an event.
    pub(super) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// The number behind an id that this process gave.
    pub(super) fn number(&self, id: &str) -> Option<u64> {
        id.strip_prefix(self.epoch.as_str())?.strip_prefix('-')?.parse().ok()
    }

    /// The id of the newest event.
    pub(super) fn newest(&self) -> String {
        let number = self.lock().counts.events;
        self.id(number)
    }

    pub(super) fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// Has events to come put into a queue of this length.
    pub(super) fn subscribe(&self, filter: Filter, length: usize) -> Subscription {
        let (sender, queue) = mpsc::channel(length.max(1));
        let end = Arc::new(OnceLock::new());
        let mut state = self.lock();
        state.readers.retain(|reader| !reader.queue.is_closed());
        if state.closed {
            // `sender` goes, and with it the stream.
            let _ = end.set(End::Stopping);
        } else {
            state.readers.push(Reader { filter, queue: sender, end: Arc::clone(&end) });
        }
        Subscription { queue, end, position: state.counts.events }
    }

    /// Whether this watcher was woken after that event.
    pub(super) fn woken_since(&self, watcher: &str, number: u64) -> bool {
        self.lock().woken.get(watcher).is_some_and(|last| *last > number)
    }

    /// Ends every stream, and each that comes.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for reader in state.readers.drain(..) {
            let _ = reader.end.set(End::Stopping);
        }
    }

    fn publish(&self, watcher: Option<&str>, event: &Notification<'_>) {
        let mut state = self.lock();
        let state = &mut *state;
        state.counts.events += 1;
        let number = state.counts.events;
        match event {
            Notification::Notice { .. } => state.counts.notices += 1,
            Notification::Wake { .. } => state.counts.wakes += 1,
            Notification::Log { level: "error", .. } => state.counts.errors += 1,
            Notification::Log { .. } => state.counts.warnings += 1,
        }
        if let (Notification::Wake { .. }, Some(watcher)) = (event, watcher) {
            remember(&mut state.woken, watcher, number);
        }
        if state.readers.iter().any(|reader| reader.wants(watcher)) {
            let id = self.id(number);
            let frame = Bytes::from(frame(Some(&id), event.method(), &event.params()));
            let overflows = &mut state.counts.overflows;
            state.readers.retain(|reader| reader.take(watcher, &frame, overflows));
        }
    }

    /// Nobody else's code runs under the lock, so a poisoned one is whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// A stream for some watchers carries what is theirs; one for all of them the log as well.
    fn wants(&self, watcher: Option<&str>) -> bool {
        match (&self.filter, watcher) {
            (None, _) => true,
            (Some(filter), Some(watcher)) => filter.contains(watcher),
            (Some(_), None) => false,
        }
    }

    /// Queues an event. Returns whether the stream goes on.
    fn take(&self, watcher: Option<&str>, frame: &Bytes, overflows: &mut u64) -> bool {
        if !self.wants(watcher) {
            return !self.queue.is_closed();
        }
        match self.queue.try_send(frame.clone()) {
            Ok(()) => true,
            Err(TrySendError::Closed(_)) => false,
            Err(TrySendError::Full(_)) => {
                *overflows += 1;
                let _ = self.end.set(End::TooSlow);
                false
            }
        }
    }
}

fn remember(woken: &mut HashMap<String, u64>, watcher: &str, number: u64) {
    if let Some(last) = woken.get_mut(watcher) {
        *last = number;
        return;
    }
    if woken.len() >= WOKEN {
        // Numbers are given once, so this leaves half at most.
        let floor = number.saturating_sub(WOKEN as u64 / 2);
        woken.retain(|_, last| *last > floor);
    }
    woken.insert(watcher.to_owned(), number);
}

/// One event, as a stream sends it. `data` has no line break.
pub(super) fn frame(id: Option<&str>, event: &str, data: &str) -> String {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    format!("{id}event: {event}\ndata: {data}\n\n")
}

impl Listener for Arc<Events> {
    fn notice(&self, watcher: &str, notice: &Notice) {
        self.publish(Some(watcher), &Notification::notice(watcher, notice));
    }

    fn wake(&self, watcher: &str) {
        self.publish(Some(watcher), &Notification::wake(watcher));
    }

    /// What was lost or needs an operator. The log itself is another listener's.
    fn log(&self, level: Level, message: &str) {
        if let Some(line) = Notification::log(level, message) {
            self.publish(None, &line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(subscription: &mut Subscription) -> Vec<String> {
        let mut all = Vec::new();
        while let Ok(frame) = subscription.queue.try_recv() {
            all.push(String::from_utf8(frame.to_vec()).unwrap());
        }
        all
    }

    fn only(watcher: &str) -> HashSet<String> {
        HashSet::from([watcher.to_owned()])
    }

    #[test]
    fn an_event_is_queued_once_the_listener_was_told() {
        let events = Arc::new(Events::new());
        let mut all = events.subscribe(None, 10);
        events.wake("agent:main:main");
        let id = events.newest();
        let expected =
            format!("id: {id}\nevent: wake\ndata: {{\"watcher\":\"agent:main:main\"}}\n\n");
        assert_eq!(drain(&mut all), [expected]);
        assert_eq!(events.number(&id), Some(1));
    }

    #[test]
    fn a_stream_for_a_watcher_carries_its_own_events_and_no_log() {
        let events = Arc::new(Events::new());
        let mut one = events.subscribe(Some(only("a")), 10);
        let mut all = events.subscribe(None, 10);
        events.wake("a");
        events.wake("b");
        events.log(Level::Error, "lost");
        events.log(Level::Info, "for the log alone");
        assert_eq!(drain(&mut one).len(), 1);
        assert_eq!(drain(&mut all).len(), 3);
    }

    #[test]
    fn a_queue_that_is_full_ends_its_stream_after_what_is_in_it_and_no_other() {
        let events = Arc::new(Events::new());
        let mut slow = events.subscribe(None, 2);
        let mut quick = events.subscribe(None, 10);
        (0..3).for_each(|_| events.wake("a"));
        assert_eq!(drain(&mut slow).len(), 2);
        assert!(slow.queue.is_closed() && slow.end.get() == Some(&End::TooSlow));
        assert_eq!(drain(&mut quick).len(), 3);
        assert_eq!(events.counts().overflows, 1);
    }

    #[test]
    fn closing_ends_the_streams_that_are_and_those_that_come() {
        let events = Arc::new(Events::new());
        let before = events.subscribe(None, 2);
        events.close();
        let after = events.subscribe(None, 2);
        for stream in [before, after] {
            assert!(stream.queue.is_closed() && stream.end.get() == Some(&End::Stopping));
        }
    }

    #[test]
    fn wakes_are_remembered_and_those_of_another_process_are_none_of_ours() {
        let events = Arc::new(Events::new());
        events.wake("a");
        let seen = events.number(&events.newest()).unwrap();
        assert!(events.woken_since("a", 0) && !events.woken_since("a", seen));
        assert!(!events.woken_since("b", 0));
        assert_eq!(events.number("1-1"), None);
        assert_eq!(events.number("nonsense"), None);
    }

    #[test]
    fn watchers_whose_wakes_are_remembered_are_bounded() {
        let mut woken = HashMap::new();
        for number in 1..=3 * WOKEN as u64 {
            remember(&mut woken, &number.to_string(), number);
            assert!(woken.len() <= WOKEN);
        }
        assert!(woken.contains_key(&(3 * WOKEN as u64).to_string()));
    }
}
