//! Our core, until a call names `hostile:<word>` in a key or a request: then it does its work as
//! always, and after that what the word stands for (see `deeds`). So whatever it wrote must be
//! undone by the host.
#![no_std]

extern crate alloc;

mod deeds;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use headsup_component::contract::exports::headsup::awareness as exports;
use headsup_component::contract::{
    Acknowledgement, Adopted, AdoptionRequest, Check, Delta, Drained, Errand, ErrandDone, Error,
    Explanation, Failure, Found, Metadata, Method, Notice, Outcome, PendingCount, PendingNotice,
    Plan, Policy, Pruning, Reader, Receipt, Recovery, Removal, Selection, Session, SessionRef,
    Signal, Urgency, WatchAnswer, WatchEntry,
};
use headsup_component::guest;

type Core = guest::Core;

struct Hostile;

headsup_component::contract::export!(Hostile with_types_in headsup_component::contract);

/// The word after `hostile:` in any of these texts; empty if there is none.
fn word<'a>(texts: impl IntoIterator<Item = &'a str>) -> &'a str {
    for text in texts {
        if let Some((_, rest)) = text.split_once("hostile:") {
            let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '-'));
            return &rest[..end.unwrap_or(rest.len())];
        }
    }
    ""
}

impl exports::signals::Guest for Hostile {
    fn record(signal: Signal) -> Result<Outcome, Error> {
        let word = word([signal.session.key.as_str()]).to_string();
        let mut answer = Core::record(signal);
        if let (Ok(outcome), Some(lie)) = (&mut answer, deeds::outcome(&word)) {
            *outcome = lie;
        }
        deeds::act(&word);
        deeds::garbled(&word).map_or(answer, Err)
    }
    fn record_many(signals: Vec<Signal>) -> Result<Vec<Outcome>, Error> {
        let word = word(signals.iter().map(|signal| signal.session.key.as_str())).to_string();
        let answer = Core::record_many(signals);
        deeds::act(&word);
        deeds::garbled(&word).map_or(answer, Err)
    }
}

impl exports::watches::Guest for Hostile {
    fn watch(watcher: String, target: SessionRef, ambient: bool) -> Result<WatchAnswer, Error> {
        let word = word([watcher.as_str(), target.key.as_str()]).to_string();
        let answer = Core::watch(watcher, target, ambient);
        deeds::act(&word);
        answer
    }
    fn unwatch(watcher: String, target: SessionRef) -> Result<bool, Error> {
        Core::unwatch(watcher, target)
    }
    fn of_watcher(watcher: String) -> Result<Vec<WatchEntry>, Error> {
        Core::of_watcher(watcher)
    }
    fn on_target(target: SessionRef) -> Result<Vec<WatchEntry>, Error> {
        Core::on_target(target)
    }
}

impl exports::notices::Guest for Hostile {
    fn take(watcher: String) -> Result<Vec<Notice>, Error> {
        let word = word([watcher.as_str()]).to_string();
        let answer = Core::take(watcher);
        deeds::act(&word);
        deeds::notices(&word).map_or(answer, Ok)
    }
    fn pending_of(watcher: String) -> Result<Vec<PendingNotice>, Error> {
        Core::pending_of(watcher)
    }
    fn acknowledge(watcher: String, receipts: Vec<Receipt>) -> Result<Acknowledgement, Error> {
        Core::acknowledge(watcher, receipts)
    }
    fn drain(watcher: String) -> Result<Drained, Error> {
        let word = word([watcher.as_str()]).to_string();
        let answer = Core::drain(watcher);
        deeds::act(&word);
        answer
    }
    fn pending() -> Result<Vec<PendingCount>, Error> {
        Core::pending()
    }
}

impl exports::reconciliation::Guest for Hostile {
    fn changes_since(
        session: SessionRef,
        version: u64,
        limit: Option<u32>,
    ) -> Result<Delta, Error> {
        let word = word([session.key.as_str()]).to_string();
        let mut answer = Core::changes_since(session, version, limit);
        if let (Ok(delta), Some(lie)) = (&mut answer, deeds::version(&word)) {
            delta.state_version = lie;
        }
        deeds::act(&word);
        deeds::garbled(&word).map_or(answer, Err)
    }
    fn versions(sessions: Vec<SessionRef>) -> Result<Vec<Option<u64>>, Error> {
        let word = word(sessions.iter().map(|session| session.key.as_str())).to_string();
        let answer = Core::versions(sessions);
        match deeds::version(&word) {
            Some(lie) => answer.map(|all| all.iter().map(|_| Some(lie)).collect()),
            None => answer,
        }
    }
}

