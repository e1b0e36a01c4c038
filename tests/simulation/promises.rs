//! The promises, checked on a recorded history by whoever knows nothing of the model: only what was
//! asked, answered, heard and seen.

mod deltas;
mod events;
mod notices;
mod together;
mod versions;

use crate::check::Verdict;
use crate::history::Entry;

pub use deltas::exact_or_said_not_to_be;
pub use notices::one_notice_exactly_while_something_is_unseen;
pub use together::together_or_not_at_all;
pub use versions::versions_only_grow;

/// All of them.
pub fn all(history: &[Entry]) -> Verdict {
    together_or_not_at_all(history)?;
    versions_only_grow(history)?;
    one_notice_exactly_while_something_is_unseen(history)?;
    exact_or_said_not_to_be(history)
}

/// Says in which step a rule was broken.
fn ensure(holds: bool, entry: &Entry, rule: &str, what: impl FnOnce() -> String) -> Verdict {
    if holds {
        return Ok(());
    }
    let Entry { step, process, fault, act, .. } = entry;
    let what = what();
    Err(format!("{rule}: {what}\n  at step {step} by process {process}, {fault:?}, {act:?}"))
}
