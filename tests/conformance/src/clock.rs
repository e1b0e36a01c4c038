//! The one clock that a core reads.

use crate::contract::wall_clock;
use crate::play::{Case, Played, reads, writes};
use crate::trial::Trial;

const SUBJECT: &str = "clock";

pub const CASES: &[Case] = &[
    Case {
        subject: SUBJECT,
        rule: "The clock tells the time of day since 1970, UTC, in seconds and nanoseconds below \
            a second.",
        steps: &[reads(see_plausible_time), writes(see_plausible_time)],
    },
    Case {
        subject: SUBJECT,
        rule: "The clock does not run backwards within a call.",
        steps: &[reads(read_often)],
    },
    Case {
        subject: SUBJECT,
        rule: "The clock goes on from call to call.",
        steps: &[writes(note_time), writes(see_later), writes(see_later).reopened()],
    },
];

/// The beginning of 2024, and of 2200, in seconds.
const EARLIEST: u64 = 1_704_067_200;
const LATEST: u64 = 7_258_118_400;

fn see_plausible_time(t: &mut Trial) -> Played {
    let now = wall_clock::now();
    t.must(
        "the seconds of `wall-clock.now`",
        (EARLIEST..LATEST).contains(&now.seconds),
        "be between 2024 and 2200, as the examination needs the machine's own clock",
        &now.seconds,
    );
    t.must(
        "its nanoseconds",
        now.nanoseconds < 1_000_000_000,
        "be below a second",
        &now.nanoseconds,
    );
    let resolution = wall_clock::resolution();
    let is_positive = resolution.seconds > 0 || resolution.nanoseconds > 0;
    t.must(
        "`wall-clock.resolution`",
        is_positive && resolution.nanoseconds < 1_000_000_000,
        "be more than nothing, its nanoseconds below a second",
        &(resolution.seconds, resolution.nanoseconds),
    );
    Ok(())
}

fn time() -> (u64, u32) {
    let now = wall_clock::now();
    (now.seconds, now.nanoseconds)
}

fn read_often(t: &mut Trial) -> Played {
    let mut last = time();
    for _ in 0..2_000 {
        let now = time();
        if now < last {
            t.must(
                "`wall-clock.now`, 2,000 times in one call",
                false,
                "never be less than before",
                &(last, now),
            );
            return Ok(());
        }
        last = now;
    }
    Ok(())
}

fn note_time(t: &mut Trial) -> Played {
    let (seconds, nanoseconds) = time();
    t.note("seconds", seconds)?;
    t.note("nanoseconds", nanoseconds.into())
}

fn see_later(t: &mut Trial) -> Played {
    let (seconds, nanoseconds) = time();
    let before = (t.noted("seconds")?, t.noted("nanoseconds")?);
    let now = (seconds, u64::from(nanoseconds));
    t.must(
        "`wall-clock.now` of a later call",
        now >= before,
        "not be before that of an earlier one",
        &(before, now),
    );
    note_time(t)
}
