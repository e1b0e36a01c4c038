//! The rules that are policy: what a core that is built on this logic may decide otherwise.
//!
//! Each is asked in one place, for typed calls and JSON alike. What is not here (where cursors stand,
//! that nobody is told of what it did itself, what a delta holds) is why notices come once and
//! deltas are exact, and is the same in every such core.

use crate::contract::{ActorType, Kind, Provenance, Session, Unwatchable};
use crate::policy::DEFAULT_TEMPLATE;
use crate::session::is_nested;

/// The policy of a core. Every rule has the protocol's answer until it is given another, and that answer
/// can be asked of [`Protocol`].
///
/// A rule is a pure function of its arguments: it may be asked any number of times, by any
/// instance in any process, and has to say the same each time. Keys and ids are canonical.
pub trait Rules {
    /// What the core is called, in kebab-case.
    const NAME: &'static str;
    /// The core's version, a semantic one.
    const VERSION: &'static str;

    /// The sentence of a notice, on one line of at most 1,000 bytes, unless the store's settings hold
    /// another. `{call}` stands for the call that catches up, without which it does not compile,
    /// and `{session}` for the session's key.
    const SENTENCE: &'static str = DEFAULT_TEMPLATE;

    /// Whether watchers of the session are told of this. Asked when a signal is recorded, of every
    /// kind but `child_spawned`, which seeds the parents' cursors and tells nobody. What does not
    /// notify is in the log, and in deltas, all the same.
    #[must_use]
    fn notifies(kind: Kind, session: &Session, actor: ActorType, actor_id: Option<&str>) -> bool {
        _ = (session, actor, actor_id);
        matches!(kind, Kind::HumanDirectMessage | Kind::UpstreamMissing | Kind::GoalChanged)
    }

    /// Whether a session may watch another, which it could as far as their keys go. Asked of
    /// `watch`, of watchers that a producer names, and of parents: those that may not are left out.
    /// Cursors that are there stay.
    ///
    /// # Errors
    /// The reason that `watch` answers. The contract has these two.
    fn may_watch(watcher: &str, target: &Session) -> Result<(), Unwatchable> {
        _ = (watcher, target);
        Ok(())
    }

    /// Whether a notice that opens on a cursor of this provenance wakes its watcher.
    #[must_use]
    fn wakes(watcher: &str, provenance: Provenance) -> bool {
        provenance != Provenance::Ambient && !is_nested(watcher)
    }
}

/// The built-in core: the protocol, and nothing otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Protocol;

impl Rules for Protocol {
    const NAME: &'static str = "headsup";
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");
}

/// Exports a core with these rules from a crate of type `cdylib`: `export_core!(MyRules);`, once. It does
/// nothing where the crate is not compiled for WASI, such as in its own tests.
#[macro_export]
macro_rules! export_core {
    ($rules:ident) => {
        #[cfg(target_family = "wasm")]
        #[allow(unsafe_code, reason = "the generated export functions of the canonical ABI")]
        mod abi {
            type Core = $crate::guest::Core<super::$rules>;
            $crate::contract::export!(Core with_types_in $crate::contract);
        }
    };
}

#[cfg(test)]
mod tests;
