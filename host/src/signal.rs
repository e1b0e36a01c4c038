//! Handy ways to make the contract's types: sessions from strings, actors, signals with only the
//! fields that matter.

use crate::contract::{
    Actor, ActorType, Adoption, DirectMessage, GoalChange, Happening, Notice, Receipt, RunOutcome,
    Session, SessionRef, Signal,
};

impl SessionRef {
    /// A session by key and agent id, as bare keys need it.
    pub fn new(key: impl Into<String>, agent: impl Into<String>) -> Self {
        Self { key: key.into(), agent: Some(agent.into()) }
    }
}

/// A session whose agent follows from its key.
impl From<&str> for SessionRef {
    fn from(key: &str) -> Self {
        key.to_owned().into()
    }
}

/// A session whose agent follows from its key.
impl From<String> for SessionRef {
    fn from(key: String) -> Self {
        Self { key, agent: None }
    }
}

impl From<Session> for SessionRef {
    fn from(session: Session) -> Self {
        Self::new(session.key, session.agent)
    }
}

impl From<&Session> for SessionRef {
    fn from(session: &Session) -> Self {
        session.clone().into()
    }
}

/// Names a notice that was taken.
impl From<&Notice> for Receipt {
    fn from(notice: &Notice) -> Self {
        Self { target: (&notice.target).into(), since: notice.since, up_to: notice.up_to }
    }
}

/// Names a notice that was taken.
impl From<Notice> for Receipt {
    fn from(notice: Notice) -> Self {
        (&notice).into()
    }
}

impl Actor {
    /// A person without an id.
    #[must_use]
    pub fn human() -> Self {
        Self { type_: ActorType::Human, id: None }
    }

    /// Another session, by its key.
    pub fn agent(key: impl Into<String>) -> Self {
        Self { type_: ActorType::Agent, id: Some(key.into()) }
    }

    /// The gateway or a tool by itself.
    #[must_use]
    pub fn system() -> Self {
        Self { type_: ActorType::System, id: None }
    }

    /// The same actor with an id.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }
}

/// Constructors that ask for what a kind needs, then optional fields one by one.
///
/// ```
/// use headsup::{Actor, GoalChange, Signal};
///
/// let signal = Signal::goal_changed("agent:main:worker", GoalChange::Updated, Actor::human().id("u7"))
///     .session_id("incarnation-3")
///     .watcher("agent:main:main");
/// ```
impl Signal {
    /// A signal with the fields that every kind has.
    pub fn new(session: impl Into<SessionRef>, happening: Happening, actor: Actor) -> Self {
        Self {
            session: session.into(),
            happening,
            actor,
            session_id: None,
            run_id: None,
            occurred_at: None,
            dedupe_key: None,
            watchers: Vec::new(),
        }
    }

    /// A human sent a turn directly to the session.
    pub fn human_direct_message(session: impl Into<SessionRef>, actor: Actor) -> Self {
        let message = DirectMessage { channel: None, turns: None };
        Self::new(session, Happening::HumanDirectMessage(message), actor)
    }

    /// The session's goal was created, updated or cleared.
    pub fn goal_changed(session: impl Into<SessionRef>, change: GoalChange, actor: Actor) -> Self {
        Self::new(session, Happening::GoalChanged(change), actor)
    }

    /// The session was created as a child, by a run of its parent.
    pub fn child_spawned(
        session: impl Into<SessionRef>,
        run_id: impl Into<String>,
        actor: Actor,
    ) -> Self {
        Self::new(session, Happening::ChildSpawned, actor).run_id(run_id)
    }

    /// A run of the session ended well.
    pub fn run_completed(
        session: impl Into<SessionRef>,
        run_id: impl Into<String>,
        actor: Actor,
    ) -> Self {
        Self::new(session, Happening::RunCompleted, actor).run_id(run_id)
    }

    /// A run of the session ended badly.
    pub fn run_failed(
        session: impl Into<SessionRef>,
        run_id: impl Into<String>,
        outcome: RunOutcome,
        actor: Actor,
    ) -> Self {
        Self::new(session, Happening::RunFailed(outcome), actor).run_id(run_id)
    }

    /// The session's history was compacted.
    pub fn compacted(
        session: impl Into<SessionRef>,
        operation_id: impl Into<String>,
        actor: Actor,
    ) -> Self {
        Self::new(session, Happening::Compacted(operation_id.into()), actor)
    }

    /// The session was adopted from a catalog.
    pub fn adopted(
        session: impl Into<SessionRef>,
        catalog: impl Into<String>,
        actor: Actor,
    ) -> Self {
        let adoption = Adoption { catalog: catalog.into(), host: None };
        Self::new(session, Happening::Adopted(adoption), actor)
    }

    /// The session was created.
    pub fn created(session: impl Into<SessionRef>, actor: Actor) -> Self {
        Self::new(session, Happening::Created, actor)
    }

    /// Where a human direct message came from; no effect on other kinds.
    #[must_use]
    pub fn channel(mut self, channel: impl Into<String>) -> Self {
        if let Happening::HumanDirectMessage(message) = &mut self.happening {
            message.channel = Some(channel.into());
        }
        self
    }

    /// How many turns a human direct message stands for; no effect on other kinds.
    #[must_use]
    pub fn turns(mut self, turns: u32) -> Self {
        if let Happening::HumanDirectMessage(message) = &mut self.happening {
            message.turns = Some(turns);
        }
        self
    }

    /// The machine an adopted session lives on; no effect on other kinds.
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Self {
        if let Happening::Adopted(adoption) = &mut self.happening {
            adoption.host = Some(host.into());
        }
        self
    }

    /// The incarnation of the session.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = Some(id.into());
        self
    }

    /// The run it belongs to.
    #[must_use]
    pub fn run_id(mut self, id: impl Into<String>) -> Self {
        self.run_id = Some(id.into());
        self
    }

    /// When it happened by the producer's clock, in ms since the Unix epoch.
    #[must_use]
    pub fn occurred_at(mut self, at: i64) -> Self {
        self.occurred_at = Some(at);
        self
    }

    /// Makes recording idempotent within the session, in place of the kind's default key.
    #[must_use]
    pub fn dedupe_key(mut self, key: impl Into<String>) -> Self {
        self.dedupe_key = Some(key.into());
        self
    }

    /// One more session that should watch; the parent, say.
    #[must_use]
    pub fn watcher(mut self, key: impl Into<String>) -> Self {
        self.watchers.push(key.into());
        self
    }
}
