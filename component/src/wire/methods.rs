//! The methods: what each is called, whether it writes, and how it becomes a typed call.

use alloc::format;
use alloc::string::{String, ToString};

use serde_json::Value;

use super::answers;
use super::fault::{Code, Fault};
use super::fields::{Fields, Read, refuse, session_at, text_at};
use super::place::Place;
use super::{signal, tools};
use crate::contract::{Access, Error, InvalidInput, InvalidReason, Level, Receipt, SessionRef};
use crate::ports::Ports;
use crate::{acknowledge, lifecycle, notice, reconcile, record, retention, watch};

/// Where params stand.
pub const PARAMS: Place<'static> = Place::whole("params");

/// A method of the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Record,
    RecordMany,
    Watch,
    Unwatch,
    Watches,
    Take,
    Acknowledge,
    Drain,
    Pending,
    Status,
    Versions,
    Reset,
    Delete,
    Recover,
    Tools,
    CallTool,
    Clock,
}

/// Every method with its name on the wire and what it does to the store.
pub const METHODS: [(Name, &str, Access); 17] = [
    (Name::Record, "record", Access::Writes),
    (Name::RecordMany, "recordMany", Access::Writes),
    (Name::Watch, "watch", Access::Writes),
    (Name::Unwatch, "unwatch", Access::Writes),
    (Name::Watches, "watches", Access::Reads),
    (Name::Take, "take", Access::Reads),
    (Name::Acknowledge, "acknowledge", Access::Writes),
    (Name::Drain, "drain", Access::Writes),
    (Name::Pending, "pending", Access::Reads),
    (Name::Status, "status", Access::Reads),
    (Name::Versions, "versions", Access::Reads),
    (Name::Reset, "reset", Access::Writes),
    (Name::Delete, "delete", Access::Writes),
    (Name::Recover, "recover", Access::Writes),
    (Name::Tools, "tools", Access::Reads),
    (Name::CallTool, "callTool", Access::Depends),
    (Name::Clock, "clock", Access::Host),
];

impl Name {
    /// The method of this name on the wire.
    pub fn of(name: &str) -> Option<Self> {
        METHODS.iter().find(|(_, word, _)| *word == name).map(|(method, ..)| *method)
    }
}

/// Why a call keeps nothing.
#[derive(Debug)]
pub enum Refused {
    /// It is answered with an error.
    Error(Fault),
    /// It is answered with this result: recording never fails the turn that caused it.
    Result(String),
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self::Error(fault)
    }
}

impl From<InvalidInput> for Refused {
    fn from(refusal: InvalidInput) -> Self {
        Self::Error(Fault::params(refusal))
    }
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Error(error.into())
    }
}

/// The result of a call, as JSON text.
pub type Answer = Result<String, Refused>;

/// Calls a method. A refusal names the field as the caller wrote it.
pub fn call(ports: &mut impl Ports, method: Name, params: &Value) -> Answer {
    dispatch(ports, method, params).map_err(|refused| match refused {
        Refused::Error(fault) => Refused::Error(as_written(params, fault)),
        result @ Refused::Result(_) => result,
    })
}

fn dispatch(ports: &mut impl Ports, method: Name, params: &Value) -> Answer {
    let fields = Fields::of(params, &PARAMS)?;
    match method {
        Name::Record => record_one(ports, params),
        Name::RecordMany => record_many(ports, params),
        Name::Watch => {
            fields.only(&[&["watcher", "target", "ambient"]])?;
            let (watcher, target) = (fields.text("watcher")?, fields.session("target")?);
            let ambient = fields.flag_if("ambient")?.unwrap_or(false);
            Ok(answers::watched(watch::watch(ports, watcher, &target, ambient)?))
        }
        Name::Unwatch => {
            fields.only(&[&["watcher", "target"]])?;
            let (watcher, target) = (fields.text("watcher")?, fields.session("target")?);
            Ok(answers::removed(watch::unwatch(ports, watcher, &target)?))
        }
        Name::Watches => watches(ports, &fields),
        Name::Take => Ok(answers::taken(&notice::take(ports, watcher_alone(&fields)?)?)),
        Name::Acknowledge => {
            fields.only(&[&["watcher", "notices"]])?;
            let (watcher, receipts) = (fields.text("watcher")?, fields.list("notices", receipt)?);
            let answer = acknowledge::acknowledge(ports, watcher, &receipts)?;
            Ok(answers::acknowledged(&answer))
        }
        Name::Drain => Ok(answers::drained(&acknowledge::drain(ports, watcher_alone(&fields)?)?)),
        Name::Pending => {
            fields.only(&[])?;
            Ok(answers::pending(&notice::pending(ports)?))
        }
        Name::Status => status(ports, &fields),
        Name::Versions => {
            fields.only(&[&["sessions"]])?;
            let sessions = fields.list("sessions", session_at)?;
            Ok(answers::versions(&reconcile::versions(ports, &sessions)?))
        }
        Name::Reset => Ok(answers::removal(lifecycle::reset(ports, &session_alone(&fields)?)?)),
        Name::Delete => Ok(answers::removal(lifecycle::delete(ports, &session_alone(&fields)?)?)),
        Name::Recover => {
            fields.only(&[])?;
            Ok(answers::recovery(retention::recover(ports, true)?))
        }
        Name::Tools => {
            fields.only(&[])?;
            Ok(tools::definitions())
        }
        Name::CallTool => tools::call(ports, &fields),
        Name::Clock => {
            fields.only(&[&["now"]])?;
            Ok(answers::clock(fields.clock_time("now")?))
        }
    }
}