impl exports::upstreams::Guest for Hostile {
    fn adopt(request: AdoptionRequest, found: Option<Found>) -> Result<Adopted, Error> {
        let word = word([request.session.key.as_str()]).to_string();
        let answer = Core::adopt(request, found);
        deeds::act(&word);
        answer
    }
    fn sent(session: SessionRef, text: String) -> Result<(), Error> {
        Core::sent(session, text)
    }
    fn busy(session: SessionRef, running: bool) -> Result<(), Error> {
        Core::busy(session, running)
    }
    fn plan_checks(selection: Selection, reader: Reader) -> Result<Vec<Plan>, Error> {
        Core::plan_checks(selection, reader)
    }
    fn feed(session: Session, revision: u64, found: Found) -> Result<Check, Error> {
        let word = word([session.key.as_str()]).to_string();
        let answer = Core::feed(session, revision, found);
        deeds::act(&word);
        answer
    }
    fn explain(
        kind: String,
        state: String,
        part: Vec<u8>,
        last: bool,
    ) -> Result<Explanation, Error> {
        Core::explain(kind, state, part, last)
    }
}

impl exports::maintenance::Guest for Hostile {
    fn reset(session: SessionRef) -> Result<Removal, Error> {
        Core::reset(session)
    }
    fn delete(session: SessionRef) -> Result<Removal, Error> {
        let word = word([session.key.as_str()]).to_string();
        let answer = Core::delete(session);
        deeds::act(&word);
        answer
    }
    fn prune(urgency: Urgency) -> Result<Option<Pruning>, Error> {
        Core::prune(urgency)
    }
    fn next_prune() -> Result<u64, Error> {
        Core::next_prune()
    }
    fn recover(prune_first: bool) -> Result<Recovery, Error> {
        Core::recover(prune_first)
    }
    fn restored() -> Result<u64, Error> {
        Core::restored()
    }
    fn current_policy() -> Result<Policy, Error> {
        Core::current_policy()
    }
    fn set_policy(policy: Policy) -> Result<(), Error> {
        Core::set_policy(policy)
    }
}

impl exports::wire::Guest for Hostile {
    fn methods() -> Vec<Method> {
        Core::methods()
    }
    fn writes(request: String) -> bool {
        let word = word([request.as_str()]).to_string();
        if let Some(act) = word.strip_suffix("-when-asked") {
            deeds::act(act);
        }
        Core::writes(request)
    }
    fn call(request: String) -> Result<Option<String>, Option<String>> {
        let word = word([request.as_str()]).to_string();
        let answer = Core::call(request);
        deeds::act(word.strip_suffix("-twice").unwrap_or(&word));
        match deeds::response(&word) {
            Some(response) => Ok(response),
            None => answer,
        }
    }
    fn errand_of(request: String) -> Result<Errand, Option<String>> {
        Core::errand_of(request)
    }
    fn respond(request: String, done: ErrandDone) -> Result<Option<String>, Option<String>> {
        let word = word([request.as_str()]).to_string();
        let answer = Core::respond(request, done);
        deeds::act(&word);
        answer
    }
    fn failed(request: String, failure: Failure) -> Option<String> {
        if let Some(act) = word([request.as_str()]).strip_suffix("-twice") {
            deeds::act(act);
        }
        Core::failed(request, failure)
    }
}

impl exports::plugin::Guest for Hostile {
    fn describe() -> Metadata {
        #[cfg(feature = "thief")]
        deeds::steal();
        #[cfg(feature = "reader")]
        deeds::read();
        #[cfg(feature = "caller")]
        deeds::connect();
        #[cfg(feature = "mute")]
        deeds::act("loop");
        Metadata { name: "hostile".to_string(), ..Core::describe() }
    }
}
