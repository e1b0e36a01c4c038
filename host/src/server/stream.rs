//! One event stream: first everything that is pending, then what happens, until its reader goes,
//! is too slow, or the server stops.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::Frame;
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::spawn_blocking;

use super::events::{End, Events, Filter, Subscription, frame};
use crate::awareness::Awareness;
use crate::contract::PendingNotice;
use crate::error::Error;
use crate::rpc::Notification;

/// How long a reader waits before it connects again, unless it knows better, in ms.
const RETRY_MS: u32 = 1_000;

/// Events that are at hand are sent together up to about so many bytes.
const CHUNK: usize = 32 << 10;

/// Watchers whose pending notices are read at once.
const WATCHERS: usize = 64;

/// One stream on its way.
pub(super) struct Stream {
    awareness: Awareness,
    events: Arc<Events>,
    subscription: Subscription,
    /// The newest event that its reader has seen, by number; 0 if it comes for the first time.
    seen: u64,
    keep_alive: Duration,
    /// Held as long as the stream lives.
    _slot: OwnedSemaphorePermit,
    phase: Phase,
    /// Pending notices that were sent.
    pending: u64,
}

enum Phase {
    /// Nothing was sent yet.
    Greeting(Filter),
    /// What is pending for these watchers is still to be sent.
    Pending(VecDeque<String>),
    /// Events are sent as they happen.
    Live,
    Ended,
}

impl Stream {
    /// A stream for these watchers over a subscription that was made before anything is read, so
    /// that nothing falls in between.
    pub(super) fn new(
        awareness: Awareness,
        events: Arc<Events>,
        (subscription, filter): (Subscription, Filter),
        seen: u64,
        keep_alive: Duration,
        slot: OwnedSemaphorePermit,
    ) -> Self {
        let phase = Phase::Greeting(filter);
        Self { awareness, events, subscription, seen, keep_alive, _slot: slot, phase, pending: 0 }
    }

    /// As the body of a response.
    pub(super) fn into_body(self) -> Body {
        Body::new(Turns { turn: Some(Box::pin(self.next())) })
    }

    /// What is sent next, and the rest of the stream.
    async fn next(mut self) -> Option<(Bytes, Self)> {
        loop {
            let sent = match std::mem::replace(&mut self.phase, Phase::Ended) {
                Phase::Greeting(filter) => self.greet(filter).await,
                Phase::Pending(watchers) => self.tell_pending(watchers).await,
                Phase::Live => Some(self.live().await),
                Phase::Ended => return None,
            };
            if let Some(sent) = sent {
                return Some((sent, self));
            }
        }
    }

    async fn greet(&mut self, filter: Filter) -> Option<Bytes> {
        let watchers = match filter {
            Some(watchers) => Ok(watchers.into_iter().collect()),
            None => self.read(Awareness::pending).await.map(|counts| {
                counts.into_iter().map(|count| count.watcher).collect::<VecDeque<_>>()
            }),
        };
        let greeting = format!("retry: {RETRY_MS}\n\n");
        Some(match watchers {
            Ok(watchers) => {
                self.phase = Phase::Pending(watchers);
                greeting.into()
            }
            Err(reason) => (greeting + &end(&reason)).into(),
        })
    }

    /// The notices of some watchers, or that these were all of them.
    async fn tell_pending(&mut self, mut watchers: VecDeque<String>) -> Option<Bytes> {
        if watchers.is_empty() {
            self.phase = Phase::Live;
            let id = self.events.id(self.subscription.position);
            let data = json!({ "pending": self.pending }).to_string();
            return Some(frame(Some(&id), "ready", &data).into());
        }
        let rest = watchers.split_off(watchers.len().min(WATCHERS));
        let read = self.read(move |awareness| {
            let notices = |watcher: String| awareness.pending_of(&watcher).map(|it| (watcher, it));
            watchers.into_iter().map(notices).collect::<Result<Vec<_>, Error>>()
        });
        let pending = match read.await {
            Ok(pending) => pending,
            Err(reason) => return Some(end(&reason).into()),
        };
        let mut sent = String::new();
        for (watcher, notices) in pending {
            self.word(&mut sent, &watcher, &notices);
        }
        self.phase = Phase::Pending(rest);
        (!sent.is_empty()).then(|| sent.into())
    }

    /// A watcher's notices; and its last wake, unless its reader has seen it.
    fn word(&mut self, sent: &mut String, watcher: &str, notices: &[PendingNotice]) {
        for pending in notices {
            let notice = Notification::notice(watcher, &pending.notice);
            sent.push_str(&frame(None, notice.method(), &notice.params()));
            self.pending += 1;
        }
        let may_wake = notices.iter().any(|pending| pending.wakes);
        if may_wake && self.events.woken_since(watcher, self.seen) {
            let wake = Notification::wake(watcher);
            sent.push_str(&frame(None, wake.method(), &wake.params()));
        }
    }

    async fn live(&mut self) -> Bytes {
        let next = tokio::time::timeout(self.keep_alive, self.subscription.queue.recv());
        let sent = match next.await {
            Err(_) => Bytes::from_static(b": nothing happened\n\n"),
            Ok(Some(first)) => self.with_what_is_at_hand(first),
            Ok(None) => {
                let reason = match self.subscription.end.get() {
                    Some(End::TooSlow) => "too-slow",
                    Some(End::Stopping) | None => "stopping",
                };
                return end(reason).into();
            }
        };
        self.phase = Phase::Live;
        sent
    }

    fn with_what_is_at_hand(&mut self, first: Bytes) -> Bytes {
        let Ok(second) = self.subscription.queue.try_recv() else {
            return first;
        };
        let mut together = [first, second].concat();
        while together.len() < CHUNK
            && let Ok(next) = self.subscription.queue.try_recv()
        {
            together.extend_from_slice(&next);
        }
        together.into()
    }

    /// Reads from the store. The reason if that failed.
    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Awareness) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, String> {
        let awareness = self.awareness.clone();
        match spawn_blocking(move || read(&awareness)).await {
            Ok(read) => read.map_err(|error| error.reason().to_owned()),
            Err(_) => Err("unavailable".to_owned()),
        }
    }
}

/// The last event of a stream.
fn end(reason: &str) -> String {
    frame(None, "end", &json!({ "reason": reason }).to_string())
}

/// What is sent, and the stream that goes on behind it.
type Turn = dyn Future<Output = Option<(Bytes, Stream)>> + Send;

/// A body of what a stream sends, turn by turn.
struct Turns {
    turn: Option<Pin<Box<Turn>>>,
}

impl HttpBody for Turns {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Some(turn) = &mut self.turn else {
            return Poll::Ready(None);
        };
        match turn.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                self.turn = None;
                Poll::Ready(None)
            }
            Poll::Ready(Some((sent, rest))) => {
                self.turn = Some(Box::pin(rest.next()));
                Poll::Ready(Some(Ok(Frame::data(sent))))
            }
        }
    }
}
