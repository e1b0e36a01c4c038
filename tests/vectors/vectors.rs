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
    let lines = VECTORS.iter().flat_map(|(_, text)| text.lines());
    lines.filter(|line| !line.trim().is_empty() && !line.starts_with('#')).map(|line| {
        let step: Value = serde_json::from_str(line).unwrap();
        let sent = match &step["send"] {
            Value::String(text) => serde_json::from_str(text).unwrap_or(Value::Null),
            value => value.clone(),
        };
        Step { requests: elements(&[sent]), answers: elements(step["expect"].as_array().unwrap()) }
    })
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
