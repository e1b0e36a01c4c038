//! What is kept of a text: a hash, by which the same text is known again, and nothing else of it.

use alloc::string::String;

use sha2::{Digest as _, Sha256};

/// How many bytes of the hash are kept: 128 bits are enough to tell texts apart.
const BYTES: usize = 16;

/// The hash of a text, or of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest([u8; BYTES]);

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
        let mut kept = [0; BYTES];
        for (byte, hashed) in kept.iter_mut().zip(hash.finalize()) {
            *byte = hashed;
        }
        Self(kept)
    }

    /// As 32 lower-case hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> String {
        let mut text = String::with_capacity(2 * BYTES);
        for byte in self.0 {
            for digit in [byte >> 4, byte & 15] {
                text.push(char::from_digit(u32::from(digit), 16).unwrap_or_default());
            }
        }
        text
    }

    /// What [`Digest::hex`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut digits = text.chars();
        let mut kept = [0; BYTES];
        for byte in &mut kept {
            for _ in 0..2 {
                let digit = digits.next()?.to_digit(16)?;
                *byte = *byte << 4 | u8::try_from(digit).ok()?;
            }
        }
        digits.next().is_none().then_some(Self(kept))
    }
}

/// Takes in a text piece by piece, and keeps only what its [`Digest`] needs.
#[derive(Clone, Default)]
pub struct Folding {
    hash: Sha256,
    /// Whether it has anything but white space.
    has_text: bool,
    /// Whether white space stands between what was hashed and what comes.
    gap: bool,
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
            self.hash.update(word);
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
