//! A link, as it is shown.

use headsup::{LinkState, Obstacle};
use serde::Serialize;

use crate::cli::time::utc;

/// A link, in the words of the JSON surface.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    session: Session,
    source: Source,
    catalog: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
    generation: u64,
    /// Absent for items.
    position: Option<u64>,
    /// When it was last read.
    size: Option<u64>,
    /// Bytes beyond the position by now; absent if the file is not there or not to be looked at.
    behind: Option<u64>,
    window: Option<u32>,
    newest: Option<u64>,
    rotations: u32,
    misses: u32,
    adopted_at: u64,
    checked_at: Option<u64>,
    claimed_until: u64,
    trouble: Option<String>,
    /// `unwatched` or `running`.
    obstacle: Option<&'static str>,
}

#[derive(Serialize)]
struct Session {
    key: String,
    agent: String,
}

/// As `adopt` takes it.
#[derive(Serialize)]
struct Source {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread: Option<String>,
}

impl Link {
    pub fn of(link: LinkState) -> Self {
        let LinkState { source, progress, .. } = link;
        // Only a file has a position.
        let behind = progress.position.and_then(|position| {
            let now = std::fs::metadata(&source.place).ok().filter(std::fs::Metadata::is_file)?;
            Some(now.len().saturating_sub(position))
        });
        let (path, node) = match progress.position {
            Some(_) => (Some(source.place), None),
            None => (None, Some(source.place)),
        };
        Self {
            session: Session { key: link.session_key, agent: link.session_agent },
            source: Source { kind: source.kind, path, node, thread: source.thread },
            catalog: link.catalog,
            host: link.host,
            thread: link.thread,
            generation: link.generation,
            position: progress.position,
            size: progress.size,
            behind,
            window: progress.window,
            newest: progress.newest,
            rotations: progress.rotations,
            misses: link.misses,
            adopted_at: link.adopted_at,
            checked_at: link.checked_at,
            claimed_until: link.claimed_until,
            trouble: link.trouble,
            obstacle: link.obstacle.map(|obstacle| match obstacle {
                Obstacle::Unwatched => "unwatched",
                Obstacle::Running => "running",
            }),
        }
    }

    /// Session, agent, source, position, what is behind it, last check, misses, state.
    pub fn row(&self, now: u64) -> [String; 8] {
        let number = |number: Option<u64>| number.map_or_else(|| "-".into(), |n| n.to_string());
        [
            self.session.key.clone(),
            self.session.agent.clone(),
            self.source.words(),
            number(self.position),
            number(self.behind),
            self.checked_at.map_or_else(|| "never".into(), utc),
            self.misses.to_string(),
            self.state(now),
        ]
    }

    /// What keeps it from being checked or read, or else that nothing does.
    fn state(&self, now: u64) -> String {
        match (self.obstacle, &self.trouble) {
            (Some("unwatched"), _) => "not checked: nobody watches".into(),
            (Some(_), _) => "not checked: a turn runs".into(),
            (None, Some(why)) => format!("cannot be read: {why}"),
            (None, None) if self.misses > 0 => "not there".into(),
            (None, None) if self.claimed_until > now => {
                format!("next check {}", utc(self.claimed_until))
            }
            (None, None) => "due".into(),
        }
    }
}

impl Source {
    fn words(&self) -> String {
        let Self { kind, path, node, thread } = self;
        let place = path.as_deref().or(node.as_deref()).unwrap_or_default();
        match thread {
            Some(thread) => format!("{kind} {place} {thread}"),
            None => format!("{kind} {place}"),
        }
    }
}
