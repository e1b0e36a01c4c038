//! The host over the real core: calls, groups, wakes, readers, swaps. What a hostile core may do
//! is tested with hostile components, in the workspace's own tests.

mod calls;
mod groups;
mod json;
mod swaps;
mod traps;
mod upkeep;
mod upstreams;
mod wakes;

use std::sync::{Arc, LazyLock, Mutex};

use crate::{Awareness, Builder, Engine, Level, Listener, Notice, Plugin};

/// Compiled once for all tests.
pub(crate) static CORE: LazyLock<Plugin> = LazyLock::new(|| {
    let engine = Engine::new(None).unwrap();
    Plugin::built_in(&engine).unwrap()
});

/// What a listener heard, in order, as text: `notice <watcher> <since>..<up to>`, `wake <watcher>`,
/// `log <message>`.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    /// What was heard since this was last asked.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Listener for Heard {
    fn notice(&self, watcher: &str, notice: &Notice) {
        let line = format!("notice {watcher} {}..{}", notice.since, notice.up_to);
        self.0.lock().unwrap().push(line);
    }
    fn wake(&self, watcher: &str) {
        self.0.lock().unwrap().push(format!("wake {watcher}"));
    }
    fn log(&self, _: Level, message: &str) {
        self.0.lock().unwrap().push(format!("log {message}"));
    }
}

const MAIN: &str = "agent:main:main";
const CHILD: &str = "agent:main:subagent:child";

fn builder(path: impl AsRef<std::path::Path>) -> Builder {
    Awareness::builder(path).plugin(CORE.clone()).manual_clock(1_000_000)
}

/// An empty store in memory, and what its listener hears.
fn open() -> (Awareness, Heard) {
    let heard = Heard::default();
    let awareness = builder(":memory:").listener(heard.clone()).open().unwrap();
    (awareness, heard)
}
