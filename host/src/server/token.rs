//! The bearer token.

use std::fmt;
use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;

/// The fewest characters of a token; a random one of 32 hexadecimal digits is a good one.
pub const LEAST_TOKEN: usize = 16;

/// The most.
const MOST_TOKEN: usize = 4_096;

/// What a request over HTTP has to bring in `Authorization: Bearer …`.
#[derive(Clone)]
pub struct Token(String);

/// Why this is no token. Its text is in none of the messages.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read.
    #[error("the token file {file} cannot be read: {error}")]
    Unreadable {
        /// Its path.
        file: String,
        /// Why.
        error: std::io::Error,
    },
    /// It is too short or too long, or has characters that no header can carry.
    #[error(
        "the token must have {LEAST_TOKEN} to {MOST_TOKEN} visible ASCII characters, on one line \
         and without blanks: make one with `openssl rand -hex 32`"
    )]
    Unfit,
}

impl Token {
    /// A token.
    ///
    /// # Errors
    /// It is none.
    pub fn new(text: &str) -> Result<Self, TokenError> {
        let fits = (LEAST_TOKEN..=MOST_TOKEN).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(TokenError::Unfit) }
    }

    /// The token in a file, white space around it apart. A warning is logged if others may read
    /// the file.
    ///
    /// # Errors
    /// It cannot be read, or holds none.
    pub fn from_file(path: &Path) -> Result<Self, TokenError> {
        let unreadable = |error| TokenError::Unreadable { file: path.display().to_string(), error };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        warn_if_open_to_others(&file, path);
        let mut text = String::new();
        // A device or a huge file by mistake must not fill the memory.
        let most = MOST_TOKEN as u64 + 1_024;
        file.take(most).read_to_string(&mut text).map_err(unreadable)?;
        Self::new(text.trim())
    }

    /// Whether this is it. The time that it takes depends on what is given alone.
    #[must_use]
    pub fn is(&self, given: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let mut differs = u8::from(own.len() != given.len());
        for (at, byte) in given.iter().enumerate() {
            differs |= black_box(byte ^ own[at % own.len()]);
        }
        black_box(differs) == 0
    }
}

/// Never shows it.
impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(unix)]
fn warn_if_open_to_others(file: &std::fs::File, path: &Path) {
    use std::os::unix::fs::MetadataExt as _;
    let others = file.metadata().is_ok_and(|metadata| metadata.mode() & 0o007 != 0);
    if others {
        let name = path.display();
        tracing::warn!("the token file {name} is open to every user: chmod 600 {name}");
    }
}

#[cfg(not(unix))]
fn warn_if_open_to_others(_: &std::fs::File, _: &Path) {}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "0123456789abcdef";

    #[test]
    fn a_token_is_itself_and_nothing_that_begins_or_ends_like_it() {
        let token = Token::new(TEXT).unwrap();
        assert!(token.is(TEXT.as_bytes()));
        let twice = format!("{TEXT}{TEXT}");
        for other in ["", "0", &TEXT[..15], "0123456789abcdeF", &twice] {
            assert!(!token.is(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_token_has_16_to_4_096_characters_that_a_header_can_carry() {
        for length in [16, 4_096] {
            assert!(Token::new(&"x".repeat(length)).is_ok(), "{length}");
        }
        for text in ["", "short", "0123456789abcde", "0123456789 abcdef", "0123456789abcdef\n"] {
            assert!(Token::new(text).is_err(), "{text:?}");
        }
        assert!(Token::new("0123456789abcdéf").is_err());
        assert!(Token::new(&"x".repeat(4_097)).is_err());
    }

    #[test]
    fn the_line_end_of_a_file_is_no_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, format!("{TEXT}\r\n")).unwrap();
        assert!(Token::from_file(&file).unwrap().is(TEXT.as_bytes()));
        std::fs::write(&file, "\n").unwrap();
        assert!(matches!(Token::from_file(&file), Err(TokenError::Unfit)));
        let missing = Token::from_file(&folder.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("none"), "{missing}");
    }

    #[test]
    fn it_is_never_shown() {
        let token = Token::new(TEXT).unwrap();
        assert!(!format!("{token:?}").contains(TEXT));
    }
}
