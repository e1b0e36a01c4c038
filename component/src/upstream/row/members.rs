//! Which members of a row mean something, and what. All others are passed over.

/// A member that says in a word what a row is.
#[derive(Clone, Copy)]
pub enum Field {
    /// `type`.
    Type,
    /// `operation`, of a queue.
    Operation,
    /// `commandMode`, of a queue's operation.
    Mode,
    /// `entrypoint`: which program wrote the row.
    Entrypoint,
    /// `promptSource`.
    PromptSource,
    /// `agentId`.
    Agent,
    /// `origin.kind`.
    Origin,
    /// `message.role`.
    Role,
    /// `attachment.type`.
    Attachment,
    /// `attachment.commandMode`.
    AttachmentMode,
    /// `attachment.origin.kind`.
    AttachmentOrigin,
    /// `payload.type`.
    Payload,
    /// `payload.kind`.
    PayloadKind,
    /// `payload.source`: its word, or the name of its member if it is an object.
    Source,
    /// `payload.thread_source`, likewise.
    ThreadSource,
}

impl Field {
    /// How many there are.
    pub(super) const COUNT: usize = Self::ThreadSource as usize + 1;
}

/// Something that holds of a row or does not.
#[derive(Clone, Copy)]
pub enum Flag {
    /// `isMeta`.
    Meta,
    /// `attachment.isMeta`.
    AttachmentMeta,
    /// `isCompactSummary`.
    CompactSummary,
    /// `isVisibleInTranscriptOnly`.
    TranscriptOnly,
    /// `isSidechain`.
    SideChain,
    /// `toolUseResult` is there, and not `null`.
    ToolUseResult,
    /// `sourceToolAssistantUUID` is there, and not `null`.
    ToolSource,
    /// `payload.images` is a list with elements.
    Images,
    /// `payload.local_images` is a list with elements.
    LocalImages,
    /// What it says is a list of blocks.
    Blocks,
    /// A block is a tool's result.
    ToolResult,
    /// A block is a picture or a document.
    Picture,
    /// There is text, besides the reminders before it.
    Text,
    /// There are reminders before its text, or in place of it.
    Reminded,
}

impl Flag {
    pub(super) fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// What a row says stands in one of four places, by its type; the type may stand behind it.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Message,
    Attachment,
    Queue,
    Payload,
}

impl Place {
    /// How many there are.
    pub(super) const COUNT: usize = Self::Payload as usize + 1;
}

/// A member of an object: its name, and what it means.
pub(super) struct Member(pub(super) &'static str, pub(super) Meaning);

/// What a member means.
pub(super) enum Meaning {
    /// A word.
    Word(Field),
    /// A word, or an object whose member's name is the word.
    Named(Field),
    /// `true` sets the flag.
    Flag(Flag),
    /// Anything but `null` sets the flag.
    There(Flag),
    /// A list with elements sets the flag.
    Filled(Flag),
    /// A string or blocks: what the row says.
    Said(Place),
    /// When the row was written.
    Time,
    /// What tells the row from all others.
    Uuid,
    /// An object with these members.
    Object(&'static [Member]),
}

/// The members of a row, of any kind of source.
pub(super) const ROW: &[Member] = &[
    Member("type", Meaning::Word(Field::Type)),
    Member("uuid", Meaning::Uuid),
    Member("timestamp", Meaning::Time),
    Member("isMeta", Meaning::Flag(Flag::Meta)),
    Member("isCompactSummary", Meaning::Flag(Flag::CompactSummary)),
    Member("isVisibleInTranscriptOnly", Meaning::Flag(Flag::TranscriptOnly)),
    Member("isSidechain", Meaning::Flag(Flag::SideChain)),
    Member("agentId", Meaning::Word(Field::Agent)),
    Member("entrypoint", Meaning::Word(Field::Entrypoint)),
    Member("promptSource", Meaning::Word(Field::PromptSource)),
    Member("toolUseResult", Meaning::There(Flag::ToolUseResult)),
    Member("sourceToolAssistantUUID", Meaning::There(Flag::ToolSource)),
    Member("origin", Meaning::Object(&[Member("kind", Meaning::Word(Field::Origin))])),
    Member("message", Meaning::Object(MESSAGE)),
    Member("attachment", Meaning::Object(ATTACHMENT)),
    Member("operation", Meaning::Word(Field::Operation)),
    Member("commandMode", Meaning::Word(Field::Mode)),
    Member("content", Meaning::Said(Place::Queue)),
    Member("payload", Meaning::Object(PAYLOAD)),
];

const MESSAGE: &[Member] =
    &[Member("role", Meaning::Word(Field::Role)), Member("content", Meaning::Said(Place::Message))];

const ATTACHMENT: &[Member] = &[
    Member("type", Meaning::Word(Field::Attachment)),
    Member("commandMode", Meaning::Word(Field::AttachmentMode)),
    Member("prompt", Meaning::Said(Place::Attachment)),
    Member("isMeta", Meaning::Flag(Flag::AttachmentMeta)),
    Member("origin", Meaning::Object(&[Member("kind", Meaning::Word(Field::AttachmentOrigin))])),
];

const PAYLOAD: &[Member] = &[
    Member("type", Meaning::Word(Field::Payload)),
    Member("kind", Meaning::Word(Field::PayloadKind)),
    Member("message", Meaning::Said(Place::Payload)),
    Member("images", Meaning::Filled(Flag::Images)),
    Member("local_images", Meaning::Filled(Flag::LocalImages)),
    Member("source", Meaning::Named(Field::Source)),
    Member("thread_source", Meaning::Named(Field::ThreadSource)),
];
