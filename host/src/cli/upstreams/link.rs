//! A link, as it is shown.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use headsup::LinkState;
use serde::Serialize;

use crate::cli::time::utc;

/// So many files are looked at at once.
const ABREAST: usize = 64;

/// A file whose size is not known by then does not answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// A link, and how far its source is beyond it by now.
#[derive(Serialize)]
pub struct Link {
    #[serde(flatten)]
    state: LinkState,
    /// Bytes behind the position; absent if that is no file, or there is none.
    behind: Option<u64>,
    /// Whether looking at the file takes so long that nobody waited for it.
    hangs: bool,
}

impl Link {
    /// Looks at the sizes of the links' files, of those that have one. Where some hang it takes two
    /// seconds for each 64 links.
    pub fn of(states: Vec<LinkState>) -> Vec<Self> {
        Self::measured(states, PATIENCE, size)
    }

    /// Measures on threads of their own, which end with the process: a file system may hang.
    fn measured(
        states: Vec<LinkState>,
        patience: Duration,
        size: fn(&str) -> Option<u64>,
    ) -> Vec<Self> {
        let mut links = Vec::with_capacity(states.len());
        let mut states = states.into_iter().peekable();
        while states.peek().is_some() {
            let begun = links.len();
            let (done, sizes) = mpsc::channel();
            for state in states.by_ref().take(ABREAST) {
                let (number, place, done) = (links.len(), state.place.clone(), done.clone());
                let measures = state.at.is_some();
                links.push(Self { state, behind: None, hangs: measures });
                // Without a thread it is as if it did not answer.
                if measures {
                    let measure = move || {
                        // Nobody may wait any longer.
                        let _ = done.send((number, size(&place)));
                    };
                    drop(thread::Builder::new().spawn(measure));
                }
            }
            drop(done);
            let end = Instant::now() + patience;
            while links[begun..].iter().any(|link| link.hangs) {
                let rest = end.saturating_duration_since(Instant::now());
                let Ok((number, size)) = sizes.recv_timeout(rest) else {
                    break;
                };
                let link: &mut Self = &mut links[number];
                link.hangs = false;
                link.behind = size.zip(link.state.at).map(|(size, at)| size.saturating_sub(at));
            }
        }
        links
    }

    /// Session, agent, source, position, what is behind it, last check, misses, state.
    pub fn row(&self, now: u64) -> [String; 8] {
        let Self { state, behind, hangs } = self;
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
            if *hangs { "does not answer".into() } else { obstacle(state, now) },
        ]
    }
}

/// The size of a file; none if there is none, or something else.
fn size(place: &str) -> Option<u64> {
    let now = std::fs::metadata(place).ok().filter(std::fs::Metadata::is_file)?;
    Some(now.len())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn state(place: &str) -> LinkState {
        LinkState {
            session: "agent:main:child".into(),
            agent: "main".into(),
            kind: "claude-jsonl".into(),
            place: place.into(),
            source_thread: None,
            catalog: "claude".into(),
            host: None,
            thread: None,
            generation: 1,
            adopted_at: None,
            at: Some(2),
            size: Some(2),
            newest: None,
            rotations: None,
            misses: 0,
            trouble: None,
            checked_at: None,
            claimed_until: 0,
            watched: true,
            running_until: 0,
        }
    }

    fn planted(place: &str) -> Option<u64> {
        while place.contains("hang") {
            thread::park();
        }
        (!place.contains("gone")).then_some(5)
    }

    #[test]
    fn files_that_do_not_answer_are_said_to_and_keep_no_other_from_being_shown() {
        let mut places = vec!["/gone", "/a"];
        places.extend(["/hang"; ABREAST]);
        places.push("/b");
        let states = places.iter().map(|place| state(place)).collect();
        let links = Link::measured(states, Duration::from_millis(500), planted);
        assert_eq!(links.len(), places.len());
        for (link, place) in links.iter().zip(places) {
            let row = link.row(0);
            let (behind, words) = match place {
                "/hang" => ("-", "does not answer"),
                "/gone" => ("-", "due"),
                _ => ("3", "due"),
            };
            assert_eq!((row[4].as_str(), row[7].as_str()), (behind, words), "{place}");
        }
    }
}
