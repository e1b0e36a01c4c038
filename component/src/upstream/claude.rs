//! Claude Code's transcripts: files on this machine, and threads of a paired node. Both have the same
//! rows.
//!
//! Where the format leaves room for doubt:
//!
//! - A row of type `user` whose `message.role` is there and is not `user` is no turn. Without a
//!   role it is one.
//! - A `message` that is no object, `content` that is neither text nor a list, and elements of it that
//!   are no objects count as nothing. A row of nothing is no turn.
//! - `origin` without a kind that is text counts as none.
//! - A text is judged by how it begins, behind white space and the reminders before it. A reminder
//!   that does not end is one itself.
//! - A command in the queue stands there as it was typed, `/name`; once it ran, its row names it in
//!   marks. Either way those that start no run are no turn.

use alloc::string::ToString;
use alloc::vec;

use super::row::{Field, Flag};
use super::shape::{Shape, Test};
use super::source::Kind;
use crate::contract::Reader;

/// A transcript on this machine.
pub const FILE: Kind = Kind {
    word: "claude-jsonl",
    reader: Reader::File,
    places: |path| vec![path.to_string()],
    shapes: SHAPES,
    headless: |_| false,
};

/// A transcript on a paired node.
pub const NODE: Kind = Kind { word: "claude-node", reader: Reader::Gateway, ..FILE };

/// How a command begins that was run.
const COMMAND: &[&str] = &["<command-name>", "<command-message>"];

/// Commands of Claude Code itself that only show or set something. Its others (`init`, `review`,
/// `security-review`, `insights` and so on), skills, and commands of projects start a run.
const STARTS_NO_RUN: &[&str] = &[
    "add-dir",
    "agents",
    "allowed-tools",
    "bashes",
    "btw",
    "bug",
    "checkpoint",
    "clear",
    "color",
    "compact",
    "config",
    "context",
    "continue",
    "copy",
    "cost",
    "desktop",
    "diff",
    "doctor",
    "effort",
    "exit",
    "export",
    "extra-usage",
    "fast",
    "feedback",
    "help",
    "hooks",
    "ide",
    "install-github-app",
    "install-slack-app",
    "keybindings",
    "login",
    "logout",
    "mcp",
    "memory",
    "mobile",
    "model",
    "new",
    "output-style",
    "passes",
    "permissions",
    "plugin",
    "plugins",
    "privacy-settings",
    "quit",
    "release-notes",
    "reload-plugins",
    "remote-control",
    "remote-env",
    "rename",
    "reset",
    "resume",
    "rewind",
    "sandbox",
    "settings",
    "skills",
    "stats",
    "status",
    "stickers",
    "tasks",
    "terminal-setup",
    "theme",
    "todos",
    "upgrade",
    "usage",
    "vim",
    "voice",
];

/// The modes in which a person queues something.
const TYPED_MODES: &[&str] = &["prompt", "bash"];

