//! What a server sent back because of one line, sorted.

use anyhow::Context;
use serde_json::Value;

use super::scenario::Request;

/// Notifications, and the responses to the elements of a request in their order.
#[derive(Debug, Default, PartialEq)]
pub struct Answer {
    /// In the order in which they came.
    pub notifications: Vec<Value>,
    /// One, or as many as the batch asked for, or none.
    pub responses: Vec<Value>,
    /// Whether the responses came as those of a batch. A batch that is refused as a whole gets one
    /// response by itself.
    batched: bool,
}

impl Answer {
    /// Sorts lines.
    pub fn of(lines: &[String]) -> anyhow::Result<Self> {
        let mut answer = Self::default();
        for line in lines {
            match serde_json::from_str(line).context("the server said no JSON")? {
                Value::Array(responses) => {
                    answer.batched = true;
                    answer.responses.extend(responses);
                }
                line if line.get("method").is_some() => answer.notifications.push(line),
                response => answer.responses.push(response),
            }
        }
        Ok(answer)
    }

    /// The requests of a line, each with its response if there is one.
    pub fn pairs<'a>(&'a self, request: &'a Value) -> Vec<(&'a Value, Option<&'a Value>)> {
        let refused_as_a_whole = !self.batched && !self.responses.is_empty();
        let batch = match request {
            Value::Array(batch) if !refused_as_a_whole => batch,
            _ => return vec![(request, self.responses.first())],
        };
        let mut responses = self.responses.iter();
        let mut pairs = Vec::with_capacity(batch.len());
        for request in batch {
            // What has a method and no id is a notification, which nobody answers.
            let answered = request.get("id").is_some() || !request["method"].is_string();
            pairs.push((request, if answered { responses.next() } else { None }));
        }
        pairs
    }

    /// What was not as the scenario announced; nothing if everything was.
    pub fn surprise(&self, request: &Request) -> Option<String> {
        let reasons: Vec<&str> = self
            .responses
            .iter()
            .filter_map(|response| response.get("error"))
            .map(|error| error["data"]["reason"].as_str().unwrap_or("no reason"))
            .collect();
        let line = request.line;
        match (&request.expected, reasons.first()) {
            (None, None) => None,
            (None, Some(reason)) => Some(format!(
                "line {line} was answered with an error ({reason}) that no `#! expect-error` announced"
            )),
            (Some(_), None) => {
                Some(format!("line {line} was not answered with an error, as announced"))
            }
            (Some(expected), Some(found)) => match &expected.reason {
                Some(reason) if !reasons.contains(&reason.as_str()) => Some(format!(
                    "line {line} was answered with the error {found} instead of {reason}"
                )),
                _ => None,
            },
        }
    }

    /// Where a manual clock stands now, if this moved it.
    pub fn clock(&self, request: &Value) -> Option<u64> {
        let moved = |(request, response): &(&Value, Option<&Value>)| {
            let is_clock = request["method"] == "clock";
            response.filter(|_| is_clock)?.pointer("/result/now")?.as_u64()
        };
        self.pairs(request).iter().rev().find_map(moved)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::scenario::ExpectedError;
    use super::*;

    fn answer(lines: &[Value]) -> Answer {
        Answer::of(&lines.iter().map(Value::to_string).collect::<Vec<_>>()).unwrap()
    }

    fn any() -> ExpectedError {
        ExpectedError { reason: None }
    }

    fn this(reason: &str) -> ExpectedError {
        ExpectedError { reason: Some(reason.into()) }
    }

    fn refused(reason: &str) -> Answer {
        answer(&[json!({"id": 1, "error": {"code": -1, "data": {"reason": reason}}})])
    }

    fn request(expected: Option<ExpectedError>) -> Request {
        Request { line: 7, text: "{}".into(), value: None, expected }
    }

    #[test]
    fn elements_without_an_id_get_no_response() {
        let batch = json!([{"id": 1, "method": "a"}, {"method": "b"}, 7, {"id": 2, "method": "c"}]);
        let answer = answer(&[
            json!({"method": "wake", "params": {}}),
            json!([{"id": 1, "result": {}}, {"id": null, "error": {}}, {"id": 2, "result": {}}]),
        ]);
        assert_eq!(answer.notifications.len(), 1);
        let ids: Vec<Option<&Value>> = answer
            .pairs(&batch)
            .iter()
            .map(|(_, response)| response.map(|found| &found["id"]))
            .collect();
        assert_eq!(ids, [Some(&json!(1)), None, Some(&Value::Null), Some(&json!(2))]);
    }

    #[test]
    fn a_batch_that_is_refused_as_a_whole_gets_one_response() {
        let refusal = json!({"id": null, "error": {"code": -32600}});
        for batch in [json!([]), json!([{"id": 1}, {"id": 2}])] {
            let answer = answer(std::slice::from_ref(&refusal));
            assert_eq!(answer.pairs(&batch), [(&batch, Some(&refusal))]);
        }
    }

    #[test]
    fn an_error_has_to_be_announced_and_an_announced_one_has_to_come() {
        let fine = answer(&[json!({"id": 1, "result": {}})]);
        assert_eq!(fine.surprise(&request(None)), None);
        assert!(fine.surprise(&request(Some(any()))).unwrap().contains("line 7"));
        assert!(refused("too-long").surprise(&request(None)).unwrap().contains("too-long"));
        assert_eq!(refused("too-long").surprise(&request(Some(any()))), None);
        assert_eq!(refused("too-long").surprise(&request(Some(this("too-long")))), None);
        let words = refused("too-long").surprise(&request(Some(this("invalid-key")))).unwrap();
        assert!(words.contains("too-long instead of invalid-key"), "{words}");
    }

    #[test]
    fn the_clock_stands_where_the_last_request_put_it() {
        let batch = json!([{"id": 1, "method": "clock"}, {"id": 2, "method": "clock"}]);
        let moved =
            answer(&[json!([{"id": 1, "result": {"now": 5}}, {"id": 2, "result": {"now": 3}}])]);
        assert_eq!(moved.clock(&batch), Some(3));
        assert_eq!(
            moved.clock(&json!([{"id": 1, "method": "take"}, {"id": 2, "method": "take"}])),
            None
        );
    }
}
