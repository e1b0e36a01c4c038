//! A result as words: what came of a request, and what was seen because of it.

use serde_json::Value;

use super::sentence::{cut, session};

/// What came of a request: a few words, and lines that show what the asking session now sees.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Behind the sentence.
    pub words: String,
    /// Below it.
    pub seen: Vec<String>,
}

impl Outcome {
    fn words(words: impl Into<String>) -> Self {
        Self { words: words.into(), seen: Vec::new() }
    }
}

/// What a result says. A result that is none of the surface's is shown as it is.
pub fn outcome(request: &Value, result: &Value) -> Outcome {
    let known = match request["method"].as_str().unwrap_or_default() {
        "record" => Some(Outcome::words(recording(result))),
        "recordMany" => {
            list(result, "outcomes", recording).map(|all| Outcome::words(all.join(", ")))
        }
        "watch" => watched(result),
        "unwatch" => unwatched(result),
        "watches" => seen(result, "watches", watch, "nobody"),
        "take" => seen(result, "notices", notice, "nothing is pending"),
        "drain" => drained(result),
        "acknowledge" => acknowledged(result),
        "pending" => seen(result, "watchers", count, "nobody"),
        "status" => status(result),
        "versions" => versions(&request["params"]["sessions"], result),
        "reset" | "delete" => Some(Outcome::words(format!(
            "{} and {} removed",
            plural(&result["cursors"], "watch", "watches"),
            plural(&result["events"], "event", "events")
        ))),
        "recover" => Some(Outcome::words(format!(
            "{} pending, {} pruned",
            plural(&result["pending"], "notice", "notices"),
            plural(&result["pruned"], "event", "events")
        ))),
        "tools" => list(result, "tools", |tool| text(&tool["name"]))
            .map(|names| Outcome::words(names.join(", "))),
        "callTool" => tool(result),
        "adopt" => adopted(result),
        "checkUpstreams" => checked(result),
        "planUpstreams" => seen(result, "plans", plan, "none"),
        "feedUpstream" => result["finding"].as_str().map(Outcome::words),
        "clock" | "sent" | "busy" => Some(Outcome::default()),
        _ => None,
    };
    known.unwrap_or_else(|| Outcome::words(cut(&result.to_string())))
}

fn recording(outcome: &Value) -> String {
    let version = &outcome["stateVersion"];
    match outcome["outcome"].as_str().unwrap_or_default() {
        "recorded" => format!("version {version}"),
        "duplicate" => format!("known already, as version {version}"),
        "unwatched" => "nobody watches, nothing is recorded".into(),
        _ => format!("not recorded: {}", text(&outcome["reason"])),
    }
}

fn watched(result: &Value) -> Option<Outcome> {
    if result["watched"].as_bool()? {
        return Some(Outcome::default());
    }
    Some(Outcome::words(format!("it cannot: {}", text(&result["reason"]))))
}

fn unwatched(result: &Value) -> Option<Outcome> {
    Some(Outcome::words(if result["removed"].as_bool()? { "" } else { "it did not watch it" }))
}

fn drained(result: &Value) -> Option<Outcome> {
    let mut outcome = seen(result, "notices", notice, "nothing is pending")?;
    outcome.words.push_str(&reopened(result)?);
    Some(outcome)
}

fn acknowledged(result: &Value) -> Option<Outcome> {
    let words = match result["acknowledged"].as_u64()? {
        0 => "late or repeated, ignored".into(),
        number => format!("{number} acknowledged"),
    };
    let more = reopened(result)?;
    Some(Outcome::words(if more.is_empty() { words } else { format!("{words}, {more}") }))
}

fn adopted(result: &Value) -> Option<Outcome> {
    let version = result["stateVersion"].as_u64()?;
    let again = if result["adopted"].as_bool()? { "" } else { "it was already, " };
    Some(Outcome::words(format!("{again}version {version}")))
}

fn checked(result: &Value) -> Option<Outcome> {
    let mut words = vec![format!("{} checked", result["checked"].as_u64()?)];
    for found in ["activity", "missing", "failed"] {
        match result[found].as_u64()? {
            0 => {}
            number => words.push(format!("{found}: {number}")),
        }
    }
    Some(Outcome::words(words.join(", ")))
}

fn plan(plan: &Value) -> String {
    let source = &plan["source"];
    format!(
        "{}: {} on {}",
        session(&plan["session"]),
        text(&source["thread"]),
        text(&source["node"])
    )
}

