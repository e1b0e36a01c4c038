//! The tools that agents see, in the shape of the Model Context Protocol: a wrong argument is a
//! result that the agent can read and act on, never an error of the protocol.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Map;

use super::answers;
use super::fault::{Code, Fault};
use super::fields::{Fields, Read};
use super::json::{self, Object, push_object, push_text};
use super::methods::{Answer, Refused, state};
use super::place::Place;
use crate::contract::SessionRef;
use crate::ports::Ports;
use crate::{session, watch};

/// A tool.
struct Tool {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    arguments: &'static [Argument],
    writes: bool,
    run: Run,
}

/// What a tool does.
#[derive(Clone, Copy)]
enum Run {
    Status,
    Watch,
    Unwatch,
    List,
}

/// An argument of a tool.
struct Argument {
    name: &'static str,
    /// JSON Schema of the value, without the description.
    schema: &'static str,
    description: &'static str,
    required: bool,
}

const SESSION_KEY: Argument = Argument {
    name: "sessionKey",
    schema: r#""type":"string","minLength":1"#,
    description: "The key of the other session, exactly as a notice, a sessions list or the spawn \
                  result gave it, such as agent:main:subagent:child.",
    required: true,
};
const AGENT_ID: Argument = Argument {
    name: "agentId",
    schema: r#""type":"string","pattern":"^[a-z0-9][a-z0-9_-]{0,63}$""#,
    description: "The agent that the session belongs to. Needed only for a bare key, one that \
                  does not start with agent:, such as global. Leave it out otherwise.",
    required: false,
};
const CHANGES_SINCE: Argument = Argument {
    name: "changesSince",
    schema: r#""type":"integer","minimum":0,"maximum":9007199254740991"#,
    description: "The version you know: take it from the notice, from lastSeen of sessions_list, \
                  or from the stateVersion of an earlier answer. 0 asks for everything that is \
                  still kept. Leave it out to get the current stateVersion alone.",
    required: false,
};

const TOOLS: [Tool; 4] = [
    Tool {
        name: "session_status",
        title: "What changed in a session",
        description: "Catch up with another session before you act on what you believe about it. \
                      Call it with changesSince whenever a notice says that a session was changed \
                      by someone else: it returns exactly what happened after that version, in \
                      order (a human stepped in, its goal changed, a run ended). If truncated is \
                      true, ask again with the sequence of the last event. If historyGap is true, \
                      older events are gone: read that session afresh instead of relying on the \
                      events. Message content is never included. Changes nothing and can be \
                      repeated.",
        arguments: &[SESSION_KEY, AGENT_ID, CHANGES_SINCE],
        writes: false,
        run: Run::Status,
    },
    Tool {
        name: "sessions_watch",
        title: "Watch a session",
        description: "Ask to be told once when someone else changes another session that your \
                      work depends on, such as one you delegated to or coordinate with. What \
                      happened before does not count. You already watch the sessions that you \
                      spawned. Watching again does no harm. Returns watched: false with a reason \
                      if your session cannot watch that one.",
        arguments: &[SESSION_KEY, AGENT_ID],
        writes: true,
        run: Run::Watch,
    },
    Tool {
        name: "sessions_unwatch",
        title: "Stop watching a session",
        description: "Stop being told about another session, for instance when your work with it \
                      is finished. Its pending notice goes too. Returns removed: false if you did \
                      not watch it.",
        arguments: &[SESSION_KEY, AGENT_ID],
        writes: true,
        run: Run::Unwatch,
    },
    Tool {
        name: "sessions_list",
        title: "Sessions you watch",
        description: "List the sessions that you watch. Where pending is true, someone else \
                      changed the session since you last caught up: call session_status with its \
                      sessionKey (and agentId) and with changesSince set to its lastSeen before \
                      you act.",
        arguments: &[],
        writes: false,
        run: Run::List,
    },
];

/// Where the arguments of a tool stand.
const ARGUMENTS: Place<'static> = Place::whole("arguments");

/// The result of `tools`.
pub fn definitions() -> String {
    json::object(|out| {
        out.list("tools", &TOOLS, |out, tool| push_object(out, |out| define(out, tool)));
    })
}

