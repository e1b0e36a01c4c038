//! A person's folder of Claude Code, with one transcript in it, and a store beside it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tempfile::{TempDir, tempdir};

use crate::command::headsup;

/// The folders end with it.
pub struct Home {
    folder: TempDir,
    /// What the person types goes here.
    pub transcript: PathBuf,
}

impl Home {
    /// Nothing was typed yet, and there is no store.
    pub fn new() -> Self {
        let folder = tempdir().unwrap();
        let project = folder.path().join("claude/projects/app");
        fs::create_dir_all(&project).unwrap();
        Self { transcript: project.join("3f2a.jsonl"), folder }
    }

    /// Where everything lies that ends with it.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the store is, once something made it.
    pub fn db(&self) -> PathBuf {
        self.path().join("store.db")
    }

    /// The command on that store, as that person would run it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = headsup(arguments);
        command.arg("--db").arg(self.db());
        command.env("CLAUDE_CONFIG_DIR", self.path().join("claude"));
        command.env("CODEX_HOME", self.path().join("codex"));
        command
    }

    /// The person types into the transcript; somebody answers.
    pub fn types(&self, words: &str) {
        let mut file =
            fs::OpenOptions::new().create(true).append(true).open(&self.transcript).unwrap();
        let row = json!({
            "type": "user", "message": {"role": "user", "content": words},
            "timestamp": "2026-11-30T10:00:00.000Z",
        });
        let answer = json!({"type": "assistant", "message": {"role": "assistant"}});
        write!(file, "{row}\n\n{answer}\n").unwrap();
    }
}
