//! The typed API for adopted sessions: sessions that live in another tool, where people may write to
//! them directly.

use std::sync::Arc;

use crate::awareness::Awareness;
use crate::contract::{
    Adopted, AdoptionRequest, Check, Found, Plan, Reader, Selection, SessionRef, Source, Tally,
};
use crate::error::Error;
use crate::storage::{LinkState, Store};

impl Awareness {
    /// Adopts a session: what people do where it really lives is recorded from now on, as a human
    /// direct message with the catalog as its channel, while somebody watches it. History is never
    /// reported. A file is read before this returns, inside the folders that
    /// [`Builder::source_folders`](crate::Builder::source_folders) allows.
    ///
    /// Adopting again from the same source keeps the position; from another one, the session starts
    /// over there.
    ///
    /// ```
    /// use headsup::{AdoptionRequest, Awareness, Source};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let transcript = folder.path().join("3f2a.jsonl");
    /// # std::fs::write(&transcript, "{\"type\":\"summary\"}\n")?;
    /// # let (projects, transcript) = (folder.path(), transcript.to_str().unwrap());
    /// let awareness = Awareness::builder(":memory:").source_folders([projects]).open()?;
    /// let request = AdoptionRequest::new("agent:main:worker", Source::claude_file(transcript), "claude");
    /// assert!(awareness.adopt(request.clone())?.adopted);
    /// assert!(!awareness.adopt(request)?.adopted);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] also if the source is not there (`source-missing`), cannot be read
    /// (`source-unavailable`) or lies outside the folders that are allowed (`source-refused`).
    pub fn adopt(&self, request: AdoptionRequest) -> Result<Adopted, Error> {
        let Source { place, thread, .. } = &request.source;
        // What has a thread is on a node. Whatever else is wrong with it, the core says.
        let found = thread.is_none().then(|| self.inner.checks.read_ends(place.clone()));
        self.write_long(move |core, guest| {
            let upstreams = core.headsup_awareness_upstreams();
            upstreams.call_adopt(guest, &request, found.as_ref())
        })
    }

    /// The gateway itself sent this user-role text to the session: where it turns up in the
    /// session's source, it is no human turn. Only hashes of the last 10 are kept. Say it before the
    /// text goes out.
    ///
    /// ```
    /// # let awareness = headsup::Awareness::builder(":memory:").open()?;
    /// awareness.sent("agent:main:worker", "Please run the tests.")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sent(&self, session: impl Into<SessionRef>, text: &str) -> Result<(), Error> {
        let (session, text) = (session.into(), text.to_owned());
        self.write(move |core, guest| {
            core.headsup_awareness_upstreams().call_sent(guest, &session, &text)
        })
    }

    /// A turn of the session runs, or no longer does. While one runs its source is not checked; an
    /// hour after it was last said this counts no more.
    ///
    /// ```
    /// # let awareness = headsup::Awareness::builder(":memory:").open()?;
    /// awareness.busy("agent:main:worker", true)?;
    /// // ... the turn ...
    /// awareness.busy("agent:main:worker", false)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn busy(&self, session: impl Into<SessionRef>, running: bool) -> Result<(), Error> {
        let session = session.into();
        self.write(move |core, guest| {
            core.headsup_awareness_upstreams().call_busy(guest, &session, running)
        })
    }

    /// Checks every watched link whose source is a file, now, and counts. A link counts as `checked`
    /// whatever was found; as `missing` if its source was definitively not there, and as `failed` if
    /// it could not be read or what was found not be written. May take as long as
    /// [`Builder::source_deadline`](crate::Builder::source_deadline).
    ///
    /// [`Builder::monitor_upstreams`](crate::Builder::monitor_upstreams) does it by itself.
    ///
    /// ```
    /// # let awareness = headsup::Awareness::builder(":memory:").open()?;
    /// assert_eq!(awareness.check_upstreams()?.checked, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check_upstreams(&self) -> Result<Tally, Error> {
        let inner = Arc::downgrade(&self.inner);
        Ok(self.inner.checks.run(&inner, Selection::All)?)
    }

    /// What there is to read now of the sources that this reader reads, of sessions that somebody
    /// watches: [`Reader::Gateway`] for threads on nodes, which the gateway reads itself; what
    /// [`check_upstreams`](Self::check_upstreams) reads is [`Reader::File`]'s. [`Selection::Due`]
    /// claims the links for a minute, so that of several processes one reads.
    ///
    /// ```
    /// use headsup::{Found, Reader, Selection};
    /// # let awareness = headsup::Awareness::builder(":memory:").open()?;
    /// for plan in awareness.plan_checks(Selection::Due, Reader::Gateway)? {
    ///     // ... asks the node `plan.source.place` for the newest items of the thread ...
    ///     let found = Found::Items(vec![r#"{"type":"user"}"#.into()]);
    ///     awareness.feed_upstream(&plan, found)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn plan_checks(&self, selection: Selection, reader: Reader) -> Result<Vec<Plan>, Error> {
        self.conclude(self.inner.plan_checks(selection, reader))
    }

    /// Takes in what was found for a plan. At most one event and the link's position change
    /// together; nothing does if the link changed since the plan.
    pub fn feed_upstream(&self, plan: &Plan, found: Found) -> Result<Check, Error> {
        self.inner.feed(plan.session.clone(), plan.revision, found)
    }

    /// Every adopted session: where it lives, how far that was read, and what keeps it from being
    /// checked. By session key, then agent.
    ///
    /// ```
    /// # let awareness = headsup::Awareness::builder(":memory:").open()?;
    /// for link in awareness.links()? {
    ///     println!("{} is read up to {:?}", link.session, link.at);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn links(&self) -> Result<Vec<LinkState>, Error> {
        self.inner.look(Store::links)
    }
}

/// Where a session may live.
impl Source {
    /// A Claude Code transcript on this machine, by its absolute path.
    pub fn claude_file(path: impl Into<String>) -> Self {
        Self { kind: "claude-jsonl".into(), place: path.into(), thread: None }
    }

    /// A Codex rollout on this machine, by its absolute path.
    pub fn codex_file(path: impl Into<String>) -> Self {
        Self { kind: "codex-jsonl".into(), place: path.into(), thread: None }
    }

    /// A Claude thread on a paired node, which the gateway reads.
    pub fn claude_node(node: impl Into<String>, thread: impl Into<String>) -> Self {
        Self { kind: "claude-node".into(), place: node.into(), thread: Some(thread.into()) }
    }
}

/// What an adoption needs, then optional fields one by one.
impl AdoptionRequest {
    /// A session that lives there, from the catalog of this name.
    pub fn new(session: impl Into<SessionRef>, source: Source, catalog: impl Into<String>) -> Self {
        let (session, catalog) = (session.into(), catalog.into());
        Self { session, source, catalog, host: None, thread: None }
    }

    /// The machine it lives on.
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.host = Some(host.into());
        self
    }

    /// The thread's id in the catalog.
    #[must_use]
    pub fn thread(mut self, thread: impl Into<String>) -> Self {
        self.thread = Some(thread.into());
        self
    }
}
