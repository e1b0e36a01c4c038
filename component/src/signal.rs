//! Signals: kinds, actors, summaries, payloads and default dedupe keys (protocol, section 3).

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::contract::{
    Actor, ActorType, Entry, GoalChange, Happening, InvalidInput, InvalidReason, Kind, RunOutcome,
    Session, Signal,
};
use crate::json;
use crate::refusal::refuse;
use crate::session::{self, Key};
use crate::text::{element, joined};

/// The most watchers that a producer may name for one signal.
pub const MAX_NAMED_WATCHERS: usize = 1_000;
/// How far in the past, in ms, a producer's time may lie.
pub const MAX_BACKDATE_MS: u64 = 24 * 60 * 60 * 1_000;

impl Kind {
    /// Every kind with its word in the log and on the wire.
    pub const WORDS: [(Self, &'static str); 9] = [
        (Self::HumanDirectMessage, "human_direct_message"),
        (Self::UpstreamMissing, "upstream_missing"),
        (Self::GoalChanged, "goal_changed"),
        (Self::ChildSpawned, "child_spawned"),
        (Self::RunCompleted, "run_completed"),
        (Self::RunFailed, "run_failed"),
        (Self::Compacted, "compacted"),
        (Self::Adopted, "adopted"),
        (Self::Created, "created"),
    ];

    /// The kind's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].1
    }

    /// The kind of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(_, w)| *w == word).map(|(kind, _)| *kind)
    }
}

impl ActorType {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::Human, Self::Agent, Self::System];
    /// Their words in the log and on the wire, in the same order.
    pub const WORDS: [&'static str; 3] = ["human", "agent", "system"];

    /// The type's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// The type of a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|actor| actor.word() == word)
    }
}

impl GoalChange {
    /// Every change.
    pub const ALL: [Self; 3] = [Self::Created, Self::Updated, Self::Cleared];
    /// Their words on the wire and in summaries, in the same order.
    pub const WORDS: [&'static str; 3] = ["created", "updated", "cleared"];

    /// The change's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

impl RunOutcome {
    /// Every outcome.
    pub const ALL: [Self; 3] = [Self::Error, Self::Timeout, Self::Cancelled];
    /// Their words on the wire and in payloads, in the same order.
    pub const WORDS: [&'static str; 3] = ["error", "timeout", "cancelled"];

    /// The outcome's word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    fn summary(self) -> &'static str {
        match self {
            Self::Error => "child run failed",
            Self::Timeout => "child run timed out",
            Self::Cancelled => "child run cancelled",
        }
    }
}

impl Happening {
    /// The kind that happened.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::HumanDirectMessage(_) => Kind::HumanDirectMessage,
            Self::UpstreamMissing(_) => Kind::UpstreamMissing,
            Self::GoalChanged(_) => Kind::GoalChanged,
            Self::ChildSpawned => Kind::ChildSpawned,
            Self::RunCompleted => Kind::RunCompleted,
            Self::RunFailed(_) => Kind::RunFailed,
            Self::Compacted(_) => Kind::Compacted,
            Self::Adopted(_) => Kind::Adopted,
            Self::Created => Kind::Created,
        }
    }
}

/// A signal that was checked: canonical, within its bounds, and worded.
pub struct Checked {
    /// What happened.
    pub kind: Kind,
    /// Of which type its actor is.
    pub actor: ActorType,
    /// Whom the producer named, in its order; bare keys, which cannot watch, included.
    pub watchers: Vec<Key>,
    /// What the log will hold.
    pub entry: Entry,
}

/// Checks a signal and words its entry. `now` is the local clock in ms.
///
/// # Errors
/// The refusals of sections 2 and 3; fields are relative to the signal.
pub fn check(signal: &Signal, now: u64) -> Result<Checked, InvalidInput> {
    let session = session::resolve("session", &signal.session)?;
    let kind = signal.happening.kind();
    let actor_id = check_actor(&signal.actor, kind)?;
    let worded = word(&signal.happening)?;
    let optional = |field: &str, given: &Option<String>| {
        given.as_deref().map(|id| session::id(field, id)).transpose()
    };
    let run_id = optional("runId", &signal.run_id)?;
    let session_id = optional("sessionId", &signal.session_id)?;
    let explicit = optional("dedupeKey", &signal.dedupe_key)?;
    if run_id.is_none() && matches!(kind, Kind::ChildSpawned | Kind::RunCompleted | Kind::RunFailed)
    {
        return Err(refuse(
            InvalidReason::MissingField,
            "runId",
            "this kind of signal needs the id of its run",
        ));
    }
    let watchers = check_watchers(&signal.watchers)?;
    let dedupe_key = match explicit {
        None => default_dedupe_key(&signal.happening, run_id.as_deref(), session_id.as_deref()),
        explicit => explicit,
    };
    Ok(Checked {
        kind,
        actor: signal.actor.type_,
        watchers,
        entry: entry(signal, session, actor_id, worded, [session_id, run_id, dedupe_key], now),
    })
}

fn entry(
    signal: &Signal,
    session: Session,
    actor_id: Option<String>,
    worded: Worded,
    [session_id, run_id, dedupe_key]: [Option<String>; 3],
    now: u64,
) -> Entry {
    Entry {
        session,
        kind: signal.happening.kind().word().to_string(),
        actor_type: signal.actor.type_.word().to_string(),
        actor_id,
        occurred_at: clamp(signal.occurred_at, now),
        summary: worded.summary,
        session_id,
        run_id,
        payload: worded.payload,
        dedupe_key,
    }
}

