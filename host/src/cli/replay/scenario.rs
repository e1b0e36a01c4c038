//! A scenario: what a file for `headsup replay` says to do.

use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use super::transcripts::Row;

/// One thing to do or to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A comment at the start of a paragraph.
    Heading(String),
    /// A comment inside of one.
    Narration(String),
    /// A request or a batch.
    Send(Request),
    /// The server is killed and started again on the same store.
    Kill,
    /// Another tool writes a row of a transcript.
    Append(Row),
}

/// What is sent as one line.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The line in the file, counted from 1.
    pub line: usize,
    /// As it stands in the file.
    pub text: String,
    /// The same as a value; absent where it is no JSON, which only an announced error may be.
    pub value: Option<Value>,
    /// Announced by `#! expect-error` just before.
    pub expected: Option<ExpectedError>,
}

/// An error that is part of the story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedError {
    /// Its `data.reason`; absent: any.
    pub reason: Option<String>,
}

/// Reads a scenario.
pub fn read(path: &Path) -> anyhow::Result<Vec<Step>> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the scenario {name} cannot be read"))?;
    parse(&text).with_context(|| format!("the scenario {name}"))
}

fn parse(text: &str) -> anyhow::Result<Vec<Step>> {
    // Some editors mark a text as UTF-8.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut steps = Vec::new();
    let mut expected = None;
    let mut starts_paragraph = true;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let line = line.trim();
        if let Some(directive) = line.strip_prefix("#!") {
            match self::directive(directive).with_context(|| format!("line {number}"))? {
                Directive::Kill => steps.push(Step::Kill),
                Directive::Append(row) => steps.push(Step::Append(row)),
                Directive::ExpectError(error) => expected = Some((number, error)),
            }
        } else if let Some(comment) = line.strip_prefix("# ") {
            let comment = comment.trim().to_owned();
            let kind = if starts_paragraph { Step::Heading } else { Step::Narration };
            steps.push(kind(comment));
        } else if !line.is_empty() && !line.starts_with('#') {
            let expected = expected.take().map(|(_, error)| error);
            steps.push(Step::Send(request(number, line, expected)?));
        }
        starts_paragraph = line.is_empty();
    }
    if let Some((number, _)) = expected {
        bail!("line {number}: no request follows that could be answered with an error");
    }
    Ok(steps)
}

enum Directive {
    Kill,
    Append(Row),
    ExpectError(ExpectedError),
}

fn directive(text: &str) -> anyhow::Result<Directive> {
    if let Some(row) = text.trim_start().strip_prefix("append ") {
        return Ok(Directive::Append(Row::read(row)?));
    }
    let mut words = text.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some("kill"), None, _) => Ok(Directive::Kill),
        (Some("expect-error"), reason, None) => {
            let reason = reason.map(ToOwned::to_owned);
            Ok(Directive::ExpectError(ExpectedError { reason }))
        }
        _ => {
            bail!(
                "`#!{text}` is no directive; there are `#! kill`, `#! expect-error [REASON]` and \
                 `#! append NAME ROW`"
            )
        }
    }
}

fn request(line: usize, text: &str, expected: Option<ExpectedError>) -> anyhow::Result<Request> {
    let value: Option<Value> = match serde_json::from_str(text) {
        Ok(value) => Some(value),
        Err(_) if expected.is_some() => None,
        Err(error) => bail!(
            "line {line} is no JSON: {error} (write `#! expect-error` before it if that is the point)"
        ),
    };
    let whole = matches!(value, Some(Value::Object(_) | Value::Array(_)));
    if !whole && expected.is_none() {
        bail!("line {line} is no request: one is a JSON object, or a list of them");
    }
    Ok(Request { line, text: text.to_owned(), value, expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_headings_at_the_start_of_a_paragraph_and_narration_inside() {
        let steps =
            parse("# One\n# more\n#silent\n\n\n# Two\n{}\n# after\n#! append w.jsonl {}").unwrap();
        let words: Vec<String> = steps
            .iter()
            .map(|step| match step {
                Step::Heading(text) => format!("H {text}"),
                Step::Narration(text) => format!("N {text}"),
                Step::Send(request) => format!("{} {}", request.line, request.text),
                Step::Kill => "kill".into(),
                Step::Append(row) => row.sentence(),
            })
            .collect();
        assert_eq!(
            words,
            ["H One", "N more", "H Two", "7 {}", "N after", "w.jsonl gets a row of type nameless"]
        );
    }

    #[test]
    fn an_announced_error_belongs_to_the_next_request_alone() {
        let steps = parse("#! expect-error invalid-key\n# why\n{\n{}\n#! kill\n").unwrap();
        let sent: Vec<&Request> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Send(request) => Some(request),
                _ => None,
            })
            .collect();
        assert_eq!(sent[0].expected, Some(ExpectedError { reason: Some("invalid-key".into()) }));
        assert_eq!(sent[0].value, None);
        assert_eq!(sent[1].expected, None);
        assert_eq!(steps.last(), Some(&Step::Kill));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        assert_eq!(parse("\u{feff}# One\n{}").unwrap(), parse("# One\n{}").unwrap());
        assert_eq!(parse("\u{feff}{}").unwrap(), parse("{}").unwrap());
    }

    #[test]
    fn a_bad_line_is_an_error_with_its_number() {
        for (text, words) in [
            ("{}\n{", "line 2 is no JSON"),
            ("\n\n7", "line 3 is no request"),
            ("#! explode", "line 1: `#! explode` is no directive"),
            ("#! kill now", "line 1: "),
            ("#! append w.jsonl", "line 1: `#! append` needs"),
            ("{}\n#! expect-error\n", "line 2: no request follows"),
        ] {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.starts_with(words), "{error}");
        }
    }
}
