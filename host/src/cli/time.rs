//! Times for people.

/// A time in ms since the Unix epoch as UTC, such as `2026-09-21 14:13:20.000Z`.
pub fn utc(ms: u64) -> String {
    let (seconds, ms) = (ms / 1_000, ms % 1_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the leap day is the last of its year.
    const DAYS_BEFORE_1970: u64 = 719_468;
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let days = days + DAYS_BEFORE_1970;
    let (era, day) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (ms, text) in [
            (0, "1970-01-01 00:00:00.000Z"),
            (951_782_399_999, "2000-02-28 23:59:59.999Z"),
            (951_782_400_000, "2000-02-29 00:00:00.000Z"),
            (951_868_800_000, "2000-03-01 00:00:00.000Z"),
            (1_790_000_000_000, "2026-09-21 14:13:20.000Z"),
            (4_107_542_400_000, "2100-03-01 00:00:00.000Z"),
        ] {
            assert_eq!(utc(ms), text);
        }
    }

    #[test]
    fn the_latest_time_there_is_can_be_shown() {
        assert_eq!(utc(headsup::LATEST), "287396-10-12 08:59:00.991Z");
    }
}
