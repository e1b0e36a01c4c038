//! Reading JSON text, which may be anything at all.

use alloc::string::String;

use serde_json::Value;

/// Reads JSON text. Of duplicate members the last counts.
///
/// # Errors
/// Text that is not JSON, or nested deeper than 127 levels.
pub fn parse(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).or_else(|error| match without_huge_numbers(text) {
        Some(text) => serde_json::from_str(&text),
        None => Err(error),
    })
}

/// `1e400` is JSON, though no double holds it and the parser refuses the whole text. The caller
/// shall learn which field is wrong, so that such a number is read as another that is no integer
/// either. `None` if the text has no such number.
fn without_huge_numbers(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut replaced = false;
    while let Some(at) = rest.find(['"', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let token = if rest.starts_with('"') { string_bytes(rest) } else { number_bytes(rest) };
        let (token, after) = rest.split_at(token);
        if is_huge(token) {
            out.push_str("0.5");
            replaced = true;
        } else {
            out.push_str(token);
        }
        rest = after;
    }
    out.push_str(rest);
    replaced.then_some(out)
}

/// How many bytes the string at the start of the text has, its quotes included.
fn string_bytes(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn number_bytes(text: &str) -> usize {
    text.bytes()
        .position(|b| !(b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E')))
        .unwrap_or(text.len())
}

/// Whether this is a JSON number that may be beyond the range of a double.
fn is_huge(token: &str) -> bool {
    const DIGITS_OF_A_DOUBLE: usize = 300;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (mantissa, exponent) = match token.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (token, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let well_formed = digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)));
    well_formed && (exponent.is_some() || whole.len() > DIGITS_OF_A_DOUBLE)
}