fn record_one(ports: &mut impl Ports, params: &Value) -> Answer {
    let signal = signal::read(params, &PARAMS)?;
    match record::record(ports, &signal) {
        Ok(outcome) => Ok(answers::outcome(outcome)),
        Err(error) => {
            let reason = not_recorded(ports, error)?;
            Err(Refused::Result(answers::failed_outcome(reason)))
        }
    }
}

fn record_many(ports: &mut impl Ports, params: &Value) -> Answer {
    let signals = signal::read_many(params)?;
    match record::record_many(ports, &signals) {
        Ok(outcomes) => Ok(answers::outcomes(outcomes)),
        Err(error) => {
            let reason = not_recorded(ports, error)?;
            Err(Refused::Result(answers::failed_outcomes(signals.len(), reason)))
        }
    }
}

/// Logs that the store failed a recording. Its reason; bad input stays an error.
fn not_recorded(ports: &mut impl Ports, error: Error) -> Result<&'static str, Fault> {
    let fault = Fault::from(error);
    if fault.code != Code::Failed {
        return Err(fault);
    }
    let Fault { reason, message, .. } = fault;
    ports.log(Level::Error, &format!("nothing was recorded: {reason}: {message}"));
    Ok(reason)
}

fn watches(ports: &mut impl Ports, fields: &Fields<'_>) -> Answer {
    fields.only(&[&["watcher", "target"]])?;
    let entries = match (fields.has("watcher"), fields.has("target")) {
        (_, false) => watch::of_watcher(ports, fields.text("watcher")?)?,
        (false, true) => watch::on_target(ports, &fields.session("target")?)?,
        (true, true) => {
            return Err(refuse(
                InvalidReason::UnknownField,
                &fields.place_of("target"),
                "give either watcher or target, not both",
            )
            .into());
        }
    };
    Ok(answers::watches(&entries))
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
        )
        .into());
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
        crate::session::resolve("session", session)?;
        let versions = reconcile::versions(ports, core::slice::from_ref(session))?;
        return Ok(answers::state(versions.first().copied().flatten().unwrap_or(0)));
    };
    let delta = reconcile::changes_since(ports, session, since, limit)?;
    Ok(answers::changes(&delta).map_err(Fault::from)?)
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
fn receipt(value: &Value, place: &Place<'_>) -> Read<Receipt> {
    let fields = Fields::of(value, place)?;
    fields.only(&[&["target", "agent", "since", "upTo", "text"]])?;
    if let Some(text) = fields.value_if("text") {
        text_at(text, &fields.place_of("text"))?;
    }
    Ok(Receipt {
        target: SessionRef {
            key: fields.text("target")?.to_string(),
            agent: fields.text_if("agent")?.map(ToString::to_string),
        },
        since: fields.version("since")?,
        up_to: fields.version("upTo")?,
    })
}

/// The logic calls the parts of a session `….key` and `….agent`. A caller may have written a
/// session as its key alone, and writes the agent of a notice beside its target.
fn as_written(params: &Value, mut fault: Fault) -> Fault {
    let written = fault.field.as_deref().and_then(|field| {
        let (whole, part) = field.rsplit_once('.')?;
        let pointer = format!("/{whole}").replace(['.', '['], "/").replace(']', "");
        if !params.pointer(&pointer)?.is_string() {
            return None;
        }
        match (part, whole.strip_suffix(".target")) {
            ("key", _) => Some(whole.to_string()),
            ("agent", Some(notice)) => Some(format!("{notice}.agent")),
            _ => None,
        }
    });
    if let (Some(field), Some(written)) = (&fault.field, written) {
        fault.message = fault.message.replacen(field.as_str(), &written, 1);
        fault.field = Some(written);
    }
    fault
}
