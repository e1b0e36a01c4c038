//! What a row says: reduced while it is read, so that neither a long text nor a long list of blocks is
//! ever held.

use super::after;
use super::members::Flag;
use super::scan::{Beginning, Scanner, Sink, Word};
use crate::upstream::digest::{Digest, Folding};

/// What Claude Code puts before or between what people type, and shows to none of them.
const REMINDER: &[u8] = b"<system-reminder>";
const REMINDER_END: &[u8] = b"</system-reminder>";

/// The beginning of a text: enough for every mark that means something, and a command's name.
pub(super) type Opening = Beginning<256>;

/// What a row says.
#[derive(Clone, Copy)]
pub(super) struct Said {
    /// Its text blocks, joined by line feeds.
    pub(super) text: Digest,
    /// The same without the reminders before it; of a command, how it was typed.
    pub(super) bare: Digest,
    /// How the text without reminders begins, trimmed.
    pub(super) opening: Opening,
    /// The flags that follow from it.
    pub(super) flags: u32,
}

impl Said {
    /// Reads what comes next: a string, or a list of blocks; anything else says nothing.
    pub(super) fn read(next: Option<Scanner>) -> Self {
        let mut listener = Listener::default();
        if let Some(mut scanner) = next {
            // It was passed before, and so it is JSON.
            let _ = listener.value(&mut scanner);
        }
        listener.said()
    }
}

/// Takes in what a row says.
#[derive(Default)]
struct Listener {
    prose: Prose,
    flags: u32,
}

impl Listener {
    fn said(self) -> Said {
        let Prose { text, bare, opening, .. } = self.prose;
        let text = text.digest();
        let mut flags = self.flags;
        if bare.is_some() {
            flags |= Flag::Reminded.bit();
        }
        if !opening.bytes().is_empty() {
            flags |= Flag::Text.bit();
        }
        let bare = typed_command(&opening).or_else(|| bare.map(Folding::digest)).unwrap_or(text);
        Said { text, bare, opening, flags }
    }

    fn value(&mut self, scanner: &mut Scanner) -> Option<()> {
        if scanner.next()? == b'"' {
            return scanner.string(&mut self.prose);
        }
        if !scanner.opens(b'[') {
            return None;
        }
        self.flags |= Flag::Blocks.bit();
        let mut is_first = true;
        while scanner.another(b']', &mut is_first)? {
            if scanner.opens(b'{') {
                self.block(scanner)?;
            } else {
                scanner.skip()?;
            }
        }
        Some(())
    }

    /// A block, its brace being passed. Its type may stand behind its text.
    fn block(&mut self, scanner: &mut Scanner) -> Option<()> {
        let mut kind = Word::EMPTY;
        let mut before = None;
        let (mut is_first, mut name) = (true, Word::EMPTY);
        while scanner.member(&mut is_first, &mut name)? {
            let is_string = scanner.next()? == b'"';
            if name.is("type") {
                kind = Word::EMPTY;
                if is_string {
                    scanner.string(&mut kind)?;
                    continue;
                }
            } else if name.is("text") {
                // Of two texts the last counts.
                self.prose = before.get_or_insert_with(|| self.prose.clone()).clone();
                if is_string {
                    self.prose.push_str("\n");
                    scanner.string(&mut self.prose)?;
                    continue;
                }
            }
            scanner.skip()?;
        }
        if kind.is("tool_result") {
            self.flags |= Flag::ToolResult.bit();
        } else if kind.is("image") || kind.is("document") {
            self.flags |= Flag::Picture.bit();
        }
        if let Some(before) = before.filter(|_| !kind.is("text")) {
            self.prose = before;
        }
        Some(())
    }
}

/// A command as it was typed, `/name arguments`, of one that Claude Code marked when it ran it: so
/// it is known again as what was put into the queue, or sent. None if it is longer than its beginning
/// that is kept.
fn typed_command(opening: &Opening) -> Option<Digest> {
    let opening = opening.bytes();
    if !opening.starts_with(b"<command-") {
        return None;
    }
    let mut typed = Folding::default();
    for (before, mark) in [("/", &b"<command-name>"[..]), (" ", b"<command-args>")] {
        let Some(rest) = after(opening, mark) else { continue };
        let end = rest.windows(2).position(|here| here == b"</")?;
        let part = rest.get(..end)?;
        typed.push_str(before);
        typed.push_bytes(part.strip_prefix(b"/").unwrap_or(part));
    }
    Some(typed.digest())
}

impl Sink for Folding {
    fn push_str(&mut self, piece: &str) {
        Self::push_str(self, piece);
    }
}

/// Takes in a text.
#[derive(Clone)]
struct Prose {
    text: Folding,
    /// The text behind the last of the complete reminders that it begins with; none without any.
    bare: Option<Folding>,
    /// How that text begins.
    opening: Opening,
    reminder: Reminder,
}

/// Where a text stands towards the reminders that it begins with.
#[derive(Clone, Copy)]
enum Reminder {
    /// One may begin: so many bytes of its mark were seen.
    Begins(usize),
    /// Inside one: so many bytes of its end were seen.
    Ends(usize),
    /// Something else came.
    Past,
}

impl Default for Prose {
    fn default() -> Self {
        Self {
            text: Folding::default(),
            bare: None,
            opening: Opening::EMPTY,
            reminder: Reminder::Begins(0),
        }
    }
}

impl Sink for Prose {
    fn push_str(&mut self, piece: &str) {
        self.text.push_str(piece);
        let mut rest = piece;
        while let Some(end) = self.reminder.ends_in(rest) {
            self.bare = Some(Folding::default());
            self.opening = Opening::EMPTY;
            rest = rest.get(end..).unwrap_or_default();
        }
        if let Some(bare) = &mut self.bare {
            bare.push_str(rest);
        }
        if self.opening.bytes().is_empty() {
            rest = rest.trim_start();
        }
        self.opening.push_str(rest);
    }
}

impl Reminder {
    /// Passes on to the end of a reminder: the byte behind it, from 0, if it ends in this piece.
    fn ends_in(&mut self, piece: &str) -> Option<usize> {
        let next_is =
            |mark: &[u8], seen: usize, c| mark.get(seen).is_some_and(|b| char::from(*b) == c);
        for (at, c) in piece.char_indices() {
            *self = match *self {
                Self::Begins(0) if c.is_whitespace() => Self::Begins(0),
                Self::Begins(seen) if next_is(REMINDER, seen, c) => {
                    if seen + 1 == REMINDER.len() {
                        Self::Ends(0)
                    } else {
                        Self::Begins(seen + 1)
                    }
                }
                Self::Begins(_) | Self::Past => Self::Past,
                Self::Ends(seen) if next_is(REMINDER_END, seen, c) => {
                    if seen + 1 == REMINDER_END.len() {
                        *self = Self::Begins(0);
                        return Some(at + 1);
                    }
                    Self::Ends(seen + 1)
                }
                Self::Ends(_) => Self::Ends(usize::from(c == '<')),
            };
            if matches!(self, Self::Past) {
                return None;
            }
        }
        None
    }
}
