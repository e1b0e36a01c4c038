//! The JSON surface: one JSON-RPC request in, at most one response out. The component answers;
//! here it is only decided which connection a request needs. What the host itself does is in
//! `errands`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use serde_json::value::RawValue;

use crate::awareness::Awareness;
use crate::contract::{Access, Core, Failure, Level};
use crate::effects::Effects;
use crate::error::{self, Error};
use crate::instance::Guest;
use crate::plugin::Plugin;
use crate::writer::Done;

/// Longest response that a core may give, in bytes.
const RESPONSE_BYTES: usize = 64 << 20;

/// What is wrong with an answer that is no response.
const NO_RESPONSE: &str = "the core returned something that is not a JSON object on one line";

/// What is wrong with no answer.
const SILENCE: &str = "the core returned no response to a request that has an id";

/// What `wire.call` answers inside the instance; either side is a response.
pub(crate) type Answer = wasmtime::Result<Result<Option<String>, Option<String>>>;

impl Awareness {
    /// Answers one JSON-RPC 2.0 request, which is one JSON object and not a batch; `None` for a
    /// notification, which has no id. Whatever the request is, this returns: bad input, a failing
    /// store and a failing core are responses too.
    ///
    /// ```
    /// # let awareness = headsup::Awareness::builder(":memory:").open()?;
    /// let request = r#"{"jsonrpc":"2.0","id":1,"method":"pending"}"#;
    /// let response = awareness.call(request).unwrap();
    /// assert_eq!(response, r#"{"jsonrpc":"2.0","id":1,"result":{"watchers":[]}}"#);
    /// # Ok::<(), headsup::OpenError>(())
    /// ```
    #[must_use]
    pub fn call(&self, request: &str) -> Option<String> {
        let limit = self.inner.request_limit;
        if request.len() > limit {
            return self.failed("", &Failure::TooLong(limit as u64));
        }
        let method = method_of(request).unwrap_or_default();
        let plugin = self.inner.plugin();
        let done = match plugin.access(&method) {
            Some(Access::Writes) => self.write_json(&method, request),
            Some(Access::Reads) | None => self.read_json(request),
            Some(Access::Host) => return self.call_host(&plugin, request),
            Some(Access::Depends) => {
                let question = |core: &Core, guest: Guest| {
                    core.headsup_awareness_wire().call_writes(guest, request)
                };
                match plugin.ask(question) {
                    Ok(true) => self.write_json(&method, request),
                    Ok(false) => self.read_json(request),
                    Err(failure) => Done::failed(failure),
                }
            }
        };
        self.inner.courier.deliver(done.effects);
        match done.answer {
            Ok(Ok(response) | Err(response)) => response,
            Err(failure) => self.failed(request, &failure),
        }
    }

    /// The same for bytes that may be no text at all.
    #[must_use]
    pub fn call_bytes(&self, request: &[u8]) -> Option<String> {
        match std::str::from_utf8(request) {
            Ok(request) => self.call(request),
            Err(_) if request.len() > self.inner.request_limit => self.too_long(),
            Err(_) => self.failed("", &Failure::NotUtf8),
        }
    }

    /// The response to a request that was not even read to its end, because it is too long.
    #[must_use]
    pub fn too_long(&self) -> Option<String> {
        self.failed("", &Failure::TooLong(self.inner.request_limit as u64))
    }

    /// Whether the core that serves now has a method of this name.
    #[must_use]
    pub fn answers(&self, method: &str) -> bool {
        self.inner.plugin().access(method).is_some()
    }

    /// The longest request that [`call`](Self::call) answers, in bytes.
    #[must_use]
    pub fn request_limit(&self) -> usize {
        self.inner.request_limit
    }

    /// Words the response to a request that failed outside the core, and logs a recording that was
    /// lost. The plugin does it, or else the built-in core. Bad input is refused, whatever failed.
    #[must_use]
    pub fn failed(&self, request: &str, failure: &Failure) -> Option<String> {
        let plugin = self.inner.plugin();
        let words = worded(&plugin, request, failure).or_else(|worse| {
            let core = self.fallback(&plugin).ok_or(worse)?;
            worded(core, request, failure)
        });
        match words {
            Ok((response, effects)) => {
                self.inner.courier.deliver(effects);
                response
            }
            Err(worse) => {
                let line = format!("no core words a failure: {}", error::words(&worse));
                self.inner.courier.log(Level::Error, &line);
                Some(last_words(failure))
            }
        }
    }

    fn fallback(&self, plugin: &Plugin) -> Option<&Plugin> {
        let load = || Plugin::built_in(plugin.engine()).ok();
        self.inner.fallback.get_or_init(load).as_ref()
    }

