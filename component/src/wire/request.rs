//! The JSON-RPC 2.0 envelope: what a request is, and its response.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::{String, ToString};

use super::fault::{Code, Fault};
use super::fields::{Fields, Read, refuse};
use super::place::Place;
use crate::contract::InvalidReason;
use crate::json::{self, Members, Value, Writer};
use crate::text::joined;

/// What a caller gave to recognise the response by.
#[derive(Debug, PartialEq, Eq)]
pub enum Id<'a> {
    /// Null, or unknown because the request could not be read.
    Null,
    /// An integer as it was written.
    Integer(&'a str),
    /// A text.
    Text(Cow<'a, str>),
}

/// A request in a whole envelope.
#[derive(Debug)]
pub struct Request<'a> {
    /// `None`: the caller wants no response.
    pub id: Option<Id<'a>>,
    /// The name of the method, which need not exist.
    pub method: String,
    /// An object, empty where the request has none; any other value is kept for the error.
    pub params: Value<'a>,
}

/// What is no request, with the id of its response.
#[derive(Debug)]
pub struct NoRequest<'a> {
    pub id: Id<'a>,
    pub fault: Box<Fault>,
}

impl<'a> Request<'a> {
    /// Reads the envelope.
    pub fn read(text: &'a str) -> Result<Self, NoRequest<'a>> {
        let nameless = |fault| NoRequest { id: Id::Null, fault };
        let value = json::read(text).map_err(|malformed| {
            let message = joined(&["the request is not JSON: ", &malformed.words()]);
            nameless(Fault::new(Code::Parse, "malformed-json", message))
        })?;
        let Value::Object(mut members) = value else {
            return Err(nameless(Fault::new(
                Code::Request,
                "invalid-request",
                "a request is a JSON object, and a batch a list of at least one",
            )));
        };
        let id = members.take("id").map(read_id).transpose().map_err(nameless)?;
        match read_method(&members) {
            Ok(method) => Ok(Self {
                id,
                method,
                params: members.take("params").unwrap_or_else(|| Value::Object(Members::default())),
            }),
            Err(refusal) => {
                Err(NoRequest { id: id.unwrap_or(Id::Null), fault: refusal.of_envelope() })
            }
        }
    }

    /// The response that carries this result; none if the caller wants none.
    pub fn result(&self, result: &str) -> Option<String> {
        let id = self.id.as_ref()?;
        Some(respond(id, |out| out.name("result").json(result)))
    }

    /// The response that carries this error; none if the caller wants none.
    pub fn error(&self, fault: &Fault) -> Option<String> {
        self.id.as_ref().map(|id| error(id, fault))
    }
}

/// An error response.
pub fn error(id: &Id<'_>, fault: &Fault) -> String {
    respond(id, |out| fault.write(out.name("error")))
}

fn respond(id: &Id<'_>, outcome: impl FnOnce(&mut Writer)) -> String {
    json::object(|out| {
        out.name("jsonrpc").text("2.0");
        let id_value = out.name("id");
        match id {
            Id::Null => id_value.json("null"),
            Id::Integer(number) => id_value.json(number),
            Id::Text(text) => id_value.text(text),
        }
        outcome(out);
    })
}

fn read_id(id: Value<'_>) -> Read<Id<'_>> {
    match id {
        Value::Null => Ok(Id::Null),
        Value::Text(text) => Ok(Id::Text(text)),
        other => other.as_integer().map(Id::Integer).ok_or_else(|| {
            let what = "must be a text, an integer, or null";
            refuse(InvalidReason::WrongType, &Place::whole("id"), what).of_envelope()
        }),
    }
}

fn read_method(members: &Members<'_>) -> Read<String> {
    let whole = Place::whole("request");
    let fields = Fields::new(members, &whole);
    fields.only(&[&["jsonrpc", "id", "method", "params"]])?;
    fields.word("jsonrpc", &[()], &["2.0"])?;
    Ok(fields.text("method")?.to_string())
}