fn define(out: &mut Object<'_>, tool: &Tool) {
    out.text("name", tool.name);
    out.text("title", tool.title);
    out.text("description", tool.description);
    out.object("inputSchema", |out| {
        out.text("type", "object");
        out.object("properties", |out| {
            for argument in tool.arguments {
                let mut description = String::new();
                push_text(&mut description, argument.description);
                let schema = argument.schema;
                out.json(argument.name, &format!("{{{schema},\"description\":{description}}}"));
            }
        });
        let required = tool.arguments.iter().filter(|argument| argument.required);
        out.list("required", required, |out, argument| push_text(out, argument.name));
        out.flag("additionalProperties", false);
    });
    out.object("annotations", |out| {
        out.flag("readOnlyHint", !tool.writes);
        out.flag("destructiveHint", false);
        out.flag("idempotentHint", true);
        out.flag("openWorldHint", false);
    });
}

/// Whether a call of this tool writes.
pub fn writes(name: &str) -> bool {
    tool(name).is_some_and(|tool| tool.writes)
}

fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// `callTool`. What the gateway gets wrong (the tool's name, the caller) is an error, what the
/// agent gets wrong (the arguments) a result with `isError`.
pub fn call(ports: &mut impl Ports, params: &Fields<'_>) -> Answer {
    params.only(&[&["name", "arguments", "caller"]])?;
    let tool = tool(params.text("name")?).ok_or_else(|| {
        let mut fault = Fault::new(
            Code::Params,
            "unknown-tool",
            "name: there is no such tool; `tools` lists those there are",
        );
        fault.field = Some("name".to_string());
        fault
    })?;
    let caller = session::resolve("caller", &params.session("caller")?)?;
    let none = Map::new();
    let arguments = match params.value_if("arguments") {
        Some(arguments) => Fields::of(arguments, &ARGUMENTS)?,
        None => Fields::new(&none, &ARGUMENTS),
    };
    match run(ports, tool, &arguments, &caller.key) {
        Ok(answer) => Ok(result(&answer, false)),
        Err(Refused::Error(fault)) if fault.code == Code::Params => {
            Err(Refused::Result(result(&explain(fault), true)))
        }
        Err(refused) => Err(refused),
    }
}

fn run(ports: &mut impl Ports, tool: &Tool, arguments: &Fields<'_>, caller: &str) -> Answer {
    arguments.only(&[&names(tool.arguments)])?;
    match tool.run {
        Run::Status => {
            let target = target(arguments)?;
            state(ports, &target, arguments.version_if("changesSince")?, None)
        }
        Run::Watch => {
            let target = target(arguments)?;
            Ok(answers::watched(watch::watch(ports, caller, &target, false)?))
        }
        Run::Unwatch => {
            let target = target(arguments)?;
            Ok(answers::removed(watch::unwatch(ports, caller, &target)?))
        }
        Run::List => Ok(answers::sessions(&watch::of_watcher(ports, caller)?)),
    }
}

fn names(arguments: &'static [Argument]) -> Vec<&'static str> {
    arguments.iter().map(|argument| argument.name).collect()
}

fn target(arguments: &Fields<'_>) -> Read<SessionRef> {
    Ok(SessionRef {
        key: arguments.text(SESSION_KEY.name)?.to_string(),
        agent: arguments.text_if(AGENT_ID.name)?.map(ToString::to_string),
    })
}

fn result(answer: &str, is_error: bool) -> String {
    json::object(|out| {
        out.list("content", [answer], |out, answer| {
            push_object(out, |out| {
                out.text("type", "text");
                out.text("text", answer);
            });
        });
        out.json("structuredContent", answer);
        out.flag("isError", is_error);
    })
}

/// What is wrong with the arguments, by the names that the agent knows.
fn explain(fault: Fault) -> String {
    let Fault { reason, field, message, .. } = fault;
    let field = field.unwrap_or_default();
    let known = match field.as_str() {
        "session.key" | "target.key" => SESSION_KEY.name,
        "session.agent" | "target.agent" => AGENT_ID.name,
        other => other,
    };
    json::object(|out| {
        out.object("error", |out| {
            out.text("reason", reason);
            out.text("field", known);
            out.text("message", &message.replacen(field.as_str(), known, 1));
        });
    })
}
