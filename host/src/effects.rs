//! What a call wants done outside the store. It is collected while the call runs, within bounds,
//! and delivered only after the call's transaction committed.

use crate::contract::{Level, Opening};

/// Most openings of one call, in bytes. A recovery of 100,000 notices takes half of it.
const OPENING_BYTES: usize = 64 << 20;

/// Most lines of the log that one call may write.
const LINES: usize = 100;

/// A line of the log is cut here, in bytes.
const LINE_BYTES: usize = 4_096;

/// A line that the core wrote for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) level: Level,
    pub(crate) message: String,
}

/// What one call enqueued and logged.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) openings: Vec<Opening>,
    pub(crate) lines: Vec<Line>,
    bytes: usize,
    dropped_openings: u64,
    dropped_lines: u64,
}

impl Effects {
    /// Keeps openings while there is room. Dropping the rest loses no notice: queues are hints,
    /// and the cursors keep what is pending.
    pub(crate) fn enqueue(&mut self, openings: Vec<Opening>) {
        for opening in openings {
            let size = size_of::<Opening>()
                + opening.watcher.len()
                + opening.notice.target.key.len()
                + opening.notice.target.agent.len()
                + opening.notice.text.len();
            if self.bytes + size > OPENING_BYTES {
                self.dropped_openings += 1;
            } else {
                self.bytes += size;
                self.openings.push(opening);
            }
        }
    }

    /// Keeps a line, cut to its bound and without line breaks.
    pub(crate) fn log(&mut self, level: Level, mut message: String) {
        if self.lines.len() >= LINES {
            self.dropped_lines += 1;
            return;
        }
        message.truncate(message.floor_char_boundary(LINE_BYTES));
        if message.contains(char::is_control) {
            message = message.replace(char::is_control, " ");
        }
        self.lines.push(Line { level, message });
    }

    /// What the core said last at level error: a panic reports itself so.
    pub(crate) fn last_error(&self) -> Option<&str> {
        let mut errors = self.lines.iter().rev();
        errors.find(|line| line.level == Level::Error).map(|line| line.message.as_str())
    }

    /// Forgets the openings: the transaction did not commit. Lines stay, as they are outside it.
    pub(crate) fn rolled_back(mut self) -> Self {
        self.openings = Vec::new();
        self.dropped_openings = 0;
        self
    }

    /// The lines, with one more for whatever the bounds dropped, and the openings.
    pub(crate) fn into_parts(mut self) -> (Vec<Line>, Vec<Opening>) {
        if self.dropped_lines > 0 {
            self.lines.push(Line {
                level: Level::Warn,
                message: format!("{} more lines of the core were dropped", self.dropped_lines),
            });
        }
        if self.dropped_openings > 0 {
            self.lines.push(Line {
                level: Level::Warn,
                message: format!(
                    "{} openings were too many to announce at once; their notices stay pending",
                    self.dropped_openings
                ),
            });
        }
        (self.lines, self.openings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Delivery, Notice, Session};

    fn opening(text: String) -> Opening {
        Opening {
            watcher: "agent:main:main".into(),
            notice: Notice {
                target: Session { key: "agent:main:x".into(), agent: "main".into() },
                since: 1,
                up_to: 2,
                text,
            },
            delivery: Delivery::Announce,
        }
    }

    #[test]
    fn a_line_is_cut_at_its_bound_within_a_character() {
        let mut effects = Effects::default();
        effects.log(Level::Info, "é".repeat(LINE_BYTES));
        assert_eq!(effects.lines[0].message.len(), LINE_BYTES);
        effects.log(Level::Info, format!("x{}", "é".repeat(LINE_BYTES)));
        assert_eq!(effects.lines[1].message.len(), LINE_BYTES - 1);
    }

    #[test]
    fn lines_beyond_a_hundred_are_counted_and_dropped() {
        let mut effects = Effects::default();
        for _ in 0..130 {
            effects.log(Level::Debug, "x".into());
        }
        let (lines, _) = effects.into_parts();
        assert_eq!(lines.len(), LINES + 1);
        assert!(lines[LINES].message.starts_with("30 more lines"));
    }

    #[test]
    fn a_line_stays_one_line() {
        let mut effects = Effects::default();
        effects.log(Level::Info, "a\nb\u{85}c".into());
        assert_eq!(effects.lines[0].message, "a b c");
    }

    #[test]
    fn openings_beyond_the_bound_are_counted_and_dropped() {
        let mut effects = Effects::default();
        let large = "x".repeat(OPENING_BYTES / 2);
        effects.enqueue(vec![opening(large.clone()), opening(large.clone()), opening(large)]);
        let (lines, openings) = effects.into_parts();
        assert_eq!(openings.len(), 1);
        assert!(lines[0].message.starts_with("2 openings"));
    }

    #[test]
    fn a_rollback_keeps_lines_and_forgets_openings() {
        let mut effects = Effects::default();
        effects.log(Level::Error, "why".into());
        effects.enqueue(vec![opening("x".into())]);
        let (lines, openings) = effects.rolled_back().into_parts();
        assert_eq!(lines.len(), 1);
        assert!(openings.is_empty());
    }
}
