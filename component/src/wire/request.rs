//! The JSON-RPC 2.0 envelope: what a request is, and its response.

use alloc::format;
use alloc::string::{String, ToString};

use serde_json::{Map, Number, Value};

use super::fault::{Code, Fault};
use super::fields::{Fields, Read, refuse};
use super::json;
use super::parse::parse;
use super::place::Place;
use crate::contract::InvalidReason;

/// What a caller gave to recognise the response by.
#[derive(Debug, PartialEq, Eq)]
pub enum Id {
    Null,
    Integer(Number),
    Text(String),
}

/// A request in a whole envelope.
#[derive(Debug)]
pub struct Request {
    /// `None`: the caller wants no response.
    pub id: Option<Id>,
    pub method: String,
    /// An object, empty where the request has none; any other value is kept for the error.
    pub params: Value,
}

/// What is no request, with the id of its response.
#[derive(Debug)]
pub struct NoRequest {
    pub id: Id,
    pub fault: Fault,
}

impl Request {
    /// Reads the envelope.
    pub fn read(text: &str) -> Result<Self, NoRequest> {
        let value = parse(text).map_err(|error| NoRequest {
            id: Id::Null,
            fault: Fault::new(
                Code::Parse,
                "malformed-json",
                format!("the request is not JSON, or nested deeper than 127 levels: {error}"),
            ),
        })?;
        let Value::Object(mut members) = value else {
            return Err(NoRequest {
                id: Id::Null,
                fault: Fault::new(
                    Code::Request,
                    "invalid-request",
                    "a request is a JSON object, and a batch a list of at least one",
                ),
            });
        };
        let id = match members.remove("id").map(read_id).transpose() {
            Ok(id) => id,
            Err(fault) => {
                return Err(NoRequest { id: Id::Null, fault });
            }
        };
        match read_method(&members) {
            Ok(method) => Ok(Self {
                id,
                method,
                params: members.remove("params").unwrap_or_else(|| Map::new().into()),
            }),
            Err(refusal) => {
                Err(NoRequest { id: id.unwrap_or(Id::Null), fault: Fault::envelope(refusal) })
            }
        }
    }

    /// The response that carries this result; none if the caller wants none.
    pub fn result(&self, result: &str) -> Option<String> {
        self.id.as_ref().map(|id| respond(id, |response| response.json("result", result)))
    }

    /// The response that carries this error; none if the caller wants none.
    pub fn error(&self, fault: &Fault) -> Option<String> {
        self.id.as_ref().map(|id| error(id, fault))
    }
}

/// An error response.
pub fn error(id: &Id, fault: &Fault) -> String {
    respond(id, |response| response.object("error", |error| fault.write(error)))
}

fn respond(id: &Id, outcome: impl FnOnce(&mut json::Object<'_>)) -> String {
    json::object(|response| {
        response.text("jsonrpc", "2.0");
        match id {
            Id::Null => response.json("id", "null"),
            Id::Integer(number) => response.json("id", &number.to_string()),
            Id::Text(text) => response.text("id", text),
        }
        outcome(response);
    })
}

fn read_id(id: Value) -> Result<Id, Fault> {
    match id {
        Value::Null => Ok(Id::Null),
        Value::Number(number) if !number.is_f64() => Ok(Id::Integer(number)),
        Value::String(text) => Ok(Id::Text(text)),
        _ => Err(Fault::envelope(refuse(
            InvalidReason::WrongType,
            &Place::whole("id"),
            "must be a text, an integer of 64 bits, or null",
        ))),
    }
}

fn read_method(members: &Map<String, Value>) -> Read<String> {
    let whole = Place::whole("request");
    let fields = Fields::new(members, &whole);
    fields.only(&[&["jsonrpc", "id", "method", "params"]])?;
    fields.word("jsonrpc", &[((), "2.0")])?;
    Ok(fields.text("method")?.to_string())
}
