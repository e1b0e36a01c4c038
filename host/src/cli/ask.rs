//! One request to the component, for the commands that look into a store: what they print as JSON
//! is the surface's own answer.

use headsup::Awareness;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::failure::Failure;

#[derive(Deserialize)]
struct Response {
    result: Option<Box<RawValue>>,
    error: Option<Problem>,
}

#[derive(Deserialize)]
struct Problem {
    code: i64,
    message: String,
    data: Reason,
}

#[derive(Deserialize)]
struct Reason {
    reason: String,
}

/// Refused params: the arguments of the command were wrong.
const PARAMS: i64 = -32_602;

/// The result of a method.
pub fn ask(awareness: &Awareness, method: &str, params: &Value) -> Result<Box<RawValue>, Failure> {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let response = awareness.call(&request.to_string()).unwrap_or_default();
    let response = serde_json::from_str::<Response>(&response).map_err(anyhow::Error::from)?;
    match (response.result, response.error) {
        (Some(result), _) => Ok(result),
        (None, Some(problem)) => Err(problem.into()),
        (None, None) => Err(anyhow::anyhow!("the core gave an empty answer to `{method}`").into()),
    }
}

/// The same, read into a type.
pub fn ask_for<T: for<'de> Deserialize<'de>>(
    awareness: &Awareness,
    method: &str,
    params: &Value,
) -> Result<T, Failure> {
    let result = ask(awareness, method, params)?;
    Ok(serde_json::from_str(result.get()).map_err(anyhow::Error::from)?)
}

/// A session as a command's arguments name it.
pub fn session(key: &str, agent: Option<&str>) -> Value {
    match agent {
        Some(agent) => json!({"key": key, "agent": agent}),
        None => key.into(),
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let Problem { code, message, data: Reason { reason } } = problem;
        let words = format!("{message} ({reason})");
        match (code, reason.as_str()) {
            (PARAMS, "agent-required") => {
                Self::Usage(format!("{words}: say which agent's it is with --agent"))
            }
            // Said right, about a file that is not as it should be.
            (PARAMS, "source-missing" | "source-unavailable" | "source-refused") => {
                Self::Failed(anyhow::anyhow!(words))
            }
            (PARAMS, _) => Self::Usage(words),
            _ => Self::Failed(anyhow::anyhow!(words)),
        }
    }
}
