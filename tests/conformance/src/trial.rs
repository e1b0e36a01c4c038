//! What a step works with: the verbs, each of which must succeed; what must be and what was, told in
//! words; notes for later steps; the rival.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::contract::{
    AppendOutcome, AppendRequest, Appended, Breach, Changes, ClaimRequest, Cursor, CursorQuery,
    Entry, Finding, Head, HeadChange, LogPage, News, Notifying, Pair, PairState, PendingCount,
    PruneRequest, Pruning, Removal, Session, Setting, StorageFailure, Upstream, Watched, rival,
    settings, storage,
};
use crate::material;
use crate::play::Stop;

/// What a verb answered; if it failed, that was told, and the step is over.
pub type Verb<T> = Result<T, Stop>;

/// Longer values are cut in findings, which are read by people: so many characters.
const SHOWN: usize = 600;

/// A running step.
pub struct Trial {
    /// What reached the gateway since the step before began.
    pub news: News,
    findings: Vec<Finding>,
    serial: u64,
}

/// Ends a step in a trap, without a word: a panic would say something to the log.
pub fn trap() -> ! {
    core::arch::wasm32::unreachable()
}

/// A host asked for a step that there is not.
pub fn no_such_step(which: u32, step: u32) -> Finding {
    broken(
        &format!("step {step} of case {which}"),
        "be one of those that `cases` names, both counted from 0".to_string(),
        "none of them".to_string(),
    )
}

fn broken(asked: &str, must: String, was: String) -> Finding {
    Finding::Broken(Breach { asked: asked.to_string(), must, was })
}

