//! The methods: what each is called, whether it writes, and how it becomes a typed call.

use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::answers;
use super::fault::{Code, Fault};
use super::fields::{Fields, Read, refuse, session_at, text_at};
use super::place::Place;
use super::{signal, tools, upstreams};
use crate::contract::{
    Access, Errand, ErrandDone, InvalidReason, Reader, Receipt, Selection, SessionRef,
};
use crate::json::Value;
use crate::ports::Ports;
use crate::text::{joined, parse};
use crate::upstream::{adopt, feed, plan, turns};
use crate::{acknowledge, lifecycle, notice, reconcile, record, retention, session, watch};

/// Where params stand.
pub const PARAMS: Place<'static> = Place::whole("params");

/// A method of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Acknowledge,
    Adopt,
    Busy,
    CallTool,
    CheckUpstreams,
    Clock,
    Delete,
    Drain,
    FeedUpstream,
    Pending,
    PlanUpstreams,
    Record,
    RecordMany,
    Recover,
    Reset,
    Sent,
    Status,
    Take,
    Tools,
    Unwatch,
    Versions,
    Watch,
    Watches,
}

/// Every method, by its name on the wire, with what it does to the store.
pub const METHODS: [(Name, &str, Access); 23] = [
    (Name::Acknowledge, "acknowledge", Access::Writes),
    (Name::Adopt, "adopt", Access::Host),
    (Name::Busy, "busy", Access::Writes),
    (Name::CallTool, "callTool", Access::Depends),
    (Name::CheckUpstreams, "checkUpstreams", Access::Host),
    (Name::Clock, "clock", Access::Host),
    (Name::Delete, "delete", Access::Writes),
    (Name::Drain, "drain", Access::Writes),
    (Name::FeedUpstream, "feedUpstream", Access::Writes),
    (Name::Pending, "pending", Access::Reads),
    (Name::PlanUpstreams, "planUpstreams", Access::Writes),
    (Name::Record, "record", Access::Writes),
    (Name::RecordMany, "recordMany", Access::Writes),
    (Name::Recover, "recover", Access::Writes),
    (Name::Reset, "reset", Access::Writes),
    (Name::Sent, "sent", Access::Writes),
    (Name::Status, "status", Access::Reads),
    (Name::Take, "take", Access::Reads),
    (Name::Tools, "tools", Access::Reads),
    (Name::Unwatch, "unwatch", Access::Writes),
    (Name::Versions, "versions", Access::Reads),
    (Name::Watch, "watch", Access::Writes),
    (Name::Watches, "watches", Access::Reads),
];

impl Name {
    /// The method of this name on the wire.
    pub fn of(name: &str) -> Option<Self> {
        METHODS.iter().find(|(_, word, _)| *word == name).map(|(method, ..)| *method)
    }
}

/// What a call answers: its result as JSON text.
pub type Answer = Result<String, Box<Fault>>;

/// Calls a method, for which the host did this before. A refusal names the field as the caller wrote
/// it.
pub fn call(
    ports: &mut impl Ports,
    method: Name,
    params: &Value<'_>,
    done: Option<&ErrandDone>,
) -> Answer {
    dispatch(ports, method, params, done).map_err(|fault| as_written(params, fault))
}

/// What a host does before it calls the method.
pub fn errand(method: Name, params: &Value<'_>) -> Result<Errand, Box<Fault>> {
    let errand = Fields::of(params, &PARAMS).and_then(|fields| errand_of(method, &fields));
    match errand {
        Ok(Some(errand)) => Ok(errand),
        Ok(None) => Err(no_errand("there is nothing to do before this method")),
        Err(fault) => Err(as_written(params, fault)),
    }
}

fn errand_of(method: Name, fields: &Fields<'_>) -> Result<Option<Errand>, Box<Fault>> {
    Ok(match method {
        Name::Clock => {
            fields.only(&[&["now"]])?;
            Some(Errand::MoveClock(fields.clock_time("now")?))
        }
        Name::Adopt => Some(Errand::ReadSource(adopt::path_of(&upstreams::adoption(fields)?)?)),
        Name::CheckUpstreams => {
            fields.only(&[])?;
            Some(Errand::CheckUpstreams)
        }
        _ => None,
    })
}

fn no_errand(what: &str) -> Box<Fault> {
    Fault::new(Code::Failed, "unavailable", what)
}

