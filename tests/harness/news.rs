//! What comes out of an [`Awareness`](headsup::Awareness), in the order in which it did.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use headsup::{Level, Listener, Notice};

/// One thing that came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// A notice was announced to a watcher.
    Notice {
        /// Whose.
        watcher: String,
        /// Which.
        notice: Notice,
    },
    /// A watcher was woken.
    Wake(String),
    /// The operator was told something.
    Log(Level, String),
}

/// The short form in which tests say what they expect: `notice WATCHER: TARGET 1..2` for a notice
/// since 1 up to 2, with `@AGENT` after a bare target; `wake WATCHER`; `log LEVEL`.
impl fmt::Display for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Notice { watcher, notice } => {
                let target = &notice.target;
                write!(f, "notice {watcher}: {}", target.key)?;
                if !target.key.starts_with("agent:") {
                    write!(f, "@{}", target.agent)?;
                }
                write!(f, " {}..{}", notice.since, notice.up_to)
            }
            Self::Wake(watcher) => write!(f, "wake {watcher}"),
            Self::Log(level, _) => {
                let level = match level {
                    Level::Error => "error",
                    Level::Warn => "warn",
                    Level::Info => "info",
                    Level::Debug => "debug",
                };
                write!(f, "log {level}")
            }
        }
    }
}

/// Ears that remember everything until it is taken. Clones hear for the same memory.
#[derive(Clone, Debug, Default)]
pub struct Ears {
    heard: Arc<Mutex<Vec<News>>>,
}

impl Ears {
    /// Everything heard since the last time.
    #[must_use]
    pub fn take(&self) -> Vec<News> {
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn hear(&self, news: News) {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).push(news);
    }
}

impl Listener for Ears {
    fn notice(&self, watcher: &str, notice: &Notice) {
        self.hear(News::Notice { watcher: watcher.to_owned(), notice: notice.clone() });
    }

    fn wake(&self, watcher: &str) {
        self.hear(News::Wake(watcher.to_owned()));
    }

    fn log(&self, level: Level, message: &str) {
        self.hear(News::Log(level, message.to_owned()));
    }
}
