//! The tools that agents see, in the shape of the Model Context Protocol: a wrong argument is a
//! result that the agent can read and act on, never an error of the protocol.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::answers;
use super::fault::{Code, Fault};
use super::fields::{Fields, Read};
use super::methods::{Answer, state};
use super::place::Place;
use crate::contract::SessionRef;
use crate::json::{self, Members, Value, Writer};
use crate::ports::Ports;
use crate::refusal::MAX_INTEGER;
use crate::text::joined;
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
    /// Writes the JSON Schema of the value, its description apart.
    schema: fn(&mut Writer),
    description: &'static str,
    required: bool,
}

const SESSION_KEY: Argument = Argument {
    name: "sessionKey",
    schema: |out| {
        out.name("type").text("string");
        out.name("minLength").number(1);
    },
    description: "The key of the other session, exactly as a notice, a sessions list or the spawn \
                  result gave it, such as agent:main:subagent:child.",
    required: true,
};
const AGENT_ID: Argument = Argument {
    name: "agentId",
    schema: |out| {
        out.name("type").text("string");
        out.name("pattern").text("^[a-z0-9][a-z0-9_-]{0,63}$");
    },
    description: "The agent that the session belongs to. Needed only for a bare key, one that \
                  does not start with agent:, such as global. Leave it out otherwise.",
    required: false,
};
const CHANGES_SINCE: Argument = Argument {
    name: "changesSince",
    schema: |out| {
        out.name("type").text("integer");
        out.name("minimum").number(0);
        out.name("maximum").number(MAX_INTEGER);
    },
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
        out.name("tools").open_list();
        for tool in &TOOLS {
            define(out, tool);
        }
        out.close_list();
    })
}

fn define(out: &mut Writer, tool: &Tool) {
    out.open_object();
    out.name("name").text(tool.name);
    out.name("title").text(tool.title);
    out.name("description").text(tool.description);
    out.name("inputSchema").open_object();
    out.name("type").text("object");
    out.name("properties").open_object();
    for argument in tool.arguments {
        out.name(argument.name).open_object();
        (argument.schema)(out);
        out.name("description").text(argument.description);
        out.close_object();
    }
    out.close_object();
    out.name("required").open_list();
    for argument in tool.arguments.iter().filter(|argument| argument.required) {
        out.text(argument.name);
    }
    out.close_list();
    out.name("additionalProperties").flag(false);
    out.close_object();
    out.name("annotations").open_object();
    out.name("readOnlyHint").flag(!tool.writes);
    out.name("destructiveHint").flag(false);
    out.name("idempotentHint").flag(true);
    out.name("openWorldHint").flag(false);
    out.close_object();
    out.close_object();
}

/// Whether these params of `callTool` call a tool that writes.
pub fn writes(params: &Value<'_>) -> bool {
    let Value::Object(params) = params else {
        return false;
    };
    params.get("name").and_then(Value::as_text).and_then(tool).is_some_and(|tool| tool.writes)
}

fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// `callTool`. What the gateway gets wrong (the tool's name, the caller) is an error, what the
/// agent gets wrong (the arguments) a result with `isError`.
pub fn call(ports: &mut impl Ports, params: &Fields<'_>) -> Answer {
    params.only(&[&["name", "arguments", "caller"]])?;
    let Some(tool) = tool(params.text("name")?) else {
        return Err(Box::new(Fault {
            code: Code::Params,
            reason: "unknown-tool",
            field: Some("name".to_string()),
            message: "name: there is no such tool; `tools` lists those there are".to_string(),
        }));
    };
    let caller = session::resolve("caller", &params.session("caller")?)?;
    let none = Members::default();
    let arguments = match params.value_if("arguments") {
        Some(arguments) => Fields::of(arguments, &ARGUMENTS)?,
        None => Fields::new(&none, &ARGUMENTS),
    };
    match run(ports, tool, &arguments, &caller.key) {
        Ok(answer) => Ok(result(&answer, false)),
        Err(refusal) if refusal.code == Code::Params => Ok(result(&explain(&refusal), true)),
        Err(failure) => Err(failure),
    }
}

fn run(ports: &mut impl Ports, tool: &Tool, arguments: &Fields<'_>, caller: &str) -> Answer {
    let mut known = Vec::new();
    for argument in tool.arguments {
        known.push(argument.name);
    }
    arguments.only(&[&known])?;
    match tool.run {
        Run::Status => {
            let since = arguments.version_if(CHANGES_SINCE.name)?;
            state(ports, &target(arguments)?, since, None)
        }
        Run::Watch => {
            Ok(answers::watched(watch::watch(ports, caller, &target(arguments)?, false)?))
        }
        Run::Unwatch => Ok(answers::removed(watch::unwatch(ports, caller, &target(arguments)?)?)),
        Run::List => Ok(answers::sessions(&watch::of_watcher(ports, caller)?)),
    }
}

fn target(arguments: &Fields<'_>) -> Read<SessionRef> {
    Ok(SessionRef {
        key: arguments.owned(SESSION_KEY.name)?,
        agent: arguments.owned_if(AGENT_ID.name)?,
    })
}

fn result(answer: &str, is_error: bool) -> String {
    json::object(|out| {
        out.name("content").open_list();
        out.open_object();
        out.name("type").text("text");
        out.name("text").text(answer);
        out.close_object();
        out.close_list();
        out.name("structuredContent").json(answer);
        out.name("isError").flag(is_error);
    })
}

/// What is wrong with the arguments, by the names that the agent knows.
fn explain(refusal: &Fault) -> String {
    let Fault { reason, field, message, .. } = refusal;
    let field = field.as_deref().unwrap_or_default();
    let what = message.strip_prefix(field).unwrap_or_default();
    let known = match field {
        "session.key" | "target.key" => SESSION_KEY.name,
        "session.agent" | "target.agent" => AGENT_ID.name,
        other => other,
    };
    json::object(|out| {
        out.name("error").open_object();
        out.name("reason").text(reason);
        out.name("field").text(known);
        out.name("message").text(&joined(&[known, what]));
        out.close_object();
    })
}
