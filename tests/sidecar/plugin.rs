//! A core of somebody else's: the file of the template serves here as in every other host.

use std::path::Path;

use harness::command::text;
use harness::plugins;
use serde_json::json;

use crate::server::{Server, call, watch};

const MAIN: &str = "agent:main:main";
const WORKER: &str = "agent:main:worker";

#[test]
fn a_core_with_a_rule_of_its_own_serves_on_the_socket_and_over_http() {
    let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings/plugin-template");
    let core = plugins::build(&template, "");
    let server = Server::with("", &["--db", ":memory:", "--plugin", text(&core)]);
    let goal = |actor: &str, id: &str| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "record", "params": {
            "session": WORKER, "kind": "goal_changed", "change": "updated",
            "actor": {"type": actor, "id": id},
        }})
        .to_string()
    };
    for mut client in [server.client(), server.web_client()] {
        client.rpc(watch(MAIN, WORKER));
        client.rpc(goal("agent", "agent:ops:main"));
        assert_eq!(client.rpc(call("pending")).json()["result"], json!({"watchers": []}));
        client.rpc(goal("human", "somebody"));
        let pending = json!({"watchers": [{"watcher": MAIN, "notices": 1}]});
        assert_eq!(client.rpc(call("pending")).json()["result"], pending);
        let reset =
            json!({"jsonrpc": "2.0", "id": 1, "method": "reset", "params": {"session": MAIN}});
        client.rpc(reset.to_string());
    }
}
