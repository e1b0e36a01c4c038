//! What the typed calls answer, as JSON: the members and their order are the surface's promise.

use alloc::format;
use alloc::string::String;

use serde::de::IgnoredAny;

use super::json::{self, Object, push_object};
use crate::contract::{
    Acknowledgement, Delta, Drained, Event, Notice, Outcome, PendingCount, Provenance, Recovery,
    Removal, Unwatchable, WatchAnswer, WatchEntry,
};
use crate::ports::Stored;
use crate::refusal::corrupt;

/// `record`.
pub fn outcome(outcome: Outcome) -> String {
    json::object(|out| write_outcome(out, outcome))
}

/// `recordMany`.
pub fn outcomes(outcomes: impl IntoIterator<Item = Outcome>) -> String {
    json::object(|out| {
        out.list("outcomes", outcomes, |out, outcome| {
            push_object(out, |out| write_outcome(out, outcome));
        });
    })
}

fn write_outcome(out: &mut Object<'_>, outcome: Outcome) {
    let (word, version) = match outcome {
        Outcome::Recorded(version) => ("recorded", Some(version)),
        Outcome::Duplicate(version) => ("duplicate", Some(version)),
        Outcome::Unwatched => ("unwatched", None),
    };
    out.text("outcome", word);
    if let Some(version) = version {
        out.number("stateVersion", version);
    }
}

/// `record` that the store or the core failed.
pub fn failed_outcome(reason: &str) -> String {
    json::object(|out| write_failed(out, reason))
}

/// `recordMany` of so many signals that the store or the core failed.
pub fn failed_outcomes(signals: usize, reason: &str) -> String {
    json::object(|out| {
        out.list("outcomes", 0..signals, |out, _| {
            push_object(out, |out| write_failed(out, reason));
        });
    })
}

fn write_failed(out: &mut Object<'_>, reason: &str) {
    out.text("outcome", "failed");
    out.text("reason", reason);
}

/// `watch`.
pub fn watched(answer: WatchAnswer) -> String {
    let reason = match answer {
        WatchAnswer::Watched => None,
        WatchAnswer::NotWatchable(Unwatchable::NotAgentQualified) => Some("not-agent-qualified"),
        WatchAnswer::NotWatchable(Unwatchable::WatcherIsTarget) => Some("watcher-is-target"),
    };
    json::object(|out| {
        out.flag("watched", reason.is_none());
        out.text_if("reason", reason);
    })
}

/// `unwatch`.
pub fn removed(removed: bool) -> String {
    json::object(|out| out.flag("removed", removed))
}

/// `watches`.
pub fn watches(entries: &[WatchEntry]) -> String {
    json::object(|out| {
        out.list("watches", entries, |out, entry| {
            push_object(out, |out| {
                out.text("watcher", &entry.watcher);
                out.text("target", &entry.target.key);
                out.text("agent", &entry.target.agent);
                out.text("provenance", provenance(entry.provenance));
                out.number("lastSeen", entry.last_seen);
                out.number("notified", entry.notified);
                out.number("material", entry.material);
                out.flag("pending", entry.pending);
                out.number("expiresAt", entry.expires_at);
            });
        });
    })
}

/// The tool `sessions_list`: what an agent needs of its watches, in the words of the tools.
pub fn sessions(entries: &[WatchEntry]) -> String {
    json::object(|out| {
        out.list("sessions", entries, |out, entry| {
            push_object(out, |out| {
                out.text("sessionKey", &entry.target.key);
                out.text("agentId", &entry.target.agent);
                if let Some(version) = entry.state_version {
                    out.number("stateVersion", version);
                }
                out.number("lastSeen", entry.last_seen);
                out.flag("pending", entry.pending);
                out.text("provenance", provenance(entry.provenance));
            });
        });
    })
}

fn provenance(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Spawn => "spawn",
        Provenance::Explicit => "explicit",
        Provenance::Ambient => "ambient",
    }
}

/// `take`.
pub fn taken(notices: &[Notice]) -> String {
    json::object(|out| write_notices(out, "notices", notices))
}

/// `acknowledge`.
pub fn acknowledged(answer: &Acknowledgement) -> String {
    json::object(|out| {
        out.number("acknowledged", answer.acknowledged);
        write_notices(out, "reopened", &answer.reopened);
    })
}

/// `drain`.
pub fn drained(answer: &Drained) -> String {
    json::object(|out| {
        write_notices(out, "notices", &answer.notices);
        write_notices(out, "reopened", &answer.reopened);
    })
}

fn write_notices(out: &mut Object<'_>, name: &str, notices: &[Notice]) {
    out.list(name, notices, |out, notice| {
        push_object(out, |out| {
            out.text("target", &notice.target.key);
            out.text("agent", &notice.target.agent);
            out.number("since", notice.since);
            out.number("upTo", notice.up_to);
            out.text("text", &notice.text);
        });
    });
}

/// `pending`.
pub fn pending(counts: &[PendingCount]) -> String {
    json::object(|out| {
        out.list("watchers", counts, |out, count| {
            push_object(out, |out| {
                out.text("watcher", &count.watcher);
                out.number("notices", count.notices);
            });
        });
    })
}

/// `status` without the changes.
pub fn state(version: u64) -> String {
    json::object(|out| out.number("stateVersion", version))
}

/// `status` with the changes.
///
/// # Errors
/// A payload that is not the JSON object it must be: it would break the whole response.
pub fn changes(delta: &Delta) -> Stored<String> {
    if let Some(event) = delta.events.iter().find(|event| !has_sound_payload(event)) {
        let sequence = event.sequence;
        return Err(corrupt(&format!("the payload of event {sequence} is not a JSON object")));
    }
    Ok(json::object(|out| {
        out.number("stateVersion", delta.state_version);
        out.object("stateChanges", |out| {
            out.list("events", &delta.events, |out, event| {
                push_object(out, |out| write_event(out, event));
            });
            out.flag("truncated", delta.truncated);
            out.flag("historyGap", delta.history_gap);
        });
    }))
}

fn has_sound_payload(event: &Event) -> bool {
    event.payload.as_deref().is_none_or(|payload| {
        payload.starts_with('{')
            && !payload.contains(['\n', '\r'])
            && serde_json::from_str::<IgnoredAny>(payload).is_ok()
    })
}

fn write_event(out: &mut Object<'_>, event: &Event) {
    out.number("sequence", event.sequence);
    out.text("kind", event.kind.word());
    out.text("actorType", event.actor.type_.word());
    out.text_if("actorId", event.actor.id.as_deref());
    out.number("occurredAt", event.occurred_at);
    out.text("summary", &event.summary);
    out.text_if("runId", event.run_id.as_deref());
    if let Some(payload) = &event.payload {
        out.json("payload", payload);
    }
}

/// `versions`.
pub fn versions(versions: &[Option<u64>]) -> String {
    use core::fmt::Write;
    json::object(|out| {
        out.list("versions", versions, |out, version| match version {
            // Writing to a string cannot fail.
            Some(version) => drop(write!(out, "{version}")),
            None => out.push_str("null"),
        });
    })
}

/// `reset` and `delete`.
pub fn removal(removal: Removal) -> String {
    json::object(|out| {
        out.number("cursors", removal.cursors);
        out.number("events", removal.events);
    })
}

/// `recover`.
pub fn recovery(recovery: Recovery) -> String {
    json::object(|out| {
        out.number("pending", recovery.pending);
        out.number("pruned", recovery.pruned);
    })
}

/// `clock`.
pub fn clock(now: u64) -> String {
    json::object(|out| out.number("now", now))
}
