//! The protocol's conformance vectors, run against a core: requests with exactly what must come
//! back. The format is described in `tests/vectors/README.md`, and the vectors are part of the
//! binary.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::awareness::Awareness;
use crate::error::OpenError;
use crate::plugin::{Plugin, PluginError};
use crate::rpc::{BATCH_LIMIT, Output, Server};

// `VECTORS: &[(&str, &str)]`, the name and text of each file, by name.
include!(concat!(env!("OUT_DIR"), "/vectors.rs"));

/// Why a core does not conform, or could not be examined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConformanceError {
    /// The vectors themselves are wrong.
    #[error("{file}, line {line} is not a vector: {detail}")]
    Vector {
        /// The file.
        file: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        detail: String,
    },
    /// There is nothing to send, which no core could answer wrongly.
    #[error("{0} holds no vectors, so that nothing was examined")]
    Empty(String),
    /// No scratch store could be opened with this core.
    #[error("no scratch store: {0}")]
    Open(#[from] OpenError),
}

/// An answer that is not the one that it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The file of vectors.
    pub file: String,
    /// The line in it, counted from 1.
    pub line: usize,
    /// The rule that does not hold.
    pub rule: String,
    /// What was sent.
    pub sent: String,
    /// In words: where the answer differs, what it must be and what it is.
    pub detail: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, rule, sent, detail } = self;
        write!(f, "{file}, line {line}: {rule}\n  sent: {}\n  {detail}", cut(sent))
    }
}

/// What an examination found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Files of vectors.
    pub files: usize,
    /// Steps that were answered as they must be.
    pub passed: usize,
    /// The first step of each file that was not; the steps after it were not sent.
    pub differences: Vec<Difference>,
}

impl Report {
    /// Whether every step was answered as it must be, and there was one.
    #[must_use]
    pub fn conforms(&self) -> bool {
        self.passed > 0 && self.differences.is_empty()
    }
}

/// Runs all vectors that headsup was built with against a core.
pub fn check(plugin: &Plugin) -> Result<Report, ConformanceError> {
    check_files(plugin, VECTORS)
}

fn check_files(plugin: &Plugin, vectors: &[(&str, &str)]) -> Result<Report, ConformanceError> {
    let mut report = Report::default();
    for (file, text) in vectors {
        check_file(plugin, file, text, &mut report)?;
    }
    if report.files == 0 {
        return Err(ConformanceError::Empty("this headsup".into()));
    }
    Ok(report)
}

/// The same as a condition: the first difference is why a core is rejected.
///
/// # Errors
/// [`PluginError::Rejected`], also if no scratch store can be opened.
pub fn require(plugin: &Plugin) -> Result<(), PluginError> {
    let detail = match check(plugin) {
        Err(error) => error.to_string(),
        Ok(report) => match report.differences.first() {
            Some(difference) => difference.to_string(),
            None => return Ok(()),
        },
    };
    Err(PluginError::Rejected { detail })
}

/// The vectors that headsup was built with: the name and text of each file, by name.
#[must_use]
pub fn vectors() -> &'static [(&'static str, &'static str)] {
    VECTORS
}

/// Runs one file of vectors against a core, on a scratch store of its own; `file` is for messages.
pub fn check_file(
    plugin: &Plugin,
    file: &str,
    text: &str,
    report: &mut Report,
) -> Result<(), ConformanceError> {
    let output = Arc::new(Output::new(Vec::new()));
    let awareness = Awareness::builder(":memory:")
        .plugin(plugin.clone())
        .manual_clock(0)
        .listener(Arc::clone(&output))
        .open()?;
    let server = Server::new(awareness, Arc::clone(&output), BATCH_LIMIT);
    let send = |line: &str| {
        server.answer(line.as_bytes());
        Ok(output.with_writer(std::mem::take))
    };
    play_file(file, text, report, send)
}

