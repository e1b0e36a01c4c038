//! That `docs/openapi.json` describes the server: every method and path, and nothing else; every answer
//! of the vectors, and every request that they have answered with a result.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use headsup_component::wire;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::client::Client;
use crate::server::{Server, TOKEN};

const TEXT: &str = include_str!("../../docs/openapi.json");

/// The description, with its schemas ready to use.
pub struct Description {
    whole: Value,
    schemas: BTreeMap<String, Validator>,
}

/// The one of this process: to make its schemas ready takes longer than any test.
pub static DESCRIPTION: LazyLock<Description> = LazyLock::new(Description::new);

impl Description {
    fn new() -> Self {
        let whole: Value = serde_json::from_str(TEXT).unwrap();
        let names = whole["components"]["schemas"].as_object().unwrap().keys();
        let schemas = names.map(|name| (name.clone(), validator(&whole, name))).collect();
        Self { whole, schemas }
    }

    /// Whether a line and the lines that came back because of it are as described.
    pub fn holds_for(&self, sent: &str, answers: &[Value]) -> Result<(), String> {
        let sent: Value = serde_json::from_str(sent).unwrap_or(Value::Null);
        let requests: Vec<&Value> = elements(&sent);
        for answer in answers.iter().flat_map(elements) {
            if let Some(name) = answer["method"].as_str() {
                self.check(&format!("event.{name}"), &answer["params"])?;
                continue;
            }
            self.check("Response", answer)?;
            if answer.get("result").is_none() {
                continue;
            }
            let asked = requests.iter().find(|request| request["id"] == answer["id"]);
            // One whose id stands twice, say, is told from the others by nothing.
            let Some(method) = asked.and_then(|request| request["method"].as_str()) else {
                continue;
            };
            self.check(&format!("{method}.result"), &answer["result"])?;
            self.check("Request", asked.copied().unwrap_or(&Value::Null))?;
        }
        Ok(())
    }

    /// What it says of a status, wherever that may come.
    pub fn of_status(&self, status: &str) -> Vec<&Value> {
        let verbs = self.whole["paths"].as_object().unwrap().values();
        let answers = verbs.flat_map(|verbs| verbs.as_object().unwrap().values());
        answers.filter_map(|verb| verb["responses"].get(status)).collect()
    }

    fn check(&self, name: &str, value: &Value) -> Result<(), String> {
        let schema = self.schemas.get(name).ok_or_else(|| format!("{name} is not described"))?;
        let valid = schema.validate(value);
        valid.map_err(|error| format!("{value} is no {name}: {error}"))
    }
}

fn elements(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |all| all.iter().collect())
}

/// A validator of one schema, with the others beside it.
fn validator(whole: &Value, name: &str) -> Validator {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$ref": format!("#/components/schemas/{name}"),
        "components": whole["components"],
    });
    jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_method_is_described_and_nothing_else() {
    let description = &*DESCRIPTION;
    let schemas = description.whole["components"]["schemas"].as_object().unwrap();
    let described = |suffix: &str| -> BTreeSet<&str> {
        schemas.keys().filter_map(|name| name.strip_suffix(suffix)).collect()
    };
    let methods = wire::methods();
    let names: BTreeSet<&str> = methods.iter().map(|method| method.name.as_str()).collect();
    for suffix in [".request", ".params", ".result"] {
        assert_eq!(described(suffix), names, "{suffix}");
    }
    for method in methods {
        let access = format!("{:?}", method.access).to_lowercase().replace("access::", "");
        let schema = &schemas[&format!("{}.request", method.name)];
        assert_eq!(schema["x-access"], access.as_str(), "{}", method.name);
        assert_eq!(schema["properties"]["method"]["const"], method.name);
        for union in ["Request", "Success"] {
            assert!(schemas[union].to_string().contains(&format!("/{}.", method.name)));
        }
    }
}

#[test]
fn every_schema_is_used_and_is_one() {
    let description = &*DESCRIPTION;
    for name in description.schemas.keys() {
        let reference = format!("\"#/components/schemas/{name}\"");
        assert!(TEXT.contains(&reference), "{name} is used nowhere");
    }
}

#[test]
fn a_wrong_answer_is_told_from_a_right_one() {
    let description = &*DESCRIPTION;
    let sent = r#"{"jsonrpc":"2.0","id":1,"method":"watch","params":{"watcher":"a","target":"b"}}"#;
    let answer = |result: Value| [json!({"jsonrpc": "2.0", "id": 1, "result": result})];
    description.holds_for(sent, &answer(json!({"watched": true}))).unwrap();
    for wrong in [
        json!({}),
        json!({"watched": 1}),
        json!({"watched": true, "x": 1}),
        json!({"removed": true}),
    ] {
        assert!(description.holds_for(sent, &answer(wrong.clone())).is_err(), "{wrong}");
    }
    let unknown = json!({"jsonrpc": "2.0", "method": "nonsense", "params": {}});
    assert!(description.holds_for(sent, &[unknown]).is_err());
}

#[test]
fn every_path_is_served_as_described_and_any_other_is_not_there() {
    let description = &*DESCRIPTION;
    let server = Server::start();
    let mut client = server.client();
    let paths = description.whole["paths"].as_object().unwrap();
    for (path, verbs) in paths {
        let allowed: Vec<String> =
            verbs.as_object().unwrap().keys().map(|verb| verb.to_uppercase()).collect();
        for verb in ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"] {
            // A stream does not end: it gets a connection of its own.
            let mut client = Client::connect(&server.http, Some(TOKEN));
            client.send(&format!("{verb} {path}"), "", "");
            let head = client.head().unwrap();
            if allowed.iter().any(|it| it == verb) {
                let status = head.status.to_string();
                let described = &verbs[verb.to_lowercase()]["responses"];
                assert!(head.status < 300 && described.get(status).is_some(), "{verb} {path}");
            } else {
                assert_eq!(head.status, 405, "{verb} {path}");
                assert_eq!(head.header("allow"), Some(allowed.join(", ").as_str()));
            }
        }
    }
    assert_eq!(paths.len(), 5);
    let other = client.get("/nonsense");
    assert_eq!(other.status, 404);
    assert!(other.body.contains("/rpc") && other.body.contains("/events"), "{}", other.body);
}

#[test]
fn the_description_is_served_as_it_is_written() {
    let server = Server::start();
    let response = server.client().get("/openapi.json");
    assert_eq!((response.status, response.body.as_str()), (200, TEXT));
    assert_eq!(response.json()["info"]["version"], env!("CARGO_PKG_VERSION"));
}
