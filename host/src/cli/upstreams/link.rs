//! A link, as it is shown.

use headsup::LinkState;
use serde::Serialize;

use crate::cli::time::utc;

/// A link, and how far its source is beyond it by now.
#[derive(Serialize)]
pub struct Link {
    #[serde(flatten)]
    state: LinkState,
    /// Bytes behind the position; absent if that is no file, or there is none.
    behind: Option<u64>,
}

impl Link {
    /// Looks at the size of the link's file, if it has one.
    pub fn of(state: LinkState) -> Self {
        let behind = state.at.and_then(|at| {
            let now = std::fs::metadata(&state.place).ok().filter(std::fs::Metadata::is_file)?;
            Some(now.len().saturating_sub(at))
        });
        Self { state, behind }
    }

    /// Session, agent, source, position, what is behind it, last check, misses, state.
    pub fn row(&self, now: u64) -> [String; 8] {
        let Self { state, behind } = self;
        let number = |number: Option<u64>| number.map_or_else(|| "-".into(), |n| n.to_string());
        let thread = state.source_thread.as_ref();
        let place =
            thread.map_or_else(|| state.place.clone(), |id| format!("{} {id}", state.place));
        [
            state.session.clone(),
            state.agent.clone(),
            format!("{} {place}", state.kind),
            number(state.at),
            number(*behind),
            state.checked_at.map_or_else(|| "never".into(), utc),
            state.misses.to_string(),
            obstacle(state, now),
        ]
    }
}

/// What keeps a link from being checked or read, or else when it is checked next.
fn obstacle(link: &LinkState, now: u64) -> String {
    if !link.watched {
        "not checked: nobody watches".into()
    } else if link.running_until > now {
        "not checked: a turn runs".into()
    } else if let Some(why) = &link.trouble {
        format!("cannot be read: {why}")
    } else if link.misses > 0 {
        "not there".into()
    } else if link.claimed_until > now {
        format!("next check after {}", utc(link.claimed_until))
    } else {
        "due".into()
    }
}
