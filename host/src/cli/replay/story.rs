//! A scenario as a story: headings, who did what, and below it what each session sees.

use serde_json::Value;

use super::super::output::{ALERT, BAD, FAINT, GOOD, STRONG, WAKE, styled};
use super::answer::Answer;
use super::outcome::{Outcome, outcome};
use super::scenario::{ExpectedError, Request};
use super::sentence::{cut, sentence};
use super::transcripts::Row;

/// The start of a paragraph.
pub fn heading(text: &str) -> String {
    styled(STRONG, text)
}

/// A remark inside of one.
pub fn narration(text: &str) -> String {
    styled(FAINT, text)
}

/// The server was killed.
pub fn killed() -> String {
    format!("  {}", styled(BAD, "the server is killed and started again on the same store"))
}

/// Another tool wrote into a transcript.
pub fn appended(row: &Row) -> String {
    format!("  {}", styled(FAINT, row.sentence()))
}

/// What came without a request: notices and wakes of a recovery.
pub fn heard(answer: &Answer) -> Vec<String> {
    answer.notifications.iter().map(notification).collect()
}

/// A request, what came of it, and what that brought to others. `value` is the request's.
pub fn told(request: &Request, value: &Value, answer: &Answer) -> Vec<String> {
    let mut lines = Vec::new();
    if request.value.is_none() {
        let response = answer.responses.first();
        lines.extend(one(&format!("sent: {}", cut(&request.text)), value, response, request));
    } else {
        if value.is_array() {
            lines.push("  in one batch".into());
        }
        for (element, response) in answer.pairs(value) {
            lines.extend(one(&sentence(element), element, response, request));
        }
    }
    lines.extend(heard(answer));
    lines
}

fn one(what: &str, element: &Value, response: Option<&Value>, request: &Request) -> Vec<String> {
    let Some(response) = response else {
        return vec![format!("  {what}")];
    };
    if let Some(error) = response.get("error") {
        return vec![
            format!("  {what}"),
            format!("      {}", refusal(error, request.expected.as_ref())),
        ];
    }
    let Outcome { words, seen } = outcome(element, &response["result"]);
    let first = if words.is_empty() {
        format!("  {what}")
    } else {
        format!("  {what}  {}", styled(FAINT, format!("→ {words}")))
    };
    let below = seen.into_iter().map(|line| format!("      {}", styled(GOOD, line)));
    std::iter::once(first).chain(below).collect()
}

fn refusal(error: &Value, expected: Option<&ExpectedError>) -> String {
    let reason = error["data"]["reason"].as_str().unwrap_or("no reason");
    let message = error["message"].as_str().unwrap_or_default();
    match expected {
        Some(_) => styled(ALERT, format!("refused: {reason}: {message}")),
        None => styled(BAD, format!("error: {reason}: {message}")),
    }
}

fn notification(notification: &Value) -> String {
    let params = &notification["params"];
    let watcher = params["watcher"].as_str().unwrap_or("?");
    match notification["method"].as_str().unwrap_or_default() {
        "notice" => {
            let text = params["text"].as_str().unwrap_or_default();
            format!("      {} {watcher}: {text}", styled(ALERT, "notice for"))
        }
        "wake" => format!("      {} {watcher}", styled(WAKE, "wake   for")),
        "log" => {
            let (level, message) = (&params["level"], &params["message"]);
            let (level, message) = (level.as_str().unwrap_or("?"), message.as_str().unwrap_or("?"));
            format!("      {} {level}: {message}", styled(BAD, "log"))
        }
        _ => format!("      {}", cut(&notification.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plain(lines: Vec<String>) -> Vec<String> {
        let strip = |line: String| anstream::adapter::strip_str(&line).to_string();
        lines.into_iter().map(strip).collect()
    }

    fn request(value: &Value) -> Request {
        Request { line: 1, text: value.to_string(), value: Some(value.clone()), expected: None }
    }

    #[test]
    fn notices_and_wakes_stand_below_the_request_that_caused_them() {
        let value = json!({"id": 1, "method": "record", "params": {"session": "agent:main:w", "kind": "created"}});
        let lines = [
            json!({"method": "notice", "params": {"watcher": "agent:main:main", "text": "look"}}),
            json!({"method": "wake", "params": {"watcher": "agent:main:main"}}),
            json!({"id": 1, "result": {"outcome": "recorded", "stateVersion": 2}}),
        ];
        let answer = Answer::of(&lines.map(|line| line.to_string())).unwrap();
        assert_eq!(
            plain(told(&request(&value), &value, &answer)),
            [
                "  agent:main:w is created  → version 2",
                "      notice for agent:main:main: look",
                "      wake   for agent:main:main",
            ]
        );
    }

    #[test]
    fn an_error_is_shown_whether_it_was_announced_or_not() {
        let value = json!({"id": 1, "method": "take", "params": {}});
        let line = json!({"id": 1, "error": {"message": "m", "data": {"reason": "missing-field"}}});
        let answer = Answer::of(&[line.to_string()]).unwrap();
        let mut request = request(&value);
        assert_eq!(plain(told(&request, &value, &answer))[1], "      error: missing-field: m");
        request.expected = Some(ExpectedError { reason: None });
        assert_eq!(plain(told(&request, &value, &answer))[1], "      refused: missing-field: m");
    }
}