/// What rows are taken for. Rows of other types come first, then what marks a row as nobody's, then
/// what its text says.
const SHAPES: &[Shape] = {
    use Test::{Begins, Command, Has, Is, IsNot, IsWord, Lacks, Opens, OtherThan};
    &[
        Shape::other("assistant", "the assistant wrote it", &[Is(Field::Type, "assistant")]),
        Shape::other("system", "Claude Code notes what it did", &[Is(Field::Type, "system")]),
        Shape::other("summary", "a title or summary of the session", &[Is(Field::Type, "summary")]),
        Shape::other(
            "bookkeeping",
            "rows of this type are notes of Claude Code for itself",
            &[OtherThan(Field::Type, &["user", "attachment", "queue-operation"])],
        ),
        Shape::other(
            "no-type",
            "the row does not say what it is",
            &[
                IsNot(Field::Type, "user"),
                IsNot(Field::Type, "attachment"),
                IsNot(Field::Type, "queue-operation"),
            ],
        ),
        Shape::other(
            "meta",
            "isMeta: Claude Code wrote it in the user's place",
            &[Has(Flag::Meta)],
        ),
        Shape::other(
            "compact-summary",
            "isCompactSummary: the history before it in short",
            &[Has(Flag::CompactSummary)],
        ),
        Shape::other(
            "transcript-only",
            "isVisibleInTranscriptOnly: shown, but never sent",
            &[Has(Flag::TranscriptOnly)],
        ),
        Shape::other("side-chain", "isSidechain: a sub-agent's own talk", &[Has(Flag::SideChain)]),
        Shape::other(
            "side-chain",
            "agentId: a sub-agent's own talk",
            &[IsWord(Field::Agent), IsNot(Field::Agent, "")],
        ),
        Shape::other(
            "tool-result",
            "a block is a tool's result",
            &[Is(Field::Type, "user"), Has(Flag::ToolResult)],
        ),
        Shape::other(
            "tool-result",
            "toolUseResult: a tool's result",
            &[Is(Field::Type, "user"), Has(Flag::ToolUseResult)],
        ),
        Shape::other(
            "tool-result",
            "sourceToolAssistantUUID: a tool wrote it",
            &[Is(Field::Type, "user"), Has(Flag::ToolSource)],
        ),
        Shape::other(
            "other-origin",
            "origin: its kind is not human",
            &[IsWord(Field::Origin), IsNot(Field::Origin, "human")],
        ),
        Shape::other(
            "headless",
            "entrypoint: a program wrote it through the SDK",
            &[Begins(Field::Entrypoint, "sdk-")],
        ),
        Shape::other("sdk", "promptSource: the SDK sent it", &[Is(Field::PromptSource, "sdk")]),
        Shape::other(
            "system-prompt",
            "promptSource: Claude Code itself sent it",
            &[Is(Field::PromptSource, "system")],
        ),
        Shape::other(
            "other-role",
            "message.role: not the user",
            &[Is(Field::Type, "user"), OtherThan(Field::Role, &["user"])],
        ),
        Shape::other(
            "attachment",
            "an attachment that is no queued command",
            &[Is(Field::Type, "attachment"), IsNot(Field::Attachment, "queued_command")],
        ),
        Shape::other(
            "meta",
            "attachment.isMeta: Claude Code wrote it in the user's place",
            &[Is(Field::Type, "attachment"), Has(Flag::AttachmentMeta)],
        ),
        Shape::other(
            "queued-task-notification",
            "commandMode: a task that ended, not a prompt",
            &[Is(Field::Type, "attachment"), Is(Field::AttachmentMode, "task-notification")],
        ),
        Shape::other(
            "other-origin",
            "attachment.origin: its kind is not human",
            &[
                Is(Field::Type, "attachment"),
                IsWord(Field::AttachmentOrigin),
                IsNot(Field::AttachmentOrigin, "human"),
            ],
        ),
        Shape::other(
            "queued-by-others",
            "commandMode: not one in which a person types",
            &[Is(Field::Type, "attachment"), OtherThan(Field::AttachmentMode, TYPED_MODES)],
        ),
        Shape::other(
            "queue-operation",
            "an operation of the queue that puts nothing into it",
            &[Is(Field::Type, "queue-operation"), IsNot(Field::Operation, "enqueue")],
        ),
        Shape::other(
            "queued-task-notification",
            "commandMode: a task that ended, not a prompt",
            &[Is(Field::Type, "queue-operation"), Is(Field::Mode, "task-notification")],
        ),
        Shape::other(
            "queued-by-others",
            "commandMode: not one in which a person types",
            &[Is(Field::Type, "queue-operation"), OtherThan(Field::Mode, TYPED_MODES)],
        ),
        Shape::human(
            "image-only",
            "a picture or document without text",
            &[Is(Field::Type, "user"), Lacks(Flag::Text), Has(Flag::Picture)],
        ),
        Shape::human(
            "queued-prompt",
            "queued by a person: a picture or document without text",
            &[Is(Field::Type, "attachment"), Lacks(Flag::Text), Has(Flag::Picture)],
        ),
        Shape::other(
            "system-reminder",
            "a reminder by Claude Code and nothing else",
            &[Lacks(Flag::Text), Has(Flag::Reminded)],
        ),
        Shape::other("empty", "neither text nor picture nor document", &[Lacks(Flag::Text)]),
        Shape::other(
            "system-reminder",
            "a reminder by Claude Code that does not end",
            &[Opens(&["<system-reminder>"])],
        ),
        Shape::other(
            "task-notification",
            "a task that ended, not a prompt",
            &[Opens(&["<task-notification>"])],
        ),
        Shape::other(
            "local-command-output",
            "what a command of Claude Code printed",
            &[Opens(&[
                "<local-command-stdout>",
                "<local-command-stderr>",
                "<local-command-caveat>",
            ])],
        ),
        Shape::other(
            "bash-output",
            "what a shell command of the user printed",
            &[Opens(&["<bash-stdout>", "<bash-stderr>"])],
        ),
        Shape::other(
            "hook-context",
            "what a hook said about a prompt",
            &[Opens(&["<user-prompt-submit-hook>"])],
        ),
        Shape::other(
            "teammate-message",
            "another agent of a team sent it",
            &[Opens(&["<teammate-message"])],
        ),
        Shape::other(
            "inter-session-message",
            "another session sent it",
            &[Opens(&["[Inter-session message]", "<cross-session-message"])],
        ),
        Shape::other(
            "interruption",
            "notes that a turn was interrupted; nothing was typed",
            &[Opens(&["[Request interrupted by user"])],
        ),
        Shape::other(
            "built-in-command",
            "a command that starts no run",
            &[Opens(COMMAND), Command(STARTS_NO_RUN)],
        ),
        Shape::other(
            "built-in-command",
            "a queued command that starts no run",
            &[IsNot(Field::Type, "user"), Opens(&["/"]), Command(STARTS_NO_RUN)],
        ),
        Shape::human("command", "a command or skill that starts a run", &[Opens(COMMAND)]),
        Shape::human("bash-input", "a shell command of the user", &[Opens(&["<bash-input>"])]),
        Shape::human("queued-prompt", "queued by a person", &[IsNot(Field::Type, "user")]),
        Shape::human(
            "reminder-then-prompt",
            "text behind a reminder by Claude Code",
            &[Has(Flag::Reminded)],
        ),
        Shape::human("prompt-with-image", "text with a picture or document", &[Has(Flag::Picture)]),
        Shape::human("block-prompt", "text in blocks", &[Has(Flag::Blocks)]),
        Shape::human("typed-prompt", "text", &[]),
    ]
};

#[cfg(test)]
mod tests;
