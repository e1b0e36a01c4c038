//! What the typed calls answer, as JSON: the members and their order are the surface's promise.

use alloc::string::String;

use crate::contract::{
    Acknowledgement, Delta, Drained, Event, Notice, Outcome, PendingCount, Provenance, Recovery,
    Removal, Unwatchable, WatchAnswer, WatchEntry,
};
use crate::json::{self, Value, Writer};
use crate::ports::Stored;
use crate::refusal::corrupt;
use crate::text::{joined, number};

/// `record`.
pub fn outcome(outcome: Outcome) -> String {
    json::object(|out| write_outcome(out, outcome))
}

/// `recordMany`.
pub fn outcomes(outcomes: &[Outcome]) -> String {
    json::object(|out| {
        list(out, "outcomes", outcomes, |out, outcome| write_outcome(out, *outcome));
    })
}

fn write_outcome(out: &mut Writer, outcome: Outcome) {
    let (word, version) = match outcome {
        Outcome::Recorded(version) => ("recorded", Some(version)),
        Outcome::Duplicate(version) => ("duplicate", Some(version)),
        Outcome::Unwatched => ("unwatched", None),
    };
    out.name("outcome").text(word);
    if let Some(version) = version {
        out.name("stateVersion").number(version);
    }
}

/// `record` that the store or the core failed.
pub fn failed_outcome(reason: &str) -> String {
    json::object(|out| write_failed(out, reason))
}

/// `recordMany` of so many signals that the store or the core failed.
pub fn failed_outcomes(signals: usize, reason: &str) -> String {
    json::object(|out| {
        out.name("outcomes").open_list();
        for _ in 0..signals {
            out.open_object();
            write_failed(out, reason);
            out.close_object();
        }
        out.close_list();
    })
}

fn write_failed(out: &mut Writer, reason: &str) {
    out.name("outcome").text("failed");
    out.name("reason").text(reason);
}

/// `watch`.
pub fn watched(answer: WatchAnswer) -> String {
    let reason = match answer {
        WatchAnswer::Watched => None,
        WatchAnswer::NotWatchable(Unwatchable::NotAgentQualified) => Some("not-agent-qualified"),
        WatchAnswer::NotWatchable(Unwatchable::WatcherIsTarget) => Some("watcher-is-target"),
    };
    json::object(|out| {
        out.name("watched").flag(reason.is_none());
        if let Some(reason) = reason {
            out.name("reason").text(reason);
        }
    })
}

/// `unwatch`.
pub fn removed(removed: bool) -> String {
    json::object(|out| out.name("removed").flag(removed))
}

/// `watches`.
pub fn watches(entries: &[WatchEntry]) -> String {
    json::object(|out| {
        list(out, "watches", entries, |out, entry| {
            out.name("watcher").text(&entry.watcher);
            out.name("target").text(&entry.target.key);
            out.name("agent").text(&entry.target.agent);
            out.name("provenance").text(provenance(entry.provenance));
            out.name("lastSeen").number(entry.last_seen);
            out.name("notified").number(entry.notified);
            out.name("material").number(entry.material);
            out.name("pending").flag(entry.pending);
            out.name("expiresAt").number(entry.expires_at);
        });
    })
}

/// The tool `sessions_list`: what an agent needs of its watches, in the words of the tools.
pub fn sessions(entries: &[WatchEntry]) -> String {
    json::object(|out| {
        list(out, "sessions", entries, |out, entry| {
            out.name("sessionKey").text(&entry.target.key);
            out.name("agentId").text(&entry.target.agent);
            if let Some(version) = entry.state_version {
                out.name("stateVersion").number(version);
            }
            out.name("lastSeen").number(entry.last_seen);
            out.name("pending").flag(entry.pending);
            out.name("provenance").text(provenance(entry.provenance));
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
        out.name("acknowledged").number(answer.acknowledged.into());
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

fn write_notices(out: &mut Writer, name: &str, notices: &[Notice]) {
    list(out, name, notices, |out, notice| {
        out.name("target").text(&notice.target.key);
        out.name("agent").text(&notice.target.agent);
        out.name("since").number(notice.since);
        out.name("upTo").number(notice.up_to);
        out.name("text").text(&notice.text);
    });
}

/// `pending`.
pub fn pending(counts: &[PendingCount]) -> String {
    json::object(|out| {
        list(out, "watchers", counts, |out, count| {
            out.name("watcher").text(&count.watcher);
            out.name("notices").number(count.notices.into());
        });
    })
}

/// `status` without the changes.
pub fn state(version: u64) -> String {
    json::object(|out| out.name("stateVersion").number(version))
}

/// `status` with the changes. An event's session id, the incarnation, is not among its members:
/// it tells an agent nothing that it could act on, and stays in the log.
///
/// # Errors
/// A payload that is not the JSON object it must be: it would break the whole response.
pub fn changes(delta: &Delta) -> Stored<String> {
    if let Some(event) = delta.events.iter().find(|event| !has_sound_payload(event)) {
        return Err(corrupt(&joined(&[
            "the payload of event ",
            &number(event.sequence),
            " is not a JSON object",
        ])));
    }
    Ok(json::object(|out| {
        out.name("stateVersion").number(delta.state_version);
        out.name("stateChanges").open_object();
        list(out, "events", &delta.events, write_event);
        out.name("truncated").flag(delta.truncated);
        out.name("historyGap").flag(delta.history_gap);
        out.close_object();
    }))
}

fn write_event(out: &mut Writer, event: &Event) {
    out.name("sequence").number(event.sequence);
    out.name("kind").text(event.kind.word());
    out.name("actorType").text(event.actor.type_.word());
    if let Some(id) = &event.actor.id {
        out.name("actorId").text(id);
    }
    out.name("occurredAt").number(event.occurred_at);
    out.name("summary").text(&event.summary);
    if let Some(run) = &event.run_id {
        out.name("runId").text(run);
    }
    if let Some(payload) = &event.payload {
        out.name("payload").json(payload);
    }
}

fn has_sound_payload(event: &Event) -> bool {
    event.payload.as_deref().is_none_or(|payload| {
        !payload.contains(['\n', '\r']) && matches!(json::read(payload), Ok(Value::Object(_)))
    })
}

/// `versions`.
pub fn versions(versions: &[Option<u64>]) -> String {
    json::object(|out| {
        out.name("versions").open_list();
        for version in versions {
            match version {
                Some(version) => out.number(*version),
                None => out.json("null"),
            }
        }
        out.close_list();
    })
}

/// `reset` and `delete`.
pub fn removal(removal: Removal) -> String {
    json::object(|out| {
        out.name("cursors").number(removal.cursors.into());
        out.name("events").number(removal.events.into());
    })
}

/// `recover`.
pub fn recovery(recovery: Recovery) -> String {
    json::object(|out| {
        out.name("pending").number(recovery.pending.into());
        out.name("pruned").number(recovery.pruned.into());
    })
}

/// `sent` and `busy`.
pub fn done() -> String {
    json::object(|_| {})
}

/// `clock`.
pub fn clock(now: u64) -> String {
    json::object(|out| out.name("now").number(now))
}

/// A member that holds a list of objects.
fn list<T>(out: &mut Writer, name: &str, items: &[T], write: impl Fn(&mut Writer, &T)) {
    out.name(name).open_list();
    for item in items {
        out.open_object();
        write(out, item);
        out.close_object();
    }
    out.close_list();
}
