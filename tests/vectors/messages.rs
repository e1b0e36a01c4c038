//! What errors say to people. The vectors leave their words open; these rules do not.

use std::path::Path;

use headsup::conformance::VECTORS;
use serde_json::Value;

use crate::built_in;
use crate::vectors::lines;
use crate::witness::Witness;

/// No message is longer, in bytes: it lists what is allowed, and never repeats what was sent.
const LONGEST: usize = 300;

#[test]
fn every_error_is_one_short_line_that_begins_with_the_field() {
    let plugin = built_in();
    let mut errors = 0;
    for (file, text) in VECTORS {
        let witness = Witness::new(&plugin, Path::new(":memory:"));
        for sent in lines(text) {
            for error in errors_in(&witness.answer(&sent)) {
                let message = error["message"].as_str().unwrap();
                assert!((1..=LONGEST).contains(&message.len()), "{file}: {message}");
                assert!(!message.contains(char::is_control), "{file}: {message}");
                if let Some(field) = error.pointer("/data/field") {
                    let named = message.starts_with(&format!("{}: ", field.as_str().unwrap()));
                    assert!(named, "{file}: {message}");
                }
                errors += 1;
            }
        }
    }
    assert!(errors > 500, "{errors}");
}

fn errors_in(answer: &str) -> Vec<Value> {
    let mut errors = Vec::new();
    for line in answer.lines() {
        let mut answers = match serde_json::from_str(line).unwrap() {
            Value::Array(answers) => answers,
            answer => vec![answer],
        };
        errors
            .extend(answers.iter_mut().filter_map(|answer| Some(answer.get_mut("error")?.take())));
    }
    errors
}
