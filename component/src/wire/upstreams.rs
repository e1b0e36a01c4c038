//! Adopted sessions on the wire: the params of their methods, and their results.

use alloc::string::{String, ToString};

use super::fields::{Fields, Read, refuse};
use super::place::Place;
use crate::contract::{
    Adopted, AdoptionRequest, Check, Finding, Found, InvalidReason, Plan, Session, Source, Tally,
};
use crate::json::{self, Value, Writer};
use crate::session;

/// The kind of source that the gateway reads itself.
const NODE: &str = "claude-node";
/// How many of the newest items of a thread are read.
const ITEMS: u64 = 50;

/// The params of `adopt`.
pub fn adoption(fields: &Fields<'_>) -> Read<AdoptionRequest> {
    fields.only(&[&["session", "source", "catalog", "host", "thread"]])?;
    let place = fields.place_of("source");
    Ok(AdoptionRequest {
        session: fields.session("session")?,
        source: source(&Fields::of(fields.value("source")?, &place)?)?,
        catalog: fields.owned("catalog")?,
        host: fields.owned_if("host")?,
        thread: fields.owned_if("thread")?,
    })
}

fn source(fields: &Fields<'_>) -> Read<Source> {
    let kind = fields.owned("kind")?;
    if kind == NODE {
        fields.only(&[&["kind", "node", "thread"]])?;
        let (place, thread) = (fields.owned("node")?, Some(fields.owned("thread")?));
        return Ok(Source { kind, place, thread });
    }
    fields.only(&[&["kind", "path"]])?;
    Ok(Source { kind, place: fields.owned("path")?, thread: None })
}

/// The params of `feedUpstream`: which link, as it was planned, and what was found.
pub fn feed(fields: &Fields<'_>) -> Read<(Session, u64, Found)> {
    fields.only(&[&["plan", "items", "missing", "unavailable"]])?;
    let place = fields.place_of("plan");
    let plan = Fields::of(fields.value("plan")?, &place)?;
    plan.only(&[&["session", "source", "items", "revision"]])?;
    let source_place = plan.place_of("source");
    source(&Fields::of(plan.value("source")?, &source_place)?)?;
    plan.version("items")?;
    let session = session::resolve("plan.session", &plan.session("session")?)?;
    Ok((session, plan.version("revision")?, found(fields)?))
}

fn found(fields: &Fields<'_>) -> Read<Found> {
    let given = (fields.has("items"), fields.has("missing"), fields.has("unavailable"));
    let (reason, field) = match given {
        (true, false, false) => return Ok(Found::Items(fields.list("items", item)?)),
        (false, true, false) => (InvalidReason::UnknownValue, "missing"),
        (false, false, true) => (InvalidReason::UnknownValue, "unavailable"),
        (false, false, false) => (InvalidReason::MissingField, "items"),
        _ => (InvalidReason::UnknownField, "items"),
    };
    if reason == InvalidReason::UnknownValue && fields.flag_if(field)? == Some(true) {
        return Ok(if field == "missing" {
            Found::Missing
        } else {
            Found::Unavailable("the gateway could not read it".to_string())
        });
    }
    let what = "give the items that were read, or \"missing\": true, or \"unavailable\": true";
    Err(refuse(reason, &fields.place_of(field), what))
}

/// An item: a transcript row, or its JSON text.
fn item(value: &Value<'_>, place: &Place<'_>) -> Read<String> {
    match value {
        Value::Text(text) => Ok(text.to_string()),
        Value::Object(_) => Ok(json::value(value)),
        _ => Err(refuse(InvalidReason::WrongType, place, "must be a row, or its JSON text")),
    }
}

/// The result of `adopt`.
pub fn adopted(adopted: Adopted) -> String {
    json::object(|out| {
        out.name("adopted").flag(adopted.adopted);
        out.name("stateVersion").number(adopted.state_version);
    })
}

/// The result of `planUpstreams`.
pub fn plans(plans: &[Plan]) -> String {
    json::object(|out| {
        out.name("plans").open_list();
        for plan in plans {
            write_plan(out, plan);
        }
        out.close_list();
    })
}

fn write_plan(out: &mut Writer, plan: &Plan) {
    out.open_object();
    out.name("session").open_object();
    out.name("key").text(&plan.session.key);
    out.name("agent").text(&plan.session.agent);
    out.close_object();
    out.name("source").open_object();
    out.name("kind").text(&plan.source.kind);
    out.name("node").text(&plan.source.place);
    if let Some(thread) = &plan.source.thread {
        out.name("thread").text(thread);
    }
    out.close_object();
    out.name("items").number(ITEMS);
    out.name("revision").number(plan.revision);
    out.close_object();
}

/// The result of `feedUpstream`.
pub fn check(check: Check) -> String {
    let word = match check.finding {
        Finding::Quiet => "quiet",
        Finding::Activity => "activity",
        Finding::Again => "again",
        Finding::Missed => "missed",
        Finding::Missing => "missing",
        Finding::Unavailable => "unavailable",
        Finding::Superseded => "superseded",
    };
    json::object(|out| {
        out.name("finding").text(word);
        if check.turns > 0 {
            out.name("turns").number(check.turns.into());
        }
        if let Some(version) = check.state_version {
            out.name("stateVersion").number(version);
        }
    })
}

/// The result of `checkUpstreams`.
pub fn tally(tally: Tally) -> String {
    let Tally { checked, activity, missing, failed } = tally;
    json::object(|out| {
        for (name, count) in
            [("checked", checked), ("activity", activity), ("missing", missing), ("failed", failed)]
        {
            out.name(name).number(count.into());
        }
    })
}
