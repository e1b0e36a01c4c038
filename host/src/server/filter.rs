//! The filter of an event stream: `?watcher=KEY`, as often as there are watchers.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use super::events::Filter;
use crate::awareness::Awareness;
use crate::contract::{SessionRef, Unwatchable, WatchAnswer};

/// Has keys made canonical by the core, as events carry them: on a store of its own in memory, in
/// which a watcher watches something, and is asked back. No rule about keys is repeated here.
#[derive(Debug, Default)]
pub(super) struct Keys {
    scratch: Mutex<Option<Awareness>>,
}

/// What no watcher is, and none of them watches.
const TARGET: (&str, &str) = ("filter", "filter");

impl Keys {
    /// The filter that a query asks for.
    ///
    /// # Errors
    /// In words: what is wrong with it and what to do.
    pub(super) fn filter(&self, real: &Awareness, query: &str) -> Result<Filter, String> {
        let mut watchers = HashSet::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if name != "watcher" {
                return Err("the only parameter is `watcher`, a key: /events?watcher=KEY".into());
            }
            let key = decoded(value).ok_or(
                "watcher: percent-encode the UTF-8 of the key, such as %3A for a colon; a plus \
                 sign is a plus sign",
            )?;
            watchers.insert(self.canonical(real, &key)?);
        }
        Ok((!watchers.is_empty()).then_some(watchers))
    }

    fn canonical(&self, real: &Awareness, key: &str) -> Result<String, String> {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = match &mut *scratch {
            Some(scratch) => scratch,
            none => none.insert(real.scratch().map_err(|error| error.to_string())?),
        };
        let target = SessionRef::new(TARGET.0, TARGET.1);
        // The core names the member of `watch`, which is called as the parameter is.
        let words = |error: crate::Error| format!("{error} ({})", error.reason());
        match scratch.watch(key, target, false).map_err(words)? {
            WatchAnswer::Watched => {}
            WatchAnswer::NotWatchable(why) => return Err(unwatchable(why)),
        }
        let watches = scratch.watches_of(key).map_err(words)?;
        let canonical = watches.into_iter().next().map(|entry| entry.watcher);
        scratch.reset(key).map_err(words)?;
        canonical.ok_or_else(|| "watcher: the core does not know its own watch".to_owned())
    }
}

fn unwatchable(why: Unwatchable) -> String {
    let why = match why {
        Unwatchable::NotAgentQualified => "only a key like agent:ID:REST can watch",
        Unwatchable::WatcherIsTarget => "it is no watcher",
    };
    format!("watcher: {why}, so that nothing would ever come")
}

/// The text behind percent-encoding; nothing if it is none. What is no code is refused, where the usual
/// decoders pass it on: such a filter would match nothing, and nobody would learn why.
fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(query: &str) -> Result<Vec<String>, String> {
        let real = Awareness::builder(":memory:").open().unwrap();
        let watchers = Keys::default().filter(&real, query)?;
        let mut watchers: Vec<String> = watchers.into_iter().flatten().collect();
        watchers.sort();
        Ok(watchers)
    }

    #[test]
    fn keys_become_what_events_carry() {
        let query = "watcher=Agent%3aMain%3AMain&watcher=agent:b:x+y&watcher=agent:main:main";
        assert_eq!(filter(query).unwrap(), ["agent:b:x+y", "agent:main:main"]);
        assert_eq!(filter("").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_could_never_match_is_refused() {
        for (query, words) in [
            ("watcher=", "invalid-key"),
            ("watcher=global", "can watch"),
            ("watcher=agent", "invalid-key"),
            ("watcher=agent:a:b%", "percent-encode"),
            ("watcher=agent:a:b%zz", "percent-encode"),
            ("watcher=agent:a:b%+1", "percent-encode"),
            ("watcher=%", "percent-encode"),
            ("watcher=%ff", "percent-encode"),
            ("watchers=agent:a:b", "only parameter"),
        ] {
            let error = filter(query).unwrap_err();
            assert!(error.contains(words), "{query}: {error}");
            assert!(!error.contains("watcher: watcher"), "{query}: {error}");
        }
    }
}