/// Runs one file of vectors against whatever answers lines, over an empty store whose clock stands
/// at 0. `answer_to` takes one line and returns all lines that come back because of it, or why it could
/// not.
pub fn play_file(
    file: &str,
    text: &str,
    report: &mut Report,
    mut answer_to: impl FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<(), ConformanceError> {
    report.files += 1;
    let mut rule = String::from("(no rule)");
    let mut sent_any = false;
    for (index, line) in text.lines().enumerate() {
        let Some(step) = step(file, index + 1, line)? else {
            continue;
        };
        rule = step.name.unwrap_or(rule);
        sent_any = true;
        let sent = as_line(&step.send);
        let compared = answer_to(&sent).and_then(|answer| compare(&step.expect, &answer));
        if let Err(detail) = compared {
            let (file, line) = (file.to_owned(), index + 1);
            report.differences.push(Difference { file, line, rule, sent, detail });
            return Ok(());
        }
        report.passed += 1;
    }
    if sent_any { Ok(()) } else { Err(ConformanceError::Empty(file.to_owned())) }
}

/// One request and what it must bring back.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    name: Option<String>,
    send: Value,
    expect: Vec<Value>,
}

/// The step on a line; nothing on a blank line or a comment.
fn step(file: &str, line: usize, text: &str) -> Result<Option<Step>, ConformanceError> {
    if text.trim().is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    serde_json::from_str(text).map(Some).map_err(|error| ConformanceError::Vector {
        file: file.to_owned(),
        line,
        detail: error.to_string(),
    })
}

/// A text is sent as it is, anything else as JSON.
fn as_line(send: &Value) -> String {
    match send {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Says where an answer differs from what it must be.
fn compare(expected: &[Value], answer: &[u8]) -> Result<(), String> {
    let answer = str::from_utf8(answer).map_err(|_| "the answer is not UTF-8".to_owned())?;
    let lines: Vec<&str> = answer.lines().collect();
    for (index, (expected, line)) in expected.iter().zip(&lines).enumerate() {
        let number = index + 1;
        let found = serde_json::from_str(line)
            .map_err(|error| format!("line {number} of the answer is not JSON: {error}"))?;
        is_of_its_kind(expected, &found)
            .and_then(|()| differ("", expected, &found))
            .map_err(|detail| format!("line {number} of the answer: {detail}"))?;
    }
    let (must, are) = (expected.len(), lines.len());
    let first_beyond = lines.get(must).map(|line| cut(line));
    let first_missing = expected.get(are).map(Value::to_string);
    match (first_beyond, first_missing) {
        (Some(line), _) => Err(format!("{must} lines must come back, {are} do; beyond: {line}")),
        (None, Some(line)) => {
            Err(format!("{must} lines must come back, {are} do; missing: {}", cut(&line)))
        }
        (None, None) => Ok(()),
    }
}

/// Where something else came first, what is missing says more than the members in which they differ.
fn is_of_its_kind(expected: &Value, found: &Value) -> Result<(), String> {
    let notified = |line: &Value| line.get("method").is_some();
    if notified(expected) == notified(found) {
        return Ok(());
    }
    Err(format!("must be {}, and is {}", show(expected), show(found)))
}

/// The first difference of two values, with the path to it.
fn differ(path: &str, expected: &Value, found: &Value) -> Result<(), String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (name, value) in found {
                let path = format!("{path}.{name}");
                match expected.get(name) {
                    Some(expected) => differ(&path, expected, value)?,
                    None if may_be_left_out(&path) && is_text(value) => {}
                    None => {
                        return Err(format!("{path} must not be there, and is {}", show(value)));
                    }
                }
            }
            match expected.iter().find(|(name, _)| !found.contains_key(*name)) {
                Some((name, value)) => {
                    Err(format!("{path}.{name} must be {}, and is not there", show(value)))
                }
                None => Ok(()),
            }
        }
        (Value::Array(expected), Value::Array(found)) => {
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                differ(&format!("{path}[{index}]"), expected, found)?;
            }
            let (must, are) = (expected.len(), found.len());
            if must == are {
                return Ok(());
            }
            Err(format!(
                "{path} must have {must} elements, and has {are}: {}",
                show(&found[..].into())
            ))
        }
        _ if expected == found => Ok(()),
        _ => Err(format!("{path} must be {}, and is {}", show(expected), show(found))),
    }
}

/// The words of an error may change; everything else may not.
fn may_be_left_out(path: &str) -> bool {
    let whole = path.strip_prefix('[').and_then(|rest| Some(rest.split_once(']')?.1));
    whole.unwrap_or(path) == ".error.message"
}

fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn show(value: &Value) -> String {
    cut(&value.to_string())
}

