//! The vectors as values, for tests that ask what is in them.

use headsup::conformance::VECTORS;
use serde_json::Value;

/// A step of a file.
pub struct Step {
    /// What is sent, where it is JSON: each request of a batch, or the only one.
    pub requests: Vec<Value>,
    /// Every object that must come back: notifications, and each response, of a batch too.
    pub answers: Vec<Value>,
}

/// All steps of all files.
pub fn steps() -> impl Iterator<Item = Step> {
    VECTORS.iter().flat_map(|(_, text)| values(text)).map(|step| {
        let sent = serde_json::from_str(&line(&step["send"])).unwrap_or(Value::Null);
        Step { requests: elements(&[sent]), answers: elements(step["expect"].as_array().unwrap()) }
    })
}

/// What the steps of a file send.
pub fn lines(text: &str) -> impl Iterator<Item = String> {
    values(text).map(|step| line(&step["send"]))
}

fn values(text: &str) -> impl Iterator<Item = Value> {
    text.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| serde_json::from_str(line).unwrap())
}

/// A text is sent as it is, anything else as JSON.
fn line(send: &Value) -> String {
    send.as_str().map_or_else(|| send.to_string(), ToOwned::to_owned)
}

/// The response that a step must bring to a request with this id.
pub fn response<'a>(step: &'a Step, id: &Value) -> Option<&'a Value> {
    step.answers.iter().find(|answer| answer.get("id") == Some(id))
}

/// Values, and the elements of those that are lists.
fn elements(values: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    for value in values {
        match value {
            Value::Array(elements) => all.extend(elements.iter().cloned()),
            value => all.push(value.clone()),
        }
    }
    all
}