fn dispatch(
    ports: &mut impl Ports,
    method: Name,
    params: &Value<'_>,
    done: Option<&ErrandDone>,
) -> Answer {
    let fields = &Fields::of(params, &PARAMS)?;
    match method {
        Name::Record => record(ports, params),
        Name::RecordMany => record_many(ports, params),
        Name::Watch => watch(ports, fields),
        Name::Unwatch => unwatch(ports, fields),
        Name::Watches => watches(ports, fields),
        Name::Take => take(ports, fields),
        Name::Acknowledge => acknowledge(ports, fields),
        Name::Drain => drain(ports, fields),
        Name::Pending => pending(ports, fields),
        Name::Status => status(ports, fields),
        Name::Versions => versions(ports, fields),
        Name::Reset => reset(ports, fields),
        Name::Delete => delete(ports, fields),
        Name::Recover => recover(ports, fields),
        Name::Tools => definitions(fields),
        Name::CallTool => tools::call(ports, fields),
        Name::Sent => sent(ports, fields),
        Name::Busy => busy(ports, fields),
        Name::PlanUpstreams => plan_upstreams(ports, fields),
        Name::FeedUpstream => feed_upstream(ports, fields),
        Name::Adopt | Name::CheckUpstreams | Name::Clock => {
            after_errand(ports, method, fields, done)
        }
    }
}

fn record(ports: &mut impl Ports, params: &Value<'_>) -> Answer {
    let signal = signal::read(params, &PARAMS)?;
    Ok(answers::outcome(record::record(ports, &signal)?))
}

fn record_many(ports: &mut impl Ports, params: &Value<'_>) -> Answer {
    let signals = signal::read_many(params)?;
    Ok(answers::outcomes(&record::record_many(ports, &signals)?))
}

fn watch(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[&["watcher", "target", "ambient"]])?;
    let (watcher, target) = (fields.text("watcher")?, fields.session("target")?);
    let ambient = fields.flag_if("ambient")?.unwrap_or(false);
    Ok(answers::watched(watch::watch(ports, watcher, &target, ambient)?))
}

fn unwatch(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[&["watcher", "target"]])?;
    let (watcher, target) = (fields.text("watcher")?, fields.session("target")?);
    Ok(answers::removed(watch::unwatch(ports, watcher, &target)?))
}

fn watches(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[&["watcher", "target"]])?;
    let (reason, field) = match (fields.has("watcher"), fields.has("target")) {
        (true, false) => {
            let entries = watch::of_watcher(ports, fields.text("watcher")?)?;
            return Ok(answers::watches(&entries));
        }
        (false, true) => {
            let entries = watch::on_target(ports, &fields.session("target")?)?;
            return Ok(answers::watches(&entries));
        }
        (false, false) => (InvalidReason::MissingField, "watcher"),
        (true, true) => (InvalidReason::UnknownField, "target"),
    };
    let what = "give either a watcher, for what it watches, or a target, for who watches it";
    Err(refuse(reason, &fields.place_of(field), what))
}

fn take(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    Ok(answers::taken(&notice::take(ports, watcher_alone(fields)?)?))
}

fn acknowledge(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[&["watcher", "notices"]])?;
    let (watcher, receipts) = (fields.text("watcher")?, fields.list("notices", receipt)?);
    Ok(answers::acknowledged(&acknowledge::acknowledge(ports, watcher, &receipts)?))
}

fn drain(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    Ok(answers::drained(&acknowledge::drain(ports, watcher_alone(fields)?)?))
}

fn pending(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[])?;
    Ok(answers::pending(&notice::pending(ports)?))
}

fn status(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[&["session", "changesSince", "limit"]])?;
    let session = fields.session("session")?;
    let since = fields.version_if("changesSince")?;
    let limit = fields.small_if("limit")?;
    if limit.is_some() && since.is_none() {
        return Err(refuse(
            InvalidReason::MissingField,
            &fields.place_of("changesSince"),
            "a limit bounds the changes since a version; give the version, or no limit",
        ));
    }
    state(ports, &session, since, limit)
}

/// The state version of a session and, if asked, what changed since.
pub fn state(
    ports: &mut impl Ports,
    session: &SessionRef,
    since: Option<u64>,
    limit: Option<u32>,
) -> Answer {
    let Some(since) = since else {
        // Checked here, so that the refusal names the field that this call has.
        session::resolve("session", session)?;
        let versions = reconcile::versions(ports, core::slice::from_ref(session))?;
        return Ok(answers::state(versions.first().copied().flatten().unwrap_or(0)));
    };
    let delta = reconcile::changes_since(ports, session, since, limit)?;
    Ok(answers::changes(&delta)?)
}

fn versions(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[&["sessions"]])?;
    let sessions = fields.list("sessions", session_at)?;
    Ok(answers::versions(&reconcile::versions(ports, &sessions)?))
}

