//! Prompts that were typed while a turn ran. A transcript may show one up to three times: when it was
//! put into the queue, when it came out, and as an ordinary row. A person typed it once.

use alloc::vec::Vec;

use super::digest::Digest;
use super::row::{Facts, Part};
use crate::json::{Value, Writer};

/// How many prompts are remembered: the newest. Far more than anybody queues at once.
const MOST: usize = 32;

/// The queued prompts that were counted, and may be repeated by a later row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queued(Vec<Prompt>);

/// A prompt that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Prompt {
    text: Digest,
    /// Whether it is still to come out of the queue.
    command: bool,
    /// Whether it is still to come as an ordinary row.
    turn: bool,
}

impl Queued {
    /// Takes in the next row that a person typed: whether it repeats a prompt that was counted. An
    /// enqueue absorbs one later command and one later turn of the same text; a command that repeats
    /// none absorbs one later turn.
    pub fn absorb(&mut self, facts: &Facts) -> bool {
        if facts.role != Part::Enqueue {
            for at in 0..self.0.len() {
                if self.uses_up(at, facts) {
                    return true;
                }
            }
        }
        if facts.role != Part::Turn {
            if self.0.len() == MOST {
                self.remove(0);
            }
            let command = facts.role == Part::Enqueue;
            self.0.push(Prompt { text: facts.bare, command, turn: true });
        }
        false
    }

    /// Takes in a row of history that a person typed. What is typed while nothing is in the queue is an
    /// ordinary row: whatever is remembered by then was taken back, and never comes.
    pub fn pass(&mut self, facts: &Facts) {
        if !self.absorb(facts) && facts.role == Part::Turn {
            self.0.clear();
        }
    }

    /// Forgets what came out of the queue already: at an adoption, what is still in it is history, and
    /// so are its repeats to come.
    pub fn keep_waiting(&mut self) {
        let mut waiting = Vec::new();
        for prompt in &self.0 {
            if prompt.command && prompt.turn {
                waiting.push(*prompt);
            }
        }
        self.0 = waiting;
    }

    /// Whether the row repeats this prompt, which it then does no more.
    fn uses_up(&mut self, at: usize, facts: &Facts) -> bool {
        let Some(prompt) = self.0.get_mut(at).filter(|prompt| prompt.text == facts.bare) else {
            return false;
        };
        let expected =
            if facts.role == Part::Command { &mut prompt.command } else { &mut prompt.turn };
        let repeats = core::mem::take(expected);
        if !prompt.command && !prompt.turn {
            self.remove(at);
        }
        repeats
    }

    /// Removes a prompt. (The library's way can fail, and brings the words for it.)
    fn remove(&mut self, at: usize) {
        let mut kept = Vec::with_capacity(MOST);
        for (nth, prompt) in self.0.iter().enumerate() {
            if nth != at {
                kept.push(*prompt);
            }
        }
        self.0 = kept;
    }

    /// Writes it as a JSON list: one string a prompt, its digest with a letter.
    pub fn write(&self, out: &mut Writer) {
        out.open_list();
        for prompt in &self.0 {
            let mut text = prompt.text.hex();
            text.push(match (prompt.command, prompt.turn) {
                (true, true) => 'b',
                (true, false) => 'c',
                (false, _) => 't',
            });
            out.text(&text);
        }
        out.close_list();
    }

    /// What [`Queued::write`] wrote; none for anything else.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let Value::List(elements) = value else { return None };
        let mut prompts = Vec::new();
        for element in elements {
            let text = element.as_text()?;
            let (digest, letter) = text.split_at_checked(text.len().checked_sub(1)?)?;
            let (command, turn) = match letter {
                "b" => (true, true),
                "c" => (true, false),
                "t" => (false, true),
                _ => return None,
            };
            prompts.push(Prompt { text: Digest::parse(digest)?, command, turn });
        }
        (prompts.len() <= MOST).then_some(Self(prompts))
    }
}

#[cfg(test)]
mod tests;
