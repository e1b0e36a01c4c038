//! Mutants of examples, by a generator that depends on its seed alone.

/// `SplitMix64`.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below a bound above 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Bytes that mean something to some reader.
const TOKENS: &[&[u8]] = &[
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"::",
    b"null",
    b"true",
    b"-1",
    b"0",
    b"1.0",
    b"1e999",
    b"9007199254740991",
    b"9007199254740992",
    b"18446744073709551616",
    b"\\u0000",
    b"\\ud800",
    b"\\u2028",
    b"agent:",
    b"agent:main:",
    b"matrix:channel:",
    b"signal:group:",
    b"subagent:",
    b"\n",
    b"\r\n",
    b"\xef\xbb\xbf",
    b"\xff",
    b"\xc3\x28",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\0",
    b" ",
    b"'",
    b"\"type\":\"user\"",
    b"\"isMeta\":true",
    b"\"timestamp\":",
];

/// The longest mutant, in bytes.
const LONGEST: usize = 1 << 20;

/// A few changes to one of the examples.
pub fn mutant(chance: &mut Chance, examples: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = chance.of(examples).clone();
    for _ in 0..=chance.below(6) {
        change(chance, &mut bytes, examples);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(chance: &mut Chance, bytes: &mut Vec<u8>, examples: &[Vec<u8>]) {
    let at = chance.below(bytes.len() + 1);
    let end = at + chance.below((bytes.len() - at).min(64) + 1);
    match chance.below(8) {
        0 if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
        1 if at < bytes.len() => bytes[at] = u8::try_from(chance.below(256)).unwrap_or(0),
        2 => drop(bytes.drain(at..end)),
        3 => {
            let copy = bytes[at..end].to_vec();
            let to = chance.below(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        4 => {
            let other = chance.of(examples);
            let from = chance.below(other.len() + 1);
            bytes.splice(at.., other[from..].iter().copied());
        }
        5 => bytes.truncate(at),
        6 => {
            let again = bytes[at..end].repeat(chance.below(64));
            bytes.splice(at..at, again);
        }
        _ => drop(bytes.splice(at..end, chance.of(TOKENS).iter().copied())),
    }
}