    fn read_json(&self, request: &str) -> Done<Option<String>, Option<String>> {
        let request = request.to_owned();
        self.inner.read(move |core, guest| ask(core, guest, &request))
    }

    fn write_json(&self, method: &str, request: &str) -> Done<Option<String>, Option<String>> {
        let request = request.to_owned();
        let deadline = self.deadline_of(method);
        let body = move |core: &Core, guest: Guest| ask(core, guest, &request);
        self.inner.write(deadline, body)
    }

    /// Recovery takes as long as there is to prune and to put back, deleting as long as the log, and
    /// sources as long as there are links and rows.
    fn deadline_of(&self, method: &str) -> Duration {
        match method {
            "recover" | "delete" | "planUpstreams" | "feedUpstream" => {
                self.inner.limits.long_deadline
            }
            _ => self.inner.limits.deadline,
        }
    }
}

/// Calls the core, and counts an answer that is no response as a trap.
fn ask(core: &Core, guest: Guest, request: &str) -> Answer {
    let answer = core.headsup_awareness_wire().call_call(guest, request)?;
    let (Ok(response) | Err(response)) = &answer;
    checked(request, response.as_deref())?;
    Ok(answer)
}

/// Whether this can be the response to a request.
pub(crate) fn checked(request: &str, response: Option<&str>) -> wasmtime::Result<()> {
    match response {
        Some(response) if !is_response(response) => Err(wasmtime::Error::msg(NO_RESPONSE)),
        None if wants_response(request) => Err(wasmtime::Error::msg(SILENCE)),
        Some(_) | None => Ok(()),
    }
}

/// Whether this can be sent as a line: one JSON object.
fn is_response(response: &str) -> bool {
    response.len() <= RESPONSE_BYTES
        && response.starts_with('{')
        && !response.contains(['\n', '\r'])
        && serde_json::from_str::<&RawValue>(response).is_ok()
}

/// The words of this core about a failure, and what it logs.
fn worded(
    plugin: &Plugin,
    request: &str,
    failure: &Failure,
) -> Result<(Option<String>, Effects), Failure> {
    let (response, effects) = plugin.ask_and_hear(|core, guest| {
        core.headsup_awareness_wire().call_failed(guest, request, failure)
    })?;
    match response {
        Some(response) if !is_response(&response) => Err(Failure::Trap(NO_RESPONSE.into())),
        None if wants_response(request) => Err(Failure::Trap(SILENCE.into())),
        Some(_) | None => Ok((response, effects)),
    }
}

/// Should no core be able to say it.
fn last_words(failure: &Failure) -> String {
    let error = Error::from(failure.clone());
    serde_json::json!({
        "jsonrpc": "2.0",
        "id": null,
        "error": {
            "code": -32000,
            "message": error.to_string(),
            "data": {"reason": error.reason()},
        },
    })
    .to_string()
}

/// The method of a request, if it is a request at all; the last one if it has several, as in the
/// core. Anything else is refused by the core, for which any connection will do.
pub(crate) fn method_of(request: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str(members(request)?.get("method")?.get()).ok()
}

/// Whether somebody waits for the response: all but a request without an id.
fn wants_response(request: &str) -> bool {
    members(request).is_none_or(|members| members.contains_key("id"))
}

/// The members of a request, if it is an object.
fn members(request: &str) -> Option<HashMap<Cow<'_, str>, &RawValue>> {
    serde_json::from_str(request).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_one_json_object_on_one_line() {
        assert!(is_response(r#"{"jsonrpc":"2.0"}"#));
        for garbage in ["", "null", "[]", "{", "{}\n", "{}{}", "{\"a\":\r1}", "x{}"] {
            assert!(!is_response(garbage), "{garbage:?}");
        }
    }

    #[test]
    fn all_but_a_request_without_an_id_want_a_response() {
        for request in [r#"{"id":1,"method":"take"}"#, r#"{"id":null}"#, "", "[]", "{"] {
            assert!(wants_response(request), "{request}");
        }
        assert!(!wants_response(r#"{"method":"take","params":{"id":1}}"#));
    }

    #[test]
    fn the_method_is_found_wherever_it_stands() {
        assert_eq!(method_of(r#"{"method":"take"}"#).as_deref(), Some("take"));
        let escaped = r#"{"params":{"method":"x"},"method":"t\u0061ke"}"#;
        assert_eq!(method_of(escaped).as_deref(), Some("take"));
        let twice = r#"{"method":"take","method":"drain"}"#;
        assert_eq!(method_of(twice).as_deref(), Some("drain"));
        for none in ["", "[]", "{", r#"{"method":1}"#, r#"{"m":"take"}"#] {
            assert_eq!(method_of(none), None, "{none}");
        }
    }
}