fn shown(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl Trial {
    pub fn new(news: News) -> Self {
        Self { news, findings: Vec::new(), serial: 0 }
    }

    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// What was must equal what must be.
    pub fn must_be<W, M>(&mut self, asked: &str, was: &W, must: &M)
    where
        W: Debug + PartialEq<M> + ?Sized,
        M: Debug + ?Sized,
    {
        if was != must {
            self.findings.push(broken(asked, shown(&must), shown(&was)));
        }
    }

    /// Something must hold; `must` says it in words.
    pub fn must(&mut self, asked: &str, holds: bool, must: &str, was: &impl Debug) {
        if !holds {
            self.findings.push(broken(asked, must.to_string(), shown(was)));
        }
    }

    /// A verb must fail here, whatever it answers else.
    pub fn must_fail<T: Debug>(&mut self, asked: &str, answer: &Result<T, StorageFailure>) {
        self.must(asked, answer.is_err(), "fail", answer);
    }

    /// A rule cannot be examined.
    pub fn unexamined(&mut self, why: &str) {
        self.findings.push(Finding::Unexamined(why.to_string()));
    }

    /// Has the host run a step as a rival, in the middle of this one. Without a rival this step is
    /// over; `rule` says what was not examined.
    pub fn rival(&mut self, step: u32, rule: &str) -> Verb<()> {
        rival::run(step).map_err(|why| {
            self.unexamined(&format!("{rule}: no rival could run, because {why}"));
            Stop::Stuck
        })
    }

    /// A number that this step did not use before.
    pub fn serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    /// Keeps a number for later steps, in the settings of the store: an instance keeps nothing.
    pub fn note(&mut self, name: &str, number: u64) -> Verb<()> {
        self.set(&[(&noted(name), &number.to_string())])
    }

    /// A number that an earlier step kept. A step whose note is missing is over: if its case did not
    /// end there on purpose, the missing setting is told.
    pub fn noted(&mut self, name: &str) -> Verb<u64> {
        let value = self.get(&[&noted(name)])?.pop().flatten();
        let number = value.as_deref().and_then(|text| text.parse().ok());
        number.ok_or_else(|| {
            let must = "be there as an earlier step set it, which ended well";
            self.must(&format!("`settings.get` of `{}`", noted(name)), false, must, &value);
            Stop::Stuck
        })
    }

    /// Whether an earlier step kept a number under this name.
    pub fn has_noted(&mut self, name: &str) -> Verb<bool> {
        Ok(self.get(&[&noted(name)])?.pop().flatten().is_some())
    }

    fn verb<T>(&mut self, name: &str, answer: Result<T, StorageFailure>) -> Verb<T> {
        answer.map_err(|failure| {
            let was = format!("it failed, {:?}: {}", failure.fault, failure.message);
            self.findings.push(broken(&format!("`{name}`"), "succeed".to_string(), was));
            Stop::Stuck
        })
    }
}

fn noted(name: &str) -> String {
    format!("examination.{name}")
}

/// The verbs.
impl Trial {
    pub fn append(&mut self, request: &AppendRequest) -> Verb<AppendOutcome> {
        self.verb("append", storage::append(request))
    }

    /// Appends what nothing keeps from being appended.
    pub fn appended(&mut self, request: &AppendRequest) -> Verb<Appended> {
        match self.append(request)? {
            AppendOutcome::Appended(appended) => Ok(appended),
            other => {
                let must = "answer `appended`: nothing stands against it";
                self.must("`append`", false, must, &other);
                Err(Stop::Stuck)
            }
        }
    }

    /// Appends an entry and saves the head that follows from it, as a core does for an event that
    /// notifies. Returns its number.
    pub fn record(&mut self, entry: Entry) -> Verb<u64> {
        let session = entry.session.clone();
        let moved_at = entry.occurred_at;
        let actor = entry.actor_id.clone();
        let appended = self.appended(&material::request(entry))?;
        let version = appended.sequence;
        let head = Head {
            version,
            watermark: appended.head.map_or(0, |head| head.watermark),
            notifying: Some(Notifying { newest: version, actor, other: 0 }),
            moved_at,
        };
        self.save_heads(&[(session, head)])?;
        Ok(version)
    }

    pub fn save_heads(&mut self, heads: &[(Session, Head)]) -> Verb<()> {
        let change = |(session, head): &(Session, Head)| HeadChange {
            session: session.clone(),
            head: head.clone(),
        };
        let heads = heads.iter().map(change).collect();
        self.verb("save", storage::save(&Changes { heads, cursors: Vec::new() }))
    }

    pub fn save_cursors(&mut self, cursors: &[Cursor]) -> Verb<()> {
        let changes = Changes { heads: Vec::new(), cursors: cursors.to_vec() };
        self.verb("save", storage::save(&changes))
    }

    pub fn cursors(
        &mut self,
        query: &CursorQuery,
        after: Option<&Pair>,
        limit: u32,
    ) -> Verb<Vec<Watched>> {
        self.verb("cursors", storage::cursors(query, after, limit))
    }

    pub fn pairs(&mut self, pairs: &[Pair]) -> Verb<Vec<PairState>> {
        self.verb("pairs", storage::pairs(pairs))
    }

    /// What stands between pairs, without the heads.
    pub fn between(&mut self, pairs: &[Pair]) -> Verb<Vec<Option<Cursor>>> {
        Ok(self.pairs(pairs)?.into_iter().map(|state| state.cursor).collect())
    }

    pub fn open_counts(&mut self) -> Verb<Vec<PendingCount>> {
        self.verb("open-counts", storage::open_counts())
    }

    pub fn heads(&mut self, sessions: &[Session]) -> Verb<Vec<Option<Head>>> {
        self.verb("heads", storage::heads(sessions))
    }

    pub fn head(&mut self, session: &Session) -> Verb<Option<Head>> {
        Ok(self.heads(core::slice::from_ref(session))?.pop().flatten())
    }

    pub fn history(&mut self, session: &Session, after: u64, limit: u32) -> Verb<LogPage> {
        self.verb("history", storage::history(session, after, limit))
    }

    /// The numbers of a session's rows after a version.
    pub fn numbers(&mut self, session: &Session, after: u64, limit: u32) -> Verb<Vec<u64>> {
        let page = self.history(session, after, limit)?;
        Ok(page.rows.iter().map(|row| row.sequence).collect())
    }

    pub fn reset(&mut self, watcher: &str) -> Verb<u32> {
        self.verb("reset", storage::reset(watcher))
    }

    pub fn delete(&mut self, session: &Session, now: u64) -> Verb<Removal> {
        self.verb("delete", storage::delete(session, now))
    }

    pub fn prune(&mut self, request: PruneRequest) -> Verb<Pruning> {
        self.verb("prune", storage::prune(request))
    }

    pub fn restored(&mut self, by: u64) -> Verb<u64> {
        self.verb("restored", storage::restored(by))
    }

    pub fn upstream_of(&mut self, session: &Session) -> Verb<Upstream> {
        self.verb("upstream-of", storage::upstream_of(session))
    }

    pub fn save_upstream(&mut self, upstream: &Upstream, now: u64) -> Verb<()> {
        self.verb("save-upstream", storage::save_upstream(upstream, now))
    }

    pub fn claim(&mut self, request: &ClaimRequest) -> Verb<Vec<Upstream>> {
        self.verb("claim", storage::claim(request))
    }

    pub fn get(&mut self, names: &[&str]) -> Verb<Vec<Option<String>>> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        self.verb("settings.get", settings::get(&names))
    }

    pub fn set(&mut self, values: &[(&str, &str)]) -> Verb<()> {
        let setting = |(name, value): &(&str, &str)| Setting {
            name: (*name).to_string(),
            value: (*value).to_string(),
        };
        let values: Vec<Setting> = values.iter().map(setting).collect();
        self.verb("settings.set", settings::set(&values))
    }
}