fn check_actor(actor: &Actor, kind: Kind) -> Result<Option<String>, InvalidInput> {
    if kind == Kind::HumanDirectMessage && actor.type_ != ActorType::Human {
        return Err(refuse(
            InvalidReason::WrongActor,
            "actor.type",
            "a human direct message has an actor of type human",
        ));
    }
    actor.id.as_deref().map(|id| session::actor_id("actor.id", id)).transpose()
}

fn check_watchers(given: &[String]) -> Result<Vec<Key>, InvalidInput> {
    if given.len() > MAX_NAMED_WATCHERS {
        return Err(refuse(
            InvalidReason::TooMany,
            "watchers",
            "a signal names at most 1,000 watchers",
        ));
    }
    let mut watchers = Vec::with_capacity(given.len());
    for (at, key) in given.iter().enumerate() {
        let parsed = Key::parse("watchers", key);
        watchers.push(parsed.or_else(|_| Key::parse(&element("watchers", at), key))?);
    }
    Ok(watchers)
}

/// What the core writes about a signal. No caller's text reaches it but bounded names.
struct Worded {
    summary: String,
    payload: Option<String>,
}

fn word(happening: &Happening) -> Result<Worded, InvalidInput> {
    Ok(match happening {
        Happening::HumanDirectMessage(message) => {
            let channel = optional_name("channel", message.channel.as_deref())?;
            if message.turns == Some(0) {
                return Err(refuse(
                    InvalidReason::OutOfRange,
                    "turns",
                    "a message stands for 1 to 4294967295 turns",
                ));
            }
            let turns = message.turns.filter(|turns| *turns > 1);
            let via = channel.unwrap_or("unknown");
            Worded {
                summary: joined(&["human message via ", via]),
                payload: payload([("channel", channel)], turns),
            }
        }
        Happening::UpstreamMissing(catalog) => {
            let catalog = needed_name("catalog", catalog)?;
            Worded {
                summary: joined(&["upstream missing via ", catalog]),
                payload: payload([("channel", Some(catalog))], None),
            }
        }
        Happening::GoalChanged(change) => plain(joined(&["goal ", change.word()])),
        Happening::ChildSpawned => plain("child session spawned".to_string()),
        Happening::RunCompleted => plain("child run completed".to_string()),
        Happening::RunFailed(outcome) => Worded {
            summary: outcome.summary().to_string(),
            payload: payload([("outcome", Some(outcome.word()))], None),
        },
        Happening::Compacted(operation) => {
            session::id("operationId", operation)?;
            plain("session compacted".to_string())
        }
        Happening::Adopted(adoption) => {
            let catalog = needed_name("catalog", &adoption.catalog)?;
            let host =
                adoption.host.as_deref().map(|host| session::id("host", host)).transpose()?;
            Worded {
                summary: joined(&["session adopted from ", catalog]),
                payload: payload([("channel", Some(catalog)), ("host", host.as_deref())], None),
            }
        }
        Happening::Created => plain("session created".to_string()),
    })
}

fn plain(summary: String) -> Worded {
    Worded { summary, payload: None }
}

/// A JSON object of what is there; `None` if nothing is.
fn payload<const N: usize>(names: [(&str, Option<&str>); N], turns: Option<u32>) -> Option<String> {
    if turns.is_none() && names.iter().all(|(_, value)| value.is_none()) {
        return None;
    }
    Some(json::object(|out| {
        for (name, value) in names {
            if let Some(value) = value {
                out.name(name).text(value);
            }
        }
        if let Some(turns) = turns {
            out.name("turns").number(turns.into());
        }
    }))
}

fn optional_name<'a>(field: &str, given: Option<&'a str>) -> Result<Option<&'a str>, InvalidInput> {
    Ok(given.map(|name| session::name(field, name)).transpose()?.flatten())
}

fn needed_name<'a>(field: &str, given: &'a str) -> Result<&'a str, InvalidInput> {
    session::name(field, given)?.ok_or_else(|| {
        refuse(
            InvalidReason::MissingField,
            field,
            "this kind of signal needs a name here; an empty one counts as missing",
        )
    })
}

/// A run's first ending wins, whichever it was: completed and failed share one key. Adoption and
/// a missing upstream get theirs from the link, where there is one.
fn default_dedupe_key(
    happening: &Happening,
    run_id: Option<&str>,
    session_id: Option<&str>,
) -> Option<String> {
    match happening {
        Happening::ChildSpawned => run_id.map(|run| joined(&["child-spawned:", run])),
        Happening::RunCompleted | Happening::RunFailed(_) => {
            run_id.map(|run| joined(&["run-terminal:", run]))
        }
        Happening::Compacted(operation) => Some(joined(&["compacted:", operation])),
        Happening::Created => session_id.map(|id| joined(&["created:", id])),
        Happening::HumanDirectMessage(_)
        | Happening::UpstreamMissing(_)
        | Happening::GoalChanged(_)
        | Happening::Adopted(_) => None,
    }
}

fn clamp(occurred_at: Option<i64>, now: u64) -> u64 {
    match occurred_at {
        None => now,
        Some(at) => u64::try_from(at).unwrap_or(0).clamp(now.saturating_sub(MAX_BACKDATE_MS), now),
    }
}

#[cfg(test)]
mod tests;
