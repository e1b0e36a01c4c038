//! A call of each method with all of its fields.

use harness::{CHILD, MAIN, NOON, OPS, WORKER};
use serde_json::{Value, json};

/// Calls with every field of their methods, which work.
pub fn examples(number: usize) -> Vec<(&'static str, Value)> {
    let main = json!({"key": MAIN, "agent": "main"});
    let child = json!({"key": CHILD, "agent": "main"});
    let worker = json!({"key": WORKER, "agent": "main"});
    let signal = |kind: &str, more: Value| {
        let actor = match kind {
            "human_direct_message" => json!({"type": "human", "id": "u1"}),
            _ => json!({"type": "agent", "id": OPS}),
        };
        let mut signal = json!({
            "session": child, "kind": kind, "actor": actor,
            "runId": format!("r{number}"), "sessionId": "s1", "occurredAt": NOON,
            "dedupeKey": format!("d{number}"), "watchers": [MAIN],
        });
        let Value::Object(more) = more else { panic!("fields") };
        if kind == "compacted" {
            // Its own key is its operation.
            signal.as_object_mut().unwrap().remove("dedupeKey");
        }
        signal.as_object_mut().unwrap().extend(more);
        signal
    };
    let receipt =
        json!({"target": CHILD, "agent": "main", "since": 0, "upTo": 1, "text": "a notice"});
    let node = json!({"kind": "claude-node", "node": "n1", "thread": "t1"});
    let row = json!({
        "type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        "uuid": format!("u{number}"), "timestamp": "1972-09-27T00:00:01.000Z",
        "entrypoint": "cli", "isSidechain": false, "promptId": "p1", "origin": {"kind": "human"},
    });
    let plan = json!({
        "session": worker, "source": node, "items": 50, "revision": 0,
    });
    let file = json!({"kind": "claude-jsonl", "path": "/nowhere/x.jsonl"});
    let mut plan_of_file = plan.clone();
    plan_of_file["source"] = file.clone();
    let mut bare = signal("created", json!({}));
    bare["session"] = json!({"key": "global", "agent": "ops"});
    let arguments = json!({"sessionKey": CHILD, "agentId": "main", "changesSince": 0, "limit": 9});
    let fresh = json!({"key": format!("agent:main:fresh-{number}"), "agent": "main"});
    let signals = [
        signal("human_direct_message", json!({"channel": "mail", "turns": 2})),
        signal("upstream_missing", json!({"catalog": "claude"})),
        signal("goal_changed", json!({"change": "updated"})),
        signal("child_spawned", json!({})),
        signal("run_completed", json!({})),
        signal("run_failed", json!({"outcome": "error"})),
        signal("compacted", json!({"operationId": "o1"})),
        signal("adopted", json!({"catalog": "claude", "host": "h1"})),
        signal("created", json!({})),
        bare,
    ];
    let mut examples = vec![
        ("watch", json!({"watcher": MAIN, "target": child, "ambient": false})),
        ("unwatch", json!({"watcher": OPS, "target": fresh})),
        ("watches", json!({"watcher": MAIN})),
        ("watches", json!({"target": child})),
        ("take", json!({"watcher": MAIN})),
        ("acknowledge", json!({"watcher": OPS, "notices": [receipt]})),
        ("drain", json!({"watcher": OPS})),
        ("pending", json!({})),
        ("status", json!({"session": child, "changesSince": 0, "limit": 10})),
        ("versions", json!({"sessions": [child]})),
        ("reset", json!({"session": fresh})),
        ("delete", json!({"session": fresh})),
        ("recover", json!({})),
        (
            "adopt",
            json!({
                "session": fresh, "source": node, "catalog": "claude", "host": "h1",
                "thread": "t1",
            }),
        ),
        (
            "adopt",
            json!({
                "session": fresh, "catalog": "claude",
                "source": file,
            }),
        ),
        ("sent", json!({"session": worker, "text": "hello"})),
        ("busy", json!({"session": worker, "running": false})),
        ("checkUpstreams", json!({})),
        ("planUpstreams", json!({})),
        ("feedUpstream", json!({"plan": plan, "items": [row, row.to_string()]})),
        ("feedUpstream", json!({"plan": plan_of_file, "unavailable": true})),
        ("feedUpstream", json!({"plan": plan, "missing": true})),
        ("feedUpstream", json!({"plan": plan, "unavailable": true})),
        ("tools", json!({})),
        ("callTool", json!({"name": "session_status", "arguments": arguments, "caller": main})),
        (
            "callTool",
            json!({"name": "sessions_watch", "arguments": {"sessionKey": CHILD}, "caller": main}),
        ),
        ("clock", json!({"now": NOON})),
    ];
    for signal in signals {
        examples.push(("recordMany", json!({"signals": [signal]})));
        examples.push(("record", signal));
    }
    examples
}
