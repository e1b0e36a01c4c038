use serde_json::{Value, json};

use super::{Fake, refused, request, respond};
use crate::wire::call;

fn call_tool(name: &str, arguments: &str) -> Value {
    let params = format!(r#"{{"name":"{name}","arguments":{arguments},"caller":"agent:a:main"}}"#);
    let (response, _) = respond(&request("callTool", &params));
    let result = response["result"].clone();
    let text = result["content"][0]["text"].as_str().expect("text");
    assert_eq!(result["content"][0]["type"], "text");
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    result
}

#[test]
fn tools_are_described_in_json_schema() {
    let (response, _) = respond(&request("tools", "{}"));
    let tools = response["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["session_status", "sessions_watch", "sessions_unwatch", "sessions_list"]);
    for tool in tools {
        assert!(tool["description"].as_str().unwrap().len() > 100);
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        for (_, property) in schema["properties"].as_object().unwrap() {
            assert!(property["type"].is_string() && property["description"].is_string());
        }
        for required in schema["required"].as_array().unwrap() {
            assert!(schema["properties"].get(required.as_str().unwrap()).is_some());
        }
    }
    let status = &tools[0]["inputSchema"];
    assert_eq!(status["required"], json!(["sessionKey"]));
    assert_eq!(status["properties"]["changesSince"]["maximum"], 9_007_199_254_740_991_u64);
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    assert_eq!(tools[1]["annotations"]["readOnlyHint"], false);
}

#[test]
fn a_tool_answers_text_and_the_same_object() {
    let target = r#"{"sessionKey":"agent:b:x"}"#;
    let result = call_tool("session_status", target);
    assert_eq!(result["structuredContent"], json!({"stateVersion": 0}));
    assert_eq!(result["isError"], false);
    let result =
        call_tool("session_status", r#"{"sessionKey":"global","agentId":"b","changesSince":0}"#);
    assert_eq!(result["structuredContent"]["stateChanges"]["events"], json!([]));
    assert_eq!(call_tool("sessions_watch", target)["structuredContent"], json!({"watched": true}));
    assert_eq!(
        call_tool("sessions_watch", r#"{"sessionKey":"agent:a:main"}"#)["structuredContent"],
        json!({"watched": false, "reason": "watcher-is-target"})
    );
    assert_eq!(
        call_tool("sessions_unwatch", target)["structuredContent"],
        json!({"removed": false})
    );
    assert_eq!(call_tool("sessions_list", "{}")["structuredContent"], json!({"sessions": []}));
}

#[test]
fn arguments_may_be_left_out_where_none_is_needed() {
    let given = request("callTool", r#"{"name":"sessions_list","caller":"agent:a:main"}"#);
    assert_eq!(respond(&given).0["result"]["isError"], false);
}

#[test]
fn a_wrong_argument_is_a_result_that_the_agent_can_read() {
    for (tool, arguments, reason, field) in [
        ("session_status", "{}", "missing-field", "sessionKey"),
        ("session_status", r#"{"sessionKey":null}"#, "wrong-type", "sessionKey"),
        ("session_status", r#"{"sessionKey":""}"#, "invalid-key", "sessionKey"),
        ("session_status", r#"{"sessionKey":"global"}"#, "agent-required", "agentId"),
        (
            "session_status",
            r#"{"sessionKey":"agent:b:x","agentId":"c"}"#,
            "agent-mismatch",
            "agentId",
        ),
        (
            "session_status",
            r#"{"sessionKey":"agent:b:x","changesSince":"1"}"#,
            "invalid-version",
            "changesSince",
        ),
        ("session_status", r#"{"sessionKey":"agent:b:x","limit":1}"#, "unknown-field", "limit"),
        ("sessions_watch", r#"{"sessionKey":"agent:b"}"#, "invalid-key", "sessionKey"),
        (
            "sessions_unwatch",
            r#"{"sessionKey":"global","agentId":"B"}"#,
            "invalid-agent",
            "agentId",
        ),
        ("sessions_list", r#"{"all":true}"#, "unknown-field", "all"),
    ] {
        let result = call_tool(tool, arguments);
        assert_eq!(result["isError"], true, "{arguments}");
        let error = &result["structuredContent"]["error"];
        assert_eq!(error["reason"], reason, "{arguments}");
        assert_eq!(error["field"], field, "{arguments}");
        assert!(error["message"].as_str().unwrap().starts_with(field), "{error}");
    }
}

#[test]
fn what_the_gateway_gets_wrong_is_an_error() {
    for (params, reason, field) in [
        (r#"{"name":"nothing","caller":"agent:a:main"}"#, "unknown-tool", "name"),
        (r#"{"name":1,"caller":"agent:a:main"}"#, "wrong-type", "name"),
        (r#"{"name":"sessions_list"}"#, "missing-field", "caller"),
        (r#"{"name":"sessions_list","caller":"global"}"#, "agent-required", "caller.agent"),
        (r#"{"name":"sessions_list","caller":"agent:a"}"#, "invalid-key", "caller"),
        (
            r#"{"name":"sessions_list","caller":"agent:a:main","arguments":[]}"#,
            "wrong-type",
            "arguments",
        ),
    ] {
        refused(&request("callTool", params), -32602, reason, Some(field));
    }
}

#[test]
fn a_caller_that_cannot_watch_is_told_so() {
    let params = r#"{"name":"sessions_watch","arguments":{"sessionKey":"agent:b:x"},"caller":{"key":"global","agent":"a"}}"#;
    let line = call(&mut Fake::default(), &request("callTool", params)).unwrap().unwrap();
    assert!(
        line.contains(r#""structuredContent":{"watched":false,"reason":"not-agent-qualified"}"#)
    );
}
