//! The JSON surface: any bytes get at most one response, which is one; nothing ends the process; an
//! error changes nothing.

use headsup::rpc::{BATCH_LIMIT, Calls};
use headsup::{Awareness, Durability};
use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::driver::{corpus, fuzz};

struct Surface {
    calls: Calls,
    /// Sees whether anybody committed.
    beside: Connection,
    _folder: TempDir,
}

impl Surface {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("headsup.db");
        let awareness = Awareness::builder(&path)
            .plugin(harness::core())
            .durability(Durability::Normal)
            .source_folders([folder.path()])
            .manual_clock(harness::NOON)
            .open()
            .unwrap();
        let beside = Connection::open(&path).unwrap();
        Self { calls: Calls::new(awareness, BATCH_LIMIT), beside, _folder: folder }
    }

    /// Changes whenever another connection commits.
    fn commits(&self) -> i64 {
        self.beside.query_row("PRAGMA data_version", [], |row| row.get(0)).unwrap()
    }

    fn take(&self, input: &[u8]) {
        let before = self.commits();
        let response = self.calls.answer(input);
        let request: Option<Value> = serde_json::from_slice(input).ok();
        let Some(response) = response else {
            // Notifications alone are not answered, and what is nothing.
            let notifies = |one: &Value| one.as_object().is_some_and(|it| !it.contains_key("id"));
            let silent = match &request {
                Some(Value::Array(all)) => !all.is_empty() && all.iter().all(notifies),
                Some(one) => notifies(one),
                None => input.trim_ascii().is_empty(),
            };
            assert!(silent, "{request:?} was not answered");
            return;
        };
        assert!(!response.contains('\n'), "{response}");
        match serde_json::from_str(&response).expect("a response is JSON") {
            Value::Array(all) => {
                all.iter().for_each(Self::is_response);
                // What is not answered may have been done.
                let asked = request.as_ref().and_then(Value::as_array).map(Vec::len);
                let bad = |response: &Value| response.get("error").is_some();
                if asked == Some(all.len()) && all.iter().all(bad) {
                    assert_eq!(self.commits(), before, "{all:?} changed something");
                }
            }
            one => {
                Self::is_response(&one);
                if one.get("error").is_some() {
                    assert_eq!(self.commits(), before, "{one} changed something");
                }
            }
        }
    }

    fn is_response(response: &Value) {
        assert_eq!(response["jsonrpc"], "2.0", "{response}");
        assert!(response.get("id").is_some(), "{response}");
        let (result, error) = (response.get("result"), response.get("error"));
        assert!(result.is_some() != error.is_some(), "{response}");
        if let Some(error) = error {
            assert!(error["code"].is_i64() && error["message"].is_string(), "{response}");
            let reason = error["data"]["reason"].as_str().unwrap_or_default();
            assert!(
                !["plugin-trap", "store-corrupt", "store-failed"].contains(&reason),
                "{response}"
            );
        }
    }

    /// It goes on serving.
    fn serves(&self) {
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"pending"}"#;
        let response = self.calls.awareness().call(request).expect("a response");
        assert!(response.contains("result"), "{response}");
    }
}

#[test]
fn any_bytes_get_one_response_and_an_error_changes_nothing() {
    let surface = Surface::new();
    fuzz("json", &corpus("json"), |input| {
        surface.take(input);
        surface.serves();
    });
}