fn status(result: &Value) -> Option<Outcome> {
    let version = result["stateVersion"].as_u64()?;
    let mut outcome = Outcome::words(format!("version {version}"));
    let Some(changes) = result.get("stateChanges") else {
        return Some(outcome);
    };
    if changes["historyGap"] == true {
        outcome.seen.push("history gap: the session has to be read afresh".into());
    }
    let events = list(changes, "events", event)?;
    if events.is_empty() && outcome.seen.is_empty() {
        outcome.words.push_str(", nothing changed");
    }
    outcome.seen.extend(events);
    if changes["truncated"] == true {
        outcome.seen.push("and more".into());
    }
    Some(outcome)
}

fn versions(sessions: &Value, result: &Value) -> Option<Outcome> {
    let versions = result["versions"].as_array()?.iter();
    let seen = sessions.as_array()?.iter().zip(versions).map(|(asked, version)| {
        let version = version.as_u64().map_or("nothing was recorded".into(), |n| n.to_string());
        format!("{}  {version}", session(asked))
    });
    Some(Outcome { words: String::new(), seen: seen.collect() })
}

/// The result of a tool is that of a method.
fn tool(result: &Value) -> Option<Outcome> {
    let content = &result["structuredContent"];
    if result["isError"] == true {
        let said = result["content"][0]["text"].as_str()?;
        return Some(Outcome::words(format!("the tool refuses: {}", cut(said))));
    }
    status(content)
        .or_else(|| watched(content))
        .or_else(|| unwatched(content))
        .or_else(|| seen(content, "sessions", watched_session, "nobody"))
        .or_else(|| Some(Outcome::words(cut(&content.to_string()))))
}

fn seen(
    result: &Value,
    name: &str,
    line: impl Fn(&Value) -> String,
    nothing: &str,
) -> Option<Outcome> {
    let seen = list(result, name, line)?;
    let words = if seen.is_empty() { nothing } else { "" };
    Some(Outcome { words: words.into(), seen })
}

fn list(result: &Value, name: &str, line: impl Fn(&Value) -> String) -> Option<Vec<String>> {
    Some(result[name].as_array()?.iter().map(line).collect())
}

fn notice(notice: &Value) -> String {
    text(&notice["text"])
}

/// The notices that opened for the rest are announced too, and shown there.
fn reopened(result: &Value) -> Option<String> {
    Some(match result["reopened"].as_array()?.len() {
        0 => String::new(),
        1 => "one opens anew".into(),
        more => format!("{more} open anew"),
    })
}

fn watch(watch: &Value) -> String {
    let pending = if watch["pending"] == true { ", a notice is pending" } else { "" };
    format!(
        "{} watches {} ({}), has seen {}{pending}",
        text(&watch["watcher"]),
        session(&serde_json::json!({"key": watch["target"], "agent": watch["agent"]})),
        text(&watch["provenance"]),
        watch["lastSeen"]
    )
}

fn watched_session(watched: &Value) -> String {
    let pending = if watched["pending"] == true { ", a notice is pending" } else { "" };
    format!("{}, has seen {}{pending}", text(&watched["sessionKey"]), watched["lastSeen"])
}

fn count(count: &Value) -> String {
    format!("{}  {}", text(&count["watcher"]), plural(&count["notices"], "notice", "notices"))
}

fn event(event: &Value) -> String {
    let by = event["actorId"].as_str().or(event["actorType"].as_str()).unwrap_or("?");
    format!("{:>4}  {}, by {by}", event["sequence"].to_string(), text(&event["summary"]))
}

fn plural(number: &Value, one: &str, many: &str) -> String {
    format!("{number} {}", if *number == 1 { one } else { many })
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| cut(&value.to_string()), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(method: &str, result: &Value) -> Outcome {
        outcome(&json!({"method": method, "params": {}}), result)
    }

    #[test]
    fn a_delta_is_shown_event_by_event_with_its_gap() {
        let event = json!({"sequence": 14, "kind": "goal_changed", "actorType": "human", "occurredAt": 0, "summary": "goal updated"});
        let changes = json!({"events": [event], "truncated": true, "historyGap": true});
        let told = of("status", &json!({"stateVersion": 19, "stateChanges": changes}));
        assert_eq!(told.words, "version 19");
        assert_eq!(
            told.seen,
            [
                "history gap: the session has to be read afresh",
                "  14  goal updated, by human",
                "and more"
            ]
        );
    }

    #[test]
    fn an_empty_list_says_so() {
        assert_eq!(of("take", &json!({"notices": []})).words, "nothing is pending");
        assert_eq!(of("pending", &json!({"watchers": []})).words, "nobody");
    }

    #[test]
    fn a_result_that_is_none_of_the_surface_is_shown_as_it_is() {
        for method in ["take", "status", "watch", "drain", "acknowledge", "unwatch", "unheard-of"] {
            assert_eq!(of(method, &json!({"x": [1]})).words, r#"{"x":[1]}"#, "{method}");
        }
    }
}
