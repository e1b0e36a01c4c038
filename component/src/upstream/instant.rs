//! Times as transcripts write them.

/// Milliseconds since 1970 of a full date and time with its zone (ISO 8601 as in RFC 3339), such as
/// `2026-11-30T19:35:29.123Z` or `2026-11-30T20:35:29+01:00`. Anything less says nothing certain,
/// and is none; so is a time before 1970.
#[must_use]
pub fn parse(text: &[u8]) -> Option<u64> {
    let pattern = b"0000-00-00T00:00:00";
    let (clock, rest) = text.split_at_checked(pattern.len())?;
    let [year, month, day, hour, minute, second] = numbers(clock, pattern)?;
    let (milliseconds, zone) = fraction(rest)?;
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_since_1970(year, month, day)?;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    let at = seconds * 1_000 + milliseconds;
    let (sign, offset) = zone.split_first()?;
    let [hours, minutes, ..] = match sign {
        b'Z' if offset.is_empty() => [0; 6],
        b'+' | b'-' => numbers(offset, b"00:00")?,
        _ => return None,
    };
    if hours > 23 || minutes > 59 {
        return None;
    }
    let east = (hours * 60 + minutes) * 60_000;
    if *sign == b'-' { Some(at + east) } else { at.checked_sub(east) }
}

/// The numbers of a text that looks like this: `0` stands for any digit, everything else for itself.
fn numbers(text: &[u8], pattern: &[u8]) -> Option<[u64; 6]> {
    let mut numbers = [0; 6];
    let mut nth = 0;
    for (byte, expected) in text.iter().zip(pattern) {
        if *expected == b'0' && byte.is_ascii_digit() {
            let number: &mut u64 = numbers.get_mut(nth)?;
            *number = *number * 10 + u64::from(byte - b'0');
        } else if *expected != b'0' && byte == expected {
            nth += 1;
        } else {
            return None;
        }
    }
    (text.len() == pattern.len()).then_some(numbers)
}

/// Whole milliseconds of a fraction of a second, if there is one, and what stands behind it.
fn fraction(text: &[u8]) -> Option<(u64, &[u8])> {
    let Some(digits) = text.strip_prefix(b".") else { return Some((0, text)) };
    let (mut milliseconds, mut worth, mut length) = (0, 100, 0);
    while let Some(digit) = digits.get(length).filter(|byte| byte.is_ascii_digit()) {
        milliseconds += u64::from(digit - b'0') * worth;
        worth /= 10;
        length += 1;
    }
    (length > 0).then_some((milliseconds, digits.get(length..)?))
}

fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = match month {
        1..=12 if month != 2 => 30 + ((month + month / 8) & 1),
        2 => 28 + u64::from(is_leap),
        _ => return None,
    };
    if day == 0 || day > length {
        return None;
    }
    // Counted in years that begin in March, so that the leap day is the last of one: from March on,
    // 5 months have 153 days.
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    // The first of March of the year 0 was 719,468 days before 1970.
    days.checked_sub(719_468)
}

#[cfg(test)]
mod tests;
