//! A request as a sentence: who does what.

use serde_json::Value;

use super::super::time::utc;

/// What a request says, without its outcome.
pub fn sentence(request: &Value) -> String {
    let params = &request["params"];
    let watcher = || name(&params["watcher"]);
    match request["method"].as_str().unwrap_or_default() {
        "record" => signal(params),
        "recordMany" => {
            let signals = params["signals"].as_array().map_or(&[][..], Vec::as_slice);
            let all: Vec<String> = signals.iter().map(signal).collect();
            format!("at once: {}", all.join("; "))
        }
        "watch" => {
            let how = if params["ambient"] == true { " (ambient)" } else { "" };
            format!("{} watches {}{how}", watcher(), session(&params["target"]))
        }
        "unwatch" => format!("{} stops watching {}", watcher(), session(&params["target"])),
        "watches" => match params.get("watcher") {
            Some(_) => format!("whom does {} watch?", watcher()),
            None => format!("who watches {}?", session(&params["target"])),
        },
        "take" => format!("{} looks at its notices", watcher()),
        "acknowledge" => {
            let targets = params["notices"].as_array().map_or(&[][..], Vec::as_slice);
            let targets: Vec<String> = targets
                .iter()
                .map(|notice| format!("{} up to {}", name(&notice["target"]), notice["upTo"]))
                .collect();
            format!("{} acknowledges {}", watcher(), listed(&targets))
        }
        "drain" => format!("{} takes its notices into its turn", watcher()),
        "pending" => "who has notices pending?".into(),
        "status" => status(params),
        "versions" => "which versions do sessions have?".into(),
        "reset" => format!("{} is reset", session(&params["session"])),
        "delete" => format!("{} is deleted", session(&params["session"])),
        "recover" => "the gateway recovers what is pending".into(),
        "adopt" => format!("{} is adopted from {}", session(&params["session"]), source(params)),
        "sent" => format!("the gateway sends a text to {}", session(&params["session"])),
        "busy" if params["running"] == true => {
            format!("a turn of {} begins", session(&params["session"]))
        }
        "busy" => format!("the turn of {} is over", session(&params["session"])),
        "checkUpstreams" => "the sources of adopted sessions are checked".into(),
        "planUpstreams" => "which sources shall the gateway read?".into(),
        "feedUpstream" => {
            format!("what the gateway read of {}", session(&params["plan"]["session"]))
        }
        "tools" => "which tools are there for agents?".into(),
        "callTool" => format!(
            "{} calls {} {}",
            session(&params["caller"]),
            name(&params["name"]),
            params["arguments"]
        ),
        "clock" => match params["now"].as_u64() {
            Some(now) => format!("it is {}", utc(now).replace(".000Z", "Z")),
            None => "the clock is moved".into(),
        },
        _ => format!("sent: {}", cut(&request.to_string())),
    }
}

/// The catalog of an adoption, and the file or thread there; folders are the machine's own.
fn source(params: &Value) -> String {
    let source = &params["source"];
    let place = match source["path"].as_str() {
        Some(path) => path.rsplit('/').next().unwrap_or(path).to_owned(),
        None => format!("{} on {}", name(&source["thread"]), name(&source["node"])),
    };
    format!("{}, {place}", name(&params["catalog"]))
}

fn signal(signal: &Value) -> String {
    let on = session(&signal["session"]);
    let by = actor(&signal["actor"]);
    let text = |field: &str| name(&signal[field]);
    let (run, catalog) = (text("runId"), text("catalog"));
    match signal["kind"].as_str().unwrap_or_default() {
        "human_direct_message" => {
            let channel = signal["channel"].as_str().map(|channel| format!(" via {channel}"));
            let turns = signal["turns"].as_u64().filter(|turns| *turns > 1);
            let turns = turns.map(|turns| format!(", {turns} turns"));
            let (channel, turns) = (channel.unwrap_or_default(), turns.unwrap_or_default());
            format!("{by} writes to {on}{channel}{turns}")
        }
        "upstream_missing" => format!("the source of {on} in {catalog} is gone"),
        "goal_changed" => {
            let verb = match signal["change"].as_str().unwrap_or_default() {
                "created" => "sets",
                "cleared" => "clears",
                _ => "changes",
            };
            format!("{by} {verb} the goal of {on}")
        }
        "child_spawned" => format!("{by} spawns {on} for run {run}"),
        "run_completed" => format!("run {run} of {on} ends well"),
        "run_failed" => {
            let how = match signal["outcome"].as_str().unwrap_or_default() {
                "timeout" => "times out",
                "cancelled" => "is cancelled",
                _ => "fails",
            };
            format!("run {run} of {on} {how}")
        }
        "compacted" => format!("{on} is compacted"),
        "adopted" => format!("{on} is adopted from {catalog}"),
        "created" => format!("{on} is created"),
        _ => format!("a signal is recorded: {}", cut(&signal.to_string())),
    }
}

fn actor(actor: &Value) -> String {
    match (actor["type"].as_str().unwrap_or_default(), actor["id"].as_str()) {
        (_, Some(id)) => id.to_owned(),
        ("human", None) => "a human".into(),
        ("agent", None) => "an agent".into(),
        _ => "the system".into(),
    }
}

fn status(params: &Value) -> String {
    let session = session(&params["session"]);
    let limit = params["limit"].as_u64().map(|limit| format!(" (at most {limit})"));
    match params.get("changesSince") {
        Some(since) => {
            format!("what changed in {session} after {since}?{}", limit.unwrap_or_default())
        }
        None => format!("which version does {session} have?"),
    }
}

/// A session as a request names it: its key, and the agent of a bare one.
pub fn session(session: &Value) -> String {
    match (session["key"].as_str(), session["agent"].as_str()) {
        (Some(key), Some(agent)) if !key.starts_with("agent:") => format!("{key} ({agent})"),
        (Some(key), _) => key.to_owned(),
        (None, _) => name(session),
    }
}

/// A text as it is; anything else as JSON, for it is wrong and the story shows how.
fn name(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "?".into(),
        other => cut(&other.to_string()),
    }
}

/// A list in words.
fn listed(items: &[String]) -> String {
    if items.is_empty() { "nothing".into() } else { items.join(", ") }
}

/// A long text is cut, for it is read by people.
pub fn cut(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recorded(params: &Value) -> String {
        sentence(&json!({"method": "record", "params": params}))
    }

    #[test]
    fn a_signal_is_told_by_its_kind() {
        let ana = json!({"type": "human", "id": "ana"});
        let message = json!({"session": "agent:main:w", "kind": "human_direct_message", "actor": ana, "channel": "slack", "turns": 2});
        assert_eq!(recorded(&message), "ana writes to agent:main:w via slack, 2 turns");
        let goal = json!({"session": {"key": "global", "agent": "ops"}, "kind": "goal_changed", "actor": {"type": "human"}, "change": "cleared"});
        assert_eq!(recorded(&goal), "a human clears the goal of global (ops)");
        let failed = json!({"session": "agent:main:w", "kind": "run_failed", "actor": {"type": "system"}, "runId": "r", "outcome": "timeout"});
        assert_eq!(recorded(&failed), "run r of agent:main:w times out");
    }

    #[test]
    fn what_makes_no_sense_is_still_told() {
        for request in [
            json!(null),
            json!(7),
            json!({"method": 7}),
            json!({"method": "record"}),
            json!({"method": "watch", "params": []}),
        ] {
            assert!(!sentence(&request).is_empty());
        }
        let long = json!({"method": "x".repeat(500)});
        assert!(sentence(&long).chars().count() < 150);
    }
}
