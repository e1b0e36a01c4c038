//! The transcripts of a scenario: files of another tool, in a scratch folder of the story's own.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;

use super::sentence::cut;

/// Stands in a request for the folder of the transcripts.
const PLACEHOLDER: &str = "{transcripts}";

/// A row for a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The name of the file.
    pub name: String,
    /// The row, as it stands in the scenario.
    pub text: String,
}

impl Row {
    /// Reads `NAME ROW`.
    pub fn read(text: &str) -> anyhow::Result<Self> {
        let (name, row) = text.trim().split_once(' ').unwrap_or_default();
        let is_plain = Path::new(name).extension().is_some_and(|extension| extension == "jsonl");
        if !is_plain
            || name.contains(['/', '\\'])
            || !matches!(serde_json::from_str(row), Ok(Value::Object(_)))
        {
            bail!("`#! append` needs the name of a .jsonl file, and a row, which is a JSON object");
        }
        Ok(Self { name: name.to_owned(), text: row.trim().to_owned() })
    }

    /// What the tool does, in a few words. The text is the story's own, no message of anybody.
    pub fn sentence(&self) -> String {
        let row: Value = serde_json::from_str(&self.text).unwrap_or_default();
        let kind = row["type"].as_str().unwrap_or("nameless");
        let content = &row["message"]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str());
        let text = text.map(|text| format!(": {}", cut(text))).unwrap_or_default();
        format!("{} gets a row of type {kind}{text}", self.name)
    }
}

/// The folder that they are in.
pub struct Transcripts(PathBuf);

impl Transcripts {
    /// Those in this folder, which is made.
    pub fn inside(folder: &Path) -> anyhow::Result<Self> {
        let folder = folder.join("projects");
        fs::create_dir_all(&folder).context("there is no place for transcripts")?;
        Ok(Self(folder))
    }

    /// Writes a row, as the tool does.
    pub fn append(&self, row: &Row) -> anyhow::Result<()> {
        let path = self.0.join(&row.name);
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        file.write_all(format!("{}\n", row.text).as_bytes())?;
        Ok(())
    }

    /// A request with the folder where it says `{transcripts}`.
    pub fn fill(&self, request: &str) -> String {
        let quoted = Value::from(self.0.to_string_lossy()).to_string();
        request.replace(PLACEHOLDER, quoted.trim_matches('"'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_name_and_a_json_object() {
        let row = Row::read(" w.jsonl {\"type\": \"user\"} ").unwrap();
        assert_eq!((row.name.as_str(), row.text.as_str()), ("w.jsonl", "{\"type\": \"user\"}"));
        assert_eq!(row.sentence(), "w.jsonl gets a row of type user");
        let typed =
            r#"w.jsonl {"type":"user","message":{"content":[{"type":"text","text":"hi"}]}}"#;
        assert_eq!(Row::read(typed).unwrap().sentence(), "w.jsonl gets a row of type user: hi");
        for bad in ["", "w.jsonl", "w.jsonl 7", "w.txt {}", "../w.jsonl {}", "w.jsonl {"] {
            assert!(Row::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rows_are_lines_and_requests_find_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let transcripts = Transcripts::inside(folder.path()).unwrap();
        for text in ["{}", "{\"a\":1}"] {
            transcripts.append(&Row { name: "w.jsonl".into(), text: text.into() }).unwrap();
        }
        let filled = transcripts.fill(r#"{"path":"{transcripts}/w.jsonl"}"#);
        let request: Value = serde_json::from_str(&filled).unwrap();
        let written = fs::read_to_string(request["path"].as_str().unwrap()).unwrap();
        assert_eq!(written, "{}\n{\"a\":1}\n");
    }
}
