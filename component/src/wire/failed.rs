//! Recordings that the store or the core failed: they are answered with a result, since they never
//! fail the turn that caused them, and an operator is told what was lost.

use alloc::string::String;
use alloc::vec;

use super::answers;
use super::methods::{Name, PARAMS};
use super::signal;
use crate::json::Value;
use crate::text::joined;

/// Recordings that failed.
pub struct Recordings {
    /// The result that says so.
    pub result: String,
    /// Which session, for the log, or which is the first of several; none if nothing was to be
    /// recorded.
    pub session: Option<String>,
}

/// What becomes of a recording that failed for this reason; `None` for every other method.
pub fn recordings(method: Name, params: &Value<'_>, reason: &str) -> Option<Recordings> {
    let (signals, result) = match method {
        Name::Record => {
            let signal = signal::read(params, &PARAMS).ok()?;
            (vec![signal], answers::failed_outcome(reason))
        }
        Name::RecordMany => {
            let signals = signal::read_many(params).ok()?;
            let result = answers::failed_outcomes(signals.len(), reason);
            (signals, result)
        }
        _ => return None,
    };
    let mut session = signals.first().map(|signal| signal.session.key.clone());
    if signals.len() > 1
        && let Some(session) = &mut session
    {
        *session = joined(&[session, " and others"]);
    }
    Some(Recordings { result, session })
}
