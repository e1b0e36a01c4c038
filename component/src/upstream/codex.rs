//! Codex rollouts: files on this machine.
//!
//! Only an `event_msg` of type `user_message` is what a person typed. The `response_item` with role
//! `user` repeats it, and others of that role carry injected context. The first row says who started
//! the thread: one that a sub-agent, `exec` or an MCP client started has no human rows.

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::row::{Facts, Field, Flag};
use super::shape::{Shape, Test};
use super::source::Kind;
use crate::contract::Reader;

/// A rollout on this machine.
pub const FILE: Kind =
    Kind { word: "codex-jsonl", reader: Reader::File, places, shapes: SHAPES, headless };

/// How the sources of threads begin into which nobody types: sub-agents, however they are written,
/// and programs.
const HEADLESS: &[&str] =
    &["subagent", "sub_agent", "sub-agent", "subAgent", "SubAgent", "exec", "mcp"];

fn headless(first: &Facts) -> bool {
    if !first.is(Field::Type, "session_meta") {
        return false;
    }
    for field in [Field::Source, Field::ThreadSource] {
        if HEADLESS.iter().any(|start| first.begins(field, start)) {
            return true;
        }
    }
    false
}

/// A rollout is in a folder of its day, `sessions/YYYY/MM/DD/rollout-YYYY-MM-DDT….jsonl`, until it
/// moves to the one folder `archived_sessions`, under the same name.
fn places(path: &str) -> Vec<String> {
    let mut places = vec![path.to_string()];
    if let Some(other) = other_place(path) {
        places.push(other);
    }
    places
}

/// Where a rollout is that moved; none for a path that is not one of a rollout.
fn other_place(path: &str) -> Option<String> {
    const ARCHIVE: &[u8] = b"/archived_sessions/";
    let slash = path.bytes().rposition(|byte| byte == b'/')?;
    let (folder, name) = path.as_bytes().split_at_checked(slash + 1)?;
    let mut live = *b"/sessions/0000-00-00/";
    let date = name.strip_prefix(b"rollout-")?;
    for (at, place) in live.iter_mut().skip(10).take(10).enumerate() {
        let given = *date.get(at)?;
        *place = match *place {
            b'0' if given.is_ascii_digit() => given,
            b'-' if given == b'-' => b'/',
            _ => return None,
        };
    }
    let (from, to) =
        if folder.ends_with(ARCHIVE) { (ARCHIVE, &live[..]) } else { (&live[..], ARCHIVE) };
    let home = folder.strip_suffix(from)?.len();
    let mut other = String::from(path.get(..home)?);
    for byte in to {
        other.push(char::from(*byte));
    }
    other.push_str(path.get(folder.len()..)?);
    Some(other)
}

/// What rows are taken for.
const SHAPES: &[Shape] = {
    use Test::{Has, Is, IsNot, Lacks, Opens, OtherThan};
    &[
        Shape::other("session-meta", "says what the thread is", &[Is(Field::Type, "session_meta")]),
        Shape::other(
            "response-item",
            "what went to or came from the model; prompts stand in a row of their own",
            &[Is(Field::Type, "response_item")],
        ),
        Shape::other(
            "event",
            "an event that is no message of the user",
            &[Is(Field::Type, "event_msg"), IsNot(Field::Payload, "user_message")],
        ),
        Shape::other(
            "bookkeeping",
            "rows of this type are notes of Codex for itself",
            &[IsNot(Field::Type, "event_msg")],
        ),
        Shape::other(
            "injected-context",
            "payload.kind: Codex wrote it in the user's place",
            &[OtherThan(Field::PayloadKind, &["plain"])],
        ),
        Shape::human(
            "image-only",
            "a picture without text",
            &[Lacks(Flag::Text), Has(Flag::Images)],
        ),
        Shape::human(
            "image-only",
            "a picture without text",
            &[Lacks(Flag::Text), Has(Flag::LocalImages)],
        ),
        Shape::other("empty", "neither text nor picture", &[Lacks(Flag::Text)]),
        Shape::other(
            "injected-context",
            "context that Codex puts before a prompt",
            &[Opens(&["<environment_context>", "<user_instructions>"])],
        ),
        Shape::other(
            "interruption",
            "notes that a turn was interrupted; nothing was typed",
            &[Opens(&["<turn_aborted>"])],
        ),
        Shape::other(
            "subagent-notification",
            "what a sub-agent reported",
            &[Opens(&["<subagent_notification>"])],
        ),
        Shape::other(
            "inter-session-message",
            "another session sent it",
            &[Opens(&["[Inter-session message]"])],
        ),
        Shape::human("prompt-with-image", "text with a picture", &[Has(Flag::Images)]),
        Shape::human("prompt-with-image", "text with a picture", &[Has(Flag::LocalImages)]),
        Shape::human("typed-prompt", "text", &[]),
    ]
};

#[cfg(test)]
mod tests;
