//! Kinds of source on this machine, and what a file's name says about its own.

use std::path::Path;

use clap::ValueEnum;

/// How the rows of a transcript are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// A Claude Code transcript
    ClaudeJsonl,
    /// A Codex rollout
    CodexJsonl,
}

impl Kind {
    /// What it is called in the contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::ClaudeJsonl => "claude-jsonl",
            Self::CodexJsonl => "codex-jsonl",
        }
    }

    /// The tool whose catalog it comes from.
    pub fn catalog(self) -> &'static str {
        match self {
            Self::ClaudeJsonl => "claude",
            Self::CodexJsonl => "codex",
        }
    }

    /// By its name: Codex calls its files `rollout-….jsonl`.
    pub fn guess(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("rollout-") { Self::CodexJsonl } else { Self::ClaudeJsonl }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rollout_is_known_by_its_name_and_anything_else_is_a_transcript() {
        let guess = |path: &str| Kind::guess(Path::new(path));
        assert_eq!(guess("/s/2026/rollout-2026-11-30T10-00-00-7f.jsonl"), Kind::CodexJsonl);
        assert_eq!(guess("/rollout-x/3f2a.jsonl"), Kind::ClaudeJsonl);
        assert_eq!(guess("/"), Kind::ClaudeJsonl);
    }

    #[test]
    fn the_words_are_those_of_the_command_line() {
        for kind in Kind::value_variants() {
            assert_eq!(kind.to_possible_value().unwrap().get_name(), kind.word());
        }
    }
}
