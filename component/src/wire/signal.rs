//! The params of `record`, and each element of `recordMany`, as a typed signal.

use alloc::string::ToString;
use alloc::vec::Vec;

use super::fields::{Fields, Read, no_word, text_at};
use super::methods::PARAMS;
use super::place::Place;
use crate::contract::{
    Actor, ActorType, Adoption, DirectMessage, GoalChange, Happening, InvalidReason, Kind,
    RunOutcome, Signal,
};
use crate::json::Value;

/// The fields that every kind has.
const EVERY_KIND: &[&str] =
    &["session", "kind", "actor", "sessionId", "runId", "occurredAt", "dedupeKey", "watchers"];
/// Reads a signal. Values are checked by the logic; here are their types, and that each field
/// belongs to the kind.
pub fn read(value: &Value<'_>, place: &Place<'_>) -> Read<Signal> {
    let fields = Fields::of(value, place)?;
    let Some(kind) = Kind::of(fields.text("kind")?) else {
        let words = Kind::WORDS.map(|(_, word)| word);
        return Err(no_word(InvalidReason::UnknownKind, &fields.place_of("kind"), &words));
    };
    fields.only(&[EVERY_KIND, fields_of(kind)])?;
    Ok(Signal {
        session: fields.session("session")?,
        happening: happening(kind, &fields)?,
        actor: actor(&fields)?,
        session_id: fields.owned_if("sessionId")?,
        run_id: fields.owned_if("runId")?,
        occurred_at: fields.time_if("occurredAt")?,
        dedupe_key: fields.owned_if("dedupeKey")?,
        watchers: if fields.has("watchers") {
            fields.list("watchers", |key, place| Ok(text_at(key, place)?.to_string()))?
        } else {
            Vec::new()
        },
    })
}

/// Reads the params of `recordMany`.
pub fn read_many(params: &Value<'_>) -> Read<Vec<Signal>> {
    let fields = Fields::of(params, &PARAMS)?;
    fields.only(&[&["signals"]])?;
    fields.list("signals", read)
}

/// The fields that this kind has and others have not.
fn fields_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::HumanDirectMessage => &["channel", "turns"],
        Kind::UpstreamMissing => &["catalog"],
        Kind::GoalChanged => &["change"],
        Kind::RunFailed => &["outcome"],
        Kind::Compacted => &["operationId"],
        Kind::Adopted => &["catalog", "host"],
        Kind::ChildSpawned | Kind::RunCompleted | Kind::Created => &[],
    }
}

fn happening(kind: Kind, fields: &Fields<'_>) -> Read<Happening> {
    Ok(match kind {
        Kind::HumanDirectMessage => Happening::HumanDirectMessage(DirectMessage {
            channel: fields.owned_if("channel")?,
            turns: fields.small_if("turns")?,
        }),
        Kind::UpstreamMissing => Happening::UpstreamMissing(fields.owned("catalog")?),
        Kind::GoalChanged => {
            let change = fields.word("change", &GoalChange::ALL, &GoalChange::WORDS)?;
            Happening::GoalChanged(change)
        }
        Kind::ChildSpawned => Happening::ChildSpawned,
        Kind::RunCompleted => Happening::RunCompleted,
        Kind::RunFailed => {
            let outcome = fields.word("outcome", &RunOutcome::ALL, &RunOutcome::WORDS)?;
            Happening::RunFailed(outcome)
        }
        Kind::Compacted => Happening::Compacted(fields.owned("operationId")?),
        Kind::Adopted => Happening::Adopted(Adoption {
            catalog: fields.owned("catalog")?,
            host: fields.owned_if("host")?,
        }),
        Kind::Created => Happening::Created,
    })
}

fn actor(fields: &Fields<'_>) -> Read<Actor> {
    let place = fields.place_of("actor");
    let fields = Fields::of(fields.value("actor")?, &place)?;
    fields.only(&[&["type", "id"]])?;
    let type_ = fields.word("type", &ActorType::ALL, &ActorType::WORDS)?;
    Ok(Actor { type_, id: fields.owned_if("id")? })
}