fn reset(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    Ok(answers::removal(lifecycle::reset(ports, &session_alone(fields)?)?))
}

fn delete(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    Ok(answers::removal(lifecycle::delete(ports, &session_alone(fields)?)?))
}

fn recover(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[])?;
    Ok(answers::recovery(retention::recover(ports, true)?))
}

fn definitions(fields: &Fields<'_>) -> Answer {
    fields.only(&[])?;
    Ok(tools::definitions())
}

fn sent(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[&["session", "text"]])?;
    turns::sent(ports, &fields.session("session")?, fields.text("text")?)?;
    Ok(answers::done())
}

fn busy(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[&["session", "running"]])?;
    let (session, running) = (fields.session("session")?, fields.flag("running")?);
    turns::busy(ports, &session, running)?;
    Ok(answers::done())
}

/// The sources that the gateway reads itself.
fn plan_upstreams(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[])?;
    Ok(upstreams::plans(&plan::plan(ports, &Selection::Due, Reader::Gateway)?))
}

fn feed_upstream(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    let (session, revision, found) = upstreams::feed(fields)?;
    Ok(upstreams::check(feed::feed(ports, &session, revision, &found)?))
}

/// Answers a method for which the host did something first.
fn after_errand(
    ports: &mut impl Ports,
    method: Name,
    fields: &Fields<'_>,
    done: Option<&ErrandDone>,
) -> Answer {
    Ok(match (errand_of(method, fields)?, done) {
        (Some(Errand::MoveClock(now)), Some(ErrandDone::ClockMoved)) => answers::clock(now),
        (Some(Errand::ReadSource(_)), Some(ErrandDone::SourceRead(found))) => {
            let request = upstreams::adoption(fields)?;
            upstreams::adopted(adopt::adopt(ports, &request, found.as_ref())?)
        }
        (Some(Errand::CheckUpstreams), Some(ErrandDone::UpstreamsChecked(tally))) => {
            upstreams::tally(*tally)
        }
        _ => return Err(no_errand("the host did not do what this method needs first")),
    })
}

fn watcher_alone<'a>(fields: &Fields<'a>) -> Read<&'a str> {
    fields.only(&[&["watcher"]])?;
    fields.text("watcher")
}

fn session_alone(fields: &Fields<'_>) -> Read<SessionRef> {
    fields.only(&[&["session"]])?;
    fields.session("session")
}

/// A notice as `take` gave it, of which the text may be left out.
fn receipt(value: &Value<'_>, place: &Place<'_>) -> Read<Receipt> {
    let fields = Fields::of(value, place)?;
    fields.only(&[&["target", "agent", "since", "upTo", "text"]])?;
    if let Some(text) = fields.value_if("text") {
        text_at(text, &fields.place_of("text"))?;
    }
    Ok(Receipt {
        target: SessionRef { key: fields.owned("target")?, agent: fields.owned_if("agent")? },
        since: fields.version("since")?,
        up_to: fields.version("upTo")?,
    })
}

/// The logic calls the parts of a session `….key` and `….agent`. A caller may have written a
/// session as its key alone, and writes the agent of a notice beside its target.
fn as_written(params: &Value<'_>, mut fault: Box<Fault>) -> Box<Fault> {
    let written = fault.field.as_deref().and_then(|field| {
        let (session, written) = if let Some(session) = field.strip_suffix(".key") {
            (session, session.to_string())
        } else {
            let session = field.strip_suffix(".agent")?;
            (session, joined(&[session.strip_suffix(".target")?, ".agent"]))
        };
        find(params, session)?.as_text()?;
        Some(written)
    });
    if let (Some(field), Some(written)) = (&fault.field, written) {
        if let Some(what) = fault.message.strip_prefix(field.as_str()) {
            fault.message = joined(&[&written, what]);
        }
        fault.field = Some(written);
    }
    fault
}

/// What stands at a path such as `signals[3].session`.
fn find<'v>(params: &'v Value<'v>, path: &str) -> Option<&'v Value<'v>> {
    let mut value = params;
    let mut rest = Some(path);
    while let Some(path) = rest {
        let end = path.bytes().position(|byte| matches!(byte, b'.' | b'['));
        let step = path.get(..end.unwrap_or(path.len()))?;
        rest = end.and_then(|end| path.get(end + 1..));
        value = match value {
            Value::Object(members) => members.get(step)?,
            Value::List(elements) => {
                let at = parse(step.strip_suffix(']')?)?;
                elements.get(usize::try_from(at).ok()?)?
            }
            _ => return None,
        };
    }
    Some(value)
}
