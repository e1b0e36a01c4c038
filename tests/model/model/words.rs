//! What the core writes about a signal: the table of section 3.

use headsup::{GoalChange, Happening, Kind, RunOutcome, Session, Signal};

/// The session of a signal, whose key is canonical.
pub fn session_of(signal: &Signal) -> Session {
    let key = signal.session.key.clone();
    let own = key.strip_prefix("agent:").and_then(|rest| rest.split(':').next());
    let agent = own.map(ToOwned::to_owned).or(signal.session.agent.clone()).unwrap_or_default();
    Session { key, agent }
}

/// Kind, summary, payload and default dedupe key: the table of section 3.
pub fn worded(signal: &Signal) -> (Kind, String, Option<String>, Option<String>) {
    let run = signal.run_id.as_deref().unwrap_or_default();
    let key = |prefix: &str, id: &str| Some(format!("{prefix}:{id}"));
    match &signal.happening {
        Happening::HumanDirectMessage(message) => {
            let turns = message.turns.filter(|turns| *turns > 1);
            let fields: Vec<String> = [
                message.channel.as_ref().map(|channel| format!(r#""channel":"{channel}""#)),
                turns.map(|turns| format!(r#""turns":{turns}"#)),
            ]
            .into_iter()
            .flatten()
            .collect();
            let payload = (!fields.is_empty()).then(|| format!("{{{}}}", fields.join(",")));
            let via = message.channel.as_deref().unwrap_or("unknown");
            (Kind::HumanDirectMessage, format!("human message via {via}"), payload, None)
        }
        Happening::UpstreamMissing(catalog) => {
            let payload = Some(format!(r#"{{"channel":"{catalog}"}}"#));
            (Kind::UpstreamMissing, format!("upstream missing via {catalog}"), payload, None)
        }
        Happening::GoalChanged(change) => {
            let change = match change {
                GoalChange::Created => "created",
                GoalChange::Updated => "updated",
                GoalChange::Cleared => "cleared",
            };
            (Kind::GoalChanged, format!("goal {change}"), None, None)
        }
        Happening::ChildSpawned => {
            let words = "child session spawned".to_owned();
            (Kind::ChildSpawned, words, None, key("child-spawned", run))
        }
        Happening::RunCompleted => {
            let words = "child run completed".to_owned();
            (Kind::RunCompleted, words, None, key("run-terminal", run))
        }
        Happening::RunFailed(outcome) => {
            let (words, outcome) = match outcome {
                RunOutcome::Error => ("child run failed", "error"),
                RunOutcome::Timeout => ("child run timed out", "timeout"),
                RunOutcome::Cancelled => ("child run cancelled", "cancelled"),
            };
            let payload = Some(format!(r#"{{"outcome":"{outcome}"}}"#));
            (Kind::RunFailed, words.to_owned(), payload, key("run-terminal", run))
        }
        Happening::Compacted(operation) => {
            (Kind::Compacted, "session compacted".to_owned(), None, key("compacted", operation))
        }
        Happening::Adopted(adoption) => {
            let catalog = &adoption.catalog;
            let payload = Some(format!(r#"{{"channel":"{catalog}"}}"#));
            (Kind::Adopted, format!("session adopted from {catalog}"), payload, None)
        }
        Happening::Created => {
            let default = signal.session_id.as_ref().and_then(|id| key("created", id));
            (Kind::Created, "session created".to_owned(), None, default)
        }
    }
}
