//! Putting texts together. The library's formatting would be a thirtieth of the component, and takes a
//! dozen times as long.

use alloc::string::String;

/// One text of several.
#[must_use]
#[inline(never)]
pub fn joined(parts: &[&str]) -> String {
    let mut bytes = 0;
    for part in parts {
        bytes += part.len();
    }
    let mut text = String::with_capacity(bytes);
    for part in parts {
        text.push_str(part);
    }
    text
}

/// A number in decimal digits.
#[must_use]
pub fn number(number: impl Into<u64>) -> String {
    let mut text = String::new();
    push_number(&mut text, number.into());
    text
}

/// Appends a number in decimal digits.
#[inline(never)]
pub fn push_number(text: &mut String, number: u64) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    push_digit(text, number % 10);
}

/// Appends a digit, decimal or hexadecimal.
#[inline(never)]
pub fn push_digit(text: &mut String, digit: u64) {
    let digit = u32::try_from(digit).unwrap_or_default();
    text.push(char::from_digit(digit, 16).unwrap_or_default());
}

/// The number of decimal digits; none if they are none, or too many for 64 bits.
#[must_use]
#[inline(never)]
pub fn parse(digits: &str) -> Option<u64> {
    // The library would take a plus sign, too.
    digits.parse().ok().filter(|_| !digits.starts_with('+'))
}

/// The path of an element of a list, from 0: `signals[3]`.
#[must_use]
#[inline(never)]
pub fn element(list: &str, at: usize) -> String {
    joined(&[list, "[", &number(at as u64), "]"])
}

/// What stands before the first such character, an ASCII one, and what stands behind it. (Plainer than
/// the library's search, which looks for any text.)
#[must_use]
#[inline(never)]
pub fn cut(text: &str, mark: u8) -> Option<(&str, &str)> {
    let before = text.bytes().position(|byte| byte == mark)?;
    Some((text.get(..before)?, text.get(before + 1..)?))
}

/// Whether it has such a character.
#[must_use]
#[inline(never)]
pub fn has(text: &str, is_such: fn(char) -> bool) -> bool {
    text.chars().any(is_such)
}

/// How many characters it has: bytes that go on with none. (The library counts faster, in 1 KB.)
#[must_use]
pub fn count(text: &str) -> usize {
    let mut characters = 0;
    for byte in text.bytes() {
        characters += usize::from(byte & 0xc0 != 0x80);
    }
    characters
}

/// The text without white space around it, in one function for all who ask.
#[must_use]
#[inline(never)]
pub fn trim(text: &str) -> &str {
    text.trim_start().trim_end()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_has_its_digits_and_no_others() {
        for expected in [0_u64, 9, 10, 4_096, u64::MAX] {
            assert_eq!(number(expected), expected.to_string());
        }
    }

    proptest! {
        #[test]
        fn numbers_and_elements_read_as_the_library_writes_them(n: u64, at in 0..100_000_usize) {
            prop_assert_eq!(number(n), n.to_string());
            prop_assert_eq!(element("signals", at), format!("signals[{at}]"));
        }

        #[test]
        fn texts_are_cut_and_trimmed_as_the_library_does(text in "[a: \u{a0}\u{2003}é]{0,12}") {
            prop_assert_eq!(cut(&text, b':'), text.split_once(':'));
            prop_assert_eq!(trim(&text), text.trim());
            prop_assert_eq!(count(&text), text.chars().count());
        }
    }
}
