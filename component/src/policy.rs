//! The settings that live in the store: how notices are worded and how long things are kept
//! (protocol, sections 6 and 8).

use alloc::borrow::Cow;
use alloc::string::{String, ToString};

use crate::contract::{Error, InvalidInput, InvalidReason, Policy, Session, Setting};
use crate::json;
use crate::ports::{Ports, Stored};
use crate::refusal::{corrupt, refuse};
use crate::rules::Rules;
use crate::session::{Key, is_forbidden};
use crate::text::{self, cut};

/// The protocol's sentence around the call.
pub const DEFAULT_TEMPLATE: &str =
    "Session {session} was changed by someone else. Catch up before acting: {call}";
/// The longest template, in bytes.
pub const MAX_TEMPLATE_BYTES: usize = 1_000;
/// How long events, and cursors that do not move, are kept if nobody says otherwise, in days.
pub const DEFAULT_DAYS: u32 = 30;
/// How many events are kept if nobody says otherwise.
pub const DEFAULT_ROWS: u32 = 50_000;
const MAX_DAYS: u32 = 36_500;
const MAX_ROWS: u32 = 1_000_000_000;

const TEMPLATE: &str = "notice.template";
const HISTORY_DAYS: &str = "retention.history-days";
const HISTORY_ROWS: &str = "retention.history-rows";
const CURSOR_DAYS: &str = "retention.cursor-days";

/// The policy in force.
pub fn current(ports: &mut impl Ports) -> Result<Policy, Error> {
    let values = ports.settings(&[TEMPLATE, HISTORY_DAYS, HISTORY_ROWS, CURSOR_DAYS])?;
    let mut values = values.into_iter();
    let mut next = || values.next().flatten();
    Ok(Policy {
        notice_template: next().unwrap_or_default(),
        history_days: number(next(), DEFAULT_DAYS)?,
        history_rows: number(next(), DEFAULT_ROWS)?,
        cursor_days: number(next(), DEFAULT_DAYS)?,
    })
}

/// Changes the policy.
pub fn set(ports: &mut impl Ports, policy: &Policy) -> Result<(), Error> {
    check_template(&policy.notice_template)?;
    check_range("historyDays", policy.history_days, MAX_DAYS)?;
    check_range("historyRows", policy.history_rows, MAX_ROWS)?;
    check_range("cursorDays", policy.cursor_days, MAX_DAYS)?;
    let settings = [
        setting(TEMPLATE, policy.notice_template.clone()),
        setting(HISTORY_DAYS, text::number(policy.history_days)),
        setting(HISTORY_ROWS, text::number(policy.history_rows)),
        setting(CURSOR_DAYS, text::number(policy.cursor_days)),
    ];
    Ok(ports.set(&settings)?)
}

/// The template in force.
pub fn template<P: Ports>(ports: &mut P) -> Stored<Template> {
    const {
        assert!(
            contains_call(P::Rules::SENTENCE),
            "the sentence of the rules has no {{call}} in it"
        );
    }
    let text = ports.settings(&[TEMPLATE])?.into_iter().next().flatten();
    let set = text.filter(|text| !text.is_empty());
    Ok(Template(set.map_or(Cow::Borrowed(P::Rules::SENTENCE), Cow::Owned)))
}

/// A sentence with `{session}` and `{call}`.
pub struct Template(Cow<'static, str>);

impl Template {
    /// The text of a notice: a pure function of target and version, so that it is byte-identical
    /// while the notice is pending. `{call}` is the exact call that catches up.
    #[must_use]
    pub fn word(&self, target: &Session, last_seen: u64) -> String {
        let key = json::text(&target.key);
        let qualified = Key::parse("target", &target.key).is_ok_and(|key| key.is_qualified());
        let (agent_id, agent) = if qualified {
            ("", String::new())
        } else {
            (r#","agentId":"#, json::text(&target.agent))
        };
        let call = text::joined(&[
            r#"session_status {"sessionKey":"#,
            &key,
            agent_id,
            &agent,
            r#","changesSince":"#,
            &text::number(last_seen),
            "}",
        ]);
        fill(&self.0, &key, &call)
    }
}

/// Fills a template in one pass, so that a key that contains `{call}` stays what it is.
fn fill(template: &str, session: &str, call: &str) -> String {
    let mut text = String::with_capacity(template.len() + session.len() + call.len());
    let mut rest = template;
    while let Some((before, after)) = cut(rest, b'{') {
        let filled;
        (filled, rest) = if let Some(after) = after.strip_prefix("session}") {
            (session, after)
        } else if let Some(after) = after.strip_prefix("call}") {
            (call, after)
        } else {
            ("{", after)
        };
        text.push_str(before);
        text.push_str(filled);
    }
    text.push_str(rest);
    text
}

/// A named value of the store.
#[must_use]
pub fn setting(name: &str, value: String) -> Setting {
    Setting { name: name.to_string(), value }
}

fn check_template(template: &str) -> Result<(), InvalidInput> {
    let refused = |what| Err(refuse(InvalidReason::InvalidTemplate, "noticeTemplate", what));
    if template.is_empty() {
        return Ok(());
    }
    if template.len() > MAX_TEMPLATE_BYTES {
        return refused("a template has at most 1,000 bytes");
    }
    if text::has(template, is_forbidden) {
        return refused("a template is one line without control characters");
    }
    if !contains_call(template) {
        return refused("a template contains {call}, the call that catches up");
    }
    Ok(())
}

/// Whether `{call}` is in it. (Searching for a text of several bytes would cost the guest 6 KB.)
const fn contains_call(template: &str) -> bool {
    let mut rest = template.as_bytes();
    while let [_, after @ ..] = rest {
        if let [b'{', b'c', b'a', b'l', b'l', b'}', ..] = rest {
            return true;
        }
        rest = after;
    }
    false
}

fn check_range(field: &str, value: u32, most: u32) -> Result<(), InvalidInput> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(refuse(
        InvalidReason::OutOfRange,
        field,
        &text::joined(&["give a number from 1 to ", &text::number(most)]),
    ))
}

fn number(value: Option<String>, default: u32) -> Stored<u32> {
    let Some(text) = value else {
        return Ok(default);
    };
    let number = text::parse(&text).and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| corrupt("a retention setting of the store is not a number"))
}

#[cfg(test)]
mod tests;
