//! The events of a history, as far as what was asked and seen tells.

use headsup::{Event, Happening, Kind, Recording, Session, Signal};

use crate::history::{Answer, Entry};
use crate::operations::{Operation, resolved, session_ref};
use crate::steps::Act;

/// An event that was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    pub session: Session,
    pub sequence: u64,
    pub notifies: bool,
    pub actor: Option<String>,
}

/// Whether a kind notifies: the table of section 3.
fn notifies(kind: Kind) -> bool {
    matches!(kind, Kind::HumanDirectMessage | Kind::UpstreamMissing | Kind::GoalChanged)
}

fn of_signal(signal: &Signal, sequence: u64) -> Known {
    let notifies = matches!(
        signal.happening,
        Happening::HumanDirectMessage(_)
            | Happening::UpstreamMissing(_)
            | Happening::GoalChanged(_)
    );
    let (session, actor) = (resolved(&signal.session), signal.actor.id.clone());
    let own = session.key.strip_prefix("agent:").and_then(|rest| rest.split(':').next());
    let session = match own {
        Some(agent) => Session { agent: agent.to_owned(), ..session.clone() },
        None => session,
    };
    Known { session, sequence, notifies, actor }
}

fn of_event(event: &Event) -> Known {
    Known {
        session: event.session.clone(),
        sequence: event.sequence,
        notifies: notifies(event.kind),
        actor: event.actor.id.clone(),
    }
}

/// The events that an entry's own answer says it recorded.
pub fn recorded(entry: &Entry) -> Vec<Known> {
    let signals: Vec<&Signal> = match &entry.act {
        Act::Ask(Operation::Record(signal, _)) => vec![signal],
        Act::Ask(Operation::RecordMany(signals)) => signals.iter().collect(),
        _ => return Vec::new(),
    };
    let Answer::Outcomes(outcomes) = &entry.answer else { return Vec::new() };
    let recorded =
        signals.into_iter().zip(outcomes).filter_map(|(signal, outcome)| match outcome {
            Recording::Recorded(sequence) => Some(of_signal(signal, *sequence)),
            _ => None,
        });
    recorded.collect()
}

/// The events that were seen after an entry.
pub fn seen(entry: &Entry) -> Vec<Known> {
    let deltas = entry.look.iter().flat_map(|look| &look.deltas);
    deltas.flat_map(|asked| asked.delta.events.iter().map(of_event)).collect()
}

/// The session that was deleted.
pub fn deleted(entry: &Entry) -> Option<Session> {
    match &entry.act {
        Act::Ask(Operation::Delete(at)) if !entry.failed() => Some(resolved(&session_ref(*at))),
        _ => None,
    }
}
