//! Chance that can be repeated.

use std::time::{SystemTime, UNIX_EPOCH};

/// Numbers that follow from a seed alone.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number; splitmix64.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below the bound, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.roll() % bound
    }

    /// One of them, of which there is at least one.
    #[track_caller]
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let at = self.below(from.len() as u64);
        &from[usize::try_from(at).expect("it is below a length")]
    }
}

/// What `SEED` says, or else another one in each run. Whoever begins with it says it, for a failure
/// to be seen again.
///
/// # Panics
/// If `SEED` is no number.
#[must_use]
pub fn seed() -> u64 {
    let fresh = || {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |it| u64::from(it.subsec_nanos()))
    };
    std::env::var("SEED").map_or_else(|_| fresh(), |seed| seed.parse().expect("a number"))
}