/// Long lines are cut: a report is read by people.
fn cut(text: &str) -> String {
    const MOST: usize = 300;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn difference(expected: Value, answer: &str) -> String {
        let Value::Array(expected) = expected else { panic!("a list") };
        compare(&expected, answer.as_bytes()).expect_err("they differ")
    }

    #[test]
    fn without_vectors_nothing_conforms() {
        let engine = crate::Engine::new(None).unwrap();
        let plugin = Plugin::built_in(&engine).unwrap();
        for vectors in [&[][..], &[("f.jsonl", "# words\n\n")][..]] {
            let outcome = check_files(&plugin, vectors);
            assert!(matches!(outcome, Err(ConformanceError::Empty(_))), "{outcome:?}");
        }
        assert!(!Report::default().conforms());
    }

    #[test]
    fn members_have_no_order_and_lists_do() {
        compare(&[json!({"a": 1, "b": [1, 2]})], b"{\"b\":[1,2],\"a\":1}\n").unwrap();
        let words = difference(json!([{"b": [1, 2]}]), "{\"b\":[2,1]}\n");
        assert_eq!(words, "line 1 of the answer: .b[0] must be 1, and is 2");
    }

    #[test]
    fn only_the_message_of_an_error_may_be_left_out() {
        let left_out = json!({"error": {"code": -1}});
        compare(std::slice::from_ref(&left_out), br#"{"error":{"code":-1,"message":"m"}}"#)
            .unwrap();
        compare(&[json!([left_out])], br#"[{"error":{"code":-1,"message":"m"}}]"#).unwrap();
        let words = difference(json!([left_out]), r#"{"error":{"code":-1,"message":""}}"#);
        assert!(words.contains(".error.message must not be there"), "{words}");
        let words = difference(json!([{"result": {}}]), r#"{"result":{"message":"m"}}"#);
        assert!(words.contains(".result.message must not be there"), "{words}");
        let given = json!([{"error": {"message": "a"}}]);
        let words = difference(given, r#"{"error":{"message":"b"}}"#);
        assert!(words.contains(r#".error.message must be "a", and is "b""#), "{words}");
    }

    #[test]
    fn a_missing_member_and_a_different_type_are_named() {
        let words = difference(json!([{"result": {"n": 1}}]), r#"{"result":{}}"#);
        assert!(words.contains(".result.n must be 1, and is not there"), "{words}");
        let words = difference(json!([1]), "1.0");
        assert!(words.contains("must be 1, and is 1.0"), "{words}");
    }

    #[test]
    fn lines_that_miss_or_are_too_many_are_shown() {
        let words = difference(json!([1, 2]), "1\n");
        assert!(words.contains("2 lines must come back, 1 do; missing: 2"), "{words}");
        let words = difference(json!([1]), "1\n2\n");
        assert!(words.contains("1 lines must come back, 2 do; beyond: 2"), "{words}");
        compare(&[], b"").unwrap();
    }

    #[test]
    fn a_notification_that_is_missing_is_shown_and_not_the_members_of_what_came_instead() {
        let notice = json!({"method": "notice", "params": {}});
        let words = difference(json!([notice, {"id": 1}]), "{\"id\":1}\n");
        let must = "line 1 of the answer: must be {\"method\":\"notice\",\"params\":{}}, and is {\"id\":1}";
        assert_eq!(words, must);
        let words = difference(json!([{"id": 1}]), "{\"method\":\"wake\"}\n{\"id\":1}\n");
        assert!(words.contains("must be {\"id\":1}"), "{words}");
    }

    #[test]
    fn a_text_is_sent_as_it_is_and_anything_else_as_json() {
        assert_eq!(as_line(&json!("{ 1.0")), "{ 1.0");
        assert_eq!(as_line(&json!(["a", 1])), r#"["a",1]"#);
    }

    #[test]
    fn a_step_that_is_none_is_named_by_its_line() {
        assert!(step("f", 1, "  ").unwrap().is_none());
        assert!(step("f", 1, "# words").unwrap().is_none());
        let error = step("f.jsonl", 7, r#"{"send":1,"expected":[]}"#).err().unwrap();
        assert!(error.to_string().starts_with("f.jsonl, line 7 is not a vector: "), "{error}");
    }
}
