//! Times as transcripts write them.

/// The days before each month of a year that is no leap year.
const DAYS_BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

/// Milliseconds since 1970 of a full date and time with its zone (ISO 8601 as in RFC 3339), such as
/// `2026-11-30T19:35:29.123Z` or `2026-11-30T20:35:29+01:00`. Anything less says nothing certain,
/// and is none; so is a time before 1970.
#[must_use]
pub fn parse(text: &[u8]) -> Option<u64> {
    let mut clock = Digits { text, at: 0 };
    let year = clock.number(4)?;
    clock.passes(b'-')?;
    let month = clock.number(2)?;
    clock.passes(b'-')?;
    let day = clock.number(2)?;
    clock.passes(b'T')?;
    let hour = clock.number(2)?;
    clock.passes(b':')?;
    let minute = clock.number(2)?;
    clock.passes(b':')?;
    let second = clock.number(2)?;
    let milliseconds = clock.fraction()?;
    let zone = clock.zone()?;
    if clock.at != text.len() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_since_1970(year, month, day)?;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    (seconds * 1_000 + milliseconds).checked_add_signed(-zone * 60_000)
}

fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let before = *DAYS_BEFORE.get(usize::try_from(month).ok()?.checked_sub(1)?)?;
    let length = match month {
        2 => 28 + u64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if day == 0 || day > length {
        return None;
    }
    let earlier = year.checked_sub(1)?;
    let leap_days = earlier / 4 - earlier / 100 + earlier / 400 + u64::from(is_leap && month > 2);
    // Counted from the first day of year 1; 1970 began 719,162 days later.
    (earlier * 365 + leap_days + before + day - 1).checked_sub(719_162)
}

/// Reads a time from left to right.
struct Digits<'a> {
    text: &'a [u8],
    at: usize,
}

impl Digits<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn passes(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn digit(&mut self) -> Option<u64> {
        let digit = char::from(self.peek()?).to_digit(10)?;
        self.at += 1;
        Some(u64::from(digit))
    }

    fn number(&mut self, digits: u32) -> Option<u64> {
        let mut number = 0;
        for _ in 0..digits {
            number = number * 10 + self.digit()?;
        }
        Some(number)
    }

    /// Whole milliseconds of a fraction of a second, if there is one.
    fn fraction(&mut self) -> Option<u64> {
        if self.passes(b'.').is_none() {
            return Some(0);
        }
        let mut milliseconds = self.digit()? * 100;
        let mut worth = 10;
        while let Some(digit) = self.digit() {
            milliseconds += digit * worth;
            worth /= 10;
        }
        Some(milliseconds)
    }

    /// Minutes east of UTC.
    fn zone(&mut self) -> Option<i64> {
        let sign = self.peek()?;
        self.at += 1;
        if sign == b'Z' {
            return Some(0);
        }
        let hours = self.number(2)?;
        self.passes(b':')?;
        let minutes = self.number(2)?;
        if hours > 23 || minutes > 59 {
            return None;
        }
        let east = i64::try_from(hours * 60 + minutes).ok()?;
        match sign {
            b'+' => Some(east),
            b'-' => Some(-east),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
