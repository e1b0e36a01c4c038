//! A store with adopted sessions, and sources in which something is planted.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::tests::{CHILD, Heard, MAIN, builder};
use crate::{
    AdoptionRequest, Awareness, Builder, FileRead, FolderFiles, Found, Source, SourceFiles,
};

const OTHER: &str = "agent:main:subagent:other";

/// Sources that hang, fail or are read as they are: by the name of the file, and changeable.
#[derive(Clone)]
pub struct Planted {
    files: Arc<FolderFiles>,
    stage: Arc<Stage>,
}

#[derive(Default)]
struct Stage {
    trouble: Mutex<Vec<(String, Option<Found>)>>,
    changed: Condvar,
    begun: Mutex<usize>,
}

impl Planted {
    pub fn new(folder: &Path) -> Self {
        Self { files: Arc::new(FolderFiles::inside([folder])), stage: Arc::default() }
    }

    /// Files of this name are found so; `None` hangs.
    pub fn plant(&self, name: &str, found: Option<Found>) {
        self.stage.trouble.lock().unwrap().push((name.into(), found));
    }

    /// All is well again, and what hung goes on.
    pub fn heal(&self) {
        self.stage.trouble.lock().unwrap().clear();
        self.stage.changed.notify_all();
    }

    pub fn begun(&self) -> usize {
        *self.stage.begun.lock().unwrap()
    }
}

impl SourceFiles for Planted {
    fn read_on(&self, read: &FileRead) -> Found {
        self.planted(&read.places[0]).unwrap_or_else(|| self.files.read_on(read))
    }

    fn read_ends(&self, path: &str) -> Found {
        self.planted(path).unwrap_or_else(|| self.files.read_ends(path))
    }
}

impl Planted {
    /// What was planted for a file; waits while it hangs.
    pub fn planted(&self, path: &str) -> Option<Found> {
        *self.stage.begun.lock().unwrap() += 1;
        let mut trouble = self.stage.trouble.lock().unwrap();
        loop {
            let planted = trouble.iter().find(|(name, _)| path.ends_with(name));
            match planted {
                None => return None,
                Some((_, Some(found))) => return Some(found.clone()),
                Some((_, None)) => trouble = self.stage.changed.wait(trouble).unwrap(),
            }
        }
    }
}

/// A store whose `MAIN` watches two sessions that were adopted from files.
pub struct Scene {
    pub folder: tempfile::TempDir,
    pub planted: Planted,
    pub heard: Heard,
    pub awareness: Awareness,
}

/// For what hangs. No read that does not may ever take this long, on a machine that is busy.
pub const SHORT: Duration = Duration::from_millis(500);

impl Scene {
    pub fn new(adjust: impl FnOnce(Builder) -> Builder) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let planted = Planted::new(folder.path());
        let heard = Heard::default();
        let awareness = builder(folder.path().join("store.db"))
            .listener(heard.clone())
            .source_files(planted.clone());
        let awareness = adjust(awareness).open().unwrap();
        let scene = Self { folder, planted, heard, awareness };
        for (session, name) in [(CHILD, "child.jsonl"), (OTHER, "other.jsonl")] {
            scene.types(name, "history");
            scene.awareness.watch(MAIN, session, false).unwrap();
            assert!(scene.awareness.adopt(scene.request(session, name)).unwrap().adopted);
        }
        scene
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn request(&self, session: &str, name: &str) -> AdoptionRequest {
        let source = Source::claude_file(self.path(name).to_str().unwrap());
        AdoptionRequest::new(session, source, "claude")
    }

    /// A person types into a session.
    pub fn types(&self, name: &str, text: &str) {
        let mut file =
            fs::OpenOptions::new().create(true).append(true).open(self.path(name)).unwrap();
        writeln!(file, "{}", row(text)).unwrap();
    }

    /// Checks, and returns checked, activity, missing, failed.
    pub fn check(&self) -> [u32; 4] {
        let tally = self.awareness.check_upstreams().unwrap();
        [tally.checked, tally.activity, tally.missing, tally.failed]
    }

    pub fn summaries(&self, session: &str) -> Vec<String> {
        let delta = self.awareness.changes_since(session, 0, None).unwrap();
        delta.events.into_iter().map(|event| event.summary).collect()
    }

    pub fn said(&self) -> Vec<String> {
        let heard = self.heard.take();
        heard.into_iter().filter(|line| line.starts_with("log")).collect()
    }

    pub fn call(&self, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = self.awareness.call(&request.to_string()).unwrap();
        serde_json::from_str(&response).unwrap()
    }
}

pub fn row(text: &str) -> String {
    let message = json!({"role": "user", "content": text});
    json!({"type": "user", "message": message, "userType": "external", "isSidechain": false})
        .to_string()
}
