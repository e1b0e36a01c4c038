//! Everything that can be seen of a store from outside, and what the model says should be.

use harness::News;
use headsup::{Awareness, Delta, PendingCount, PendingNotice, Session, WatchEntry};

use crate::model::Model;
use crate::operations::{SESSIONS, WATCHERS, session_ref};

/// What a step answered and left behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The operation's own answer, in words.
    pub answer: String,
    /// What came out, in an order that does not depend on who is told first.
    pub news: Vec<News>,
    /// Every live watch, by watcher.
    pub watches: Vec<WatchEntry>,
    /// Every live watch, as asked by target.
    pub watches_by_target: Vec<Vec<WatchEntry>>,
    pub pending: Vec<(String, Vec<PendingNotice>)>,
    pub counts: Vec<PendingCount>,
    pub versions: Vec<Option<u64>>,
    pub deltas: Vec<Asked>,
}

/// A question about changes and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub session: Session,
    pub since: u64,
    pub limit: u32,
    pub delta: Delta,
}

fn session(at: usize) -> Session {
    let (key, agent) = SESSIONS[at];
    harness::session(key, agent)
}

/// In an order that does not depend on who is told first.
pub fn in_order(mut news: Vec<News>) -> Vec<News> {
    news.sort_by_key(|news| format!("{news:?}"));
    news
}

/// The questions worth asking: around every version that means something, and one in pages.
fn questions(model: &Model) -> Vec<(usize, u64, u32)> {
    let mut questions = Vec::new();
    for at in 0..SESSIONS.len() {
        questions.extend(model.telling_versions(&session(at)).into_iter().map(|it| (at, it, 200)));
        questions.push((at, 0, 2));
    }
    questions
}

impl Seen {
    /// What this process sees, after it said `news`.
    pub fn of_gateway(gateway: &Awareness, news: Vec<News>, model: &Model, answer: String) -> Self {
        let list = |watcher: &&str| gateway.watches_of(watcher).expect("a list");
        let pending = |watcher: &&str| {
            let pending = gateway.pending_of(watcher).expect("a list");
            let taken = gateway.take(watcher).expect("a list");
            assert!(pending.iter().map(|it| &it.notice).eq(&taken), "take shows what is pending");
            ((*watcher).to_owned(), pending)
        };
        let ask = |(at, since, limit)| Asked {
            session: session(at),
            since,
            limit,
            delta: gateway.changes_since(session_ref(at), since, Some(limit)).expect("a delta"),
        };
        Self {
            answer,
            news: in_order(news),
            watches: sorted_watchers().iter().flat_map(list).collect(),
            watches_by_target: (0..SESSIONS.len())
                .map(|at| gateway.watchers_of(session_ref(at)).expect("a list"))
                .collect(),
            pending: WATCHERS.iter().map(pending).collect(),
            counts: gateway.pending().expect("counts"),
            versions: gateway.versions((0..SESSIONS.len()).map(session_ref)).expect("versions"),
            deltas: questions(model).into_iter().map(ask).collect(),
        }
    }

    pub fn of_model(model: &mut Model, answer: String) -> Self {
        let watches = model.watches();
        let on = |at| watches.iter().filter(|it| it.target == session(at)).cloned().collect();
        Self {
            answer,
            news: in_order(std::mem::take(&mut model.news)),
            watches_by_target: (0..SESSIONS.len()).map(on).collect(),
            pending: WATCHERS.iter().map(|it| ((*it).to_owned(), model.pending_of(it))).collect(),
            counts: model.pending(),
            versions: (0..SESSIONS.len()).map(|at| model.version(&session(at))).collect(),
            deltas: questions(model)
                .into_iter()
                .map(|(at, since, limit)| Asked {
                    session: session(at),
                    since,
                    limit,
                    delta: model.changes_since(&session(at), since, limit as usize),
                })
                .collect(),
            watches,
        }
    }
}

fn sorted_watchers() -> Vec<&'static str> {
    let mut watchers = WATCHERS.to_vec();
    watchers.sort_unstable();
    watchers
}
