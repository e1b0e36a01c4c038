//! What is kept of a text: a hash, by which the same text is known again, and nothing else of it.

mod sha256;

use alloc::string::String;

use sha256::Sha256;

/// The hash of a text, or of bytes: the first 128 bits of its SHA-256, enough to tell texts apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest([u32; WORDS]);

const WORDS: usize = 4;

/// How many hexadecimal digits a word has.
const DIGITS: u32 = 8;

impl Digest {
    /// Of a text: its runs of Unicode white space folded to one space each, and trimmed. So what a
    /// terminal, an editor or a transcript did to the white space makes no difference.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let mut folding = Folding::default();
        folding.push_str(text);
        folding.digest()
    }

    /// Of bytes, as they are.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(bytes);
        Self::of(hash)
    }

    fn of(hash: Sha256) -> Self {
        let [first, second, third, fourth, ..] = hash.finish();
        Self([first, second, third, fourth])
    }

    /// As 32 lower-case hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        let mut text = String::new();
        for word in self.0 {
            for nth in 1..=DIGITS {
                let digit = word.rotate_left(4 * nth) & 15;
                text.push(char::from_digit(digit, 16).unwrap_or_default());
            }
        }
        text
    }

    /// What [`Digest::hex`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut digits = text.bytes();
        let mut words = [0; WORDS];
        for word in &mut words {
            for _ in 0..DIGITS {
                *word = *word << 4 | char::from(digits.next()?).to_digit(16)?;
            }
        }
        digits.next().is_none().then_some(Self(words))
    }
}

/// Takes in a text piece by piece, and keeps only what its [`Digest`] needs.
#[derive(Clone)]
pub struct Folding {
    hash: Sha256,
    /// Whether it has anything but white space.
    has_text: bool,
    /// Whether white space stands between what was hashed and what comes.
    gap: bool,
}

impl Default for Folding {
    fn default() -> Self {
        Self { hash: Sha256::new(), has_text: false, gap: false }
    }
}

impl Folding {
    /// The text goes on with this.
    pub fn push_str(&mut self, text: &str) {
        for (nth, word) in text.split(char::is_whitespace).enumerate() {
            self.gap |= nth > 0;
            if word.is_empty() {
                continue;
            }
            if self.gap && self.has_text {
                self.hash.update(b" ");
            }
            self.hash.update(word.as_bytes());
            self.has_text = true;
            self.gap = false;
        }
    }

    /// Of the text as it was taken in.
    #[must_use]
    pub fn digest(self) -> Digest {
        Digest::of(self.hash)
    }
}

#[cfg(test)]
mod tests;
