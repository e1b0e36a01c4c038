//! SHA-256 (FIPS 180-4), small: the crate that the host links would be 5 KB of the guest. A property
//! test holds the two against one another.

/// Bytes that are hashed at once.
const BLOCK: usize = 64;

/// Where the chaining values begin, and what is mixed in: the first 32 bits of the fractional parts of
/// the square roots of 8 primes, and of the cube roots of 64.
const START: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];
#[rustfmt::skip]
const ROUNDS: [u32; 64] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
];

/// A hash of bytes that come piece by piece.
#[derive(Clone)]
pub(super) struct Sha256 {
    chain: [u32; 8],
    block: [u8; BLOCK],
    /// How many bytes of `block` wait for others: fewer than a block.
    filled: usize,
    /// How many bytes came.
    length: u64,
}

impl Sha256 {
    pub(super) fn new() -> Self {
        Self { chain: START, block: [0; BLOCK], filled: 0, length: 0 }
    }

    /// The bytes go on with these.
    pub(super) fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let Some(room) = self.block.get_mut(self.filled..) else { return };
            let (now, later) = bytes.split_at(bytes.len().min(room.len()));
            for (to, from) in room.iter_mut().zip(now) {
                *to = *from;
            }
            self.filled += now.len();
            self.length += now.len() as u64;
            bytes = later;
            if self.filled == BLOCK {
                compress(&mut self.chain, &self.block);
                self.filled = 0;
            }
        }
    }

    /// The hash, as eight numbers of 32 bits.
    pub(super) fn finish(mut self) -> [u32; 8] {
        let bits = self.length.wrapping_mul(8);
        self.update(&[0x80]);
        while self.filled != BLOCK - 8 {
            self.update(&[0]);
        }
        self.update(&bits.to_be_bytes());
        self.chain
    }
}

/// Hashes a block into the chaining values.
#[inline(never)]
#[allow(clippy::many_single_char_names, reason = "they are called so in the standard")]
fn compress(chain: &mut [u32; 8], block: &[u8; BLOCK]) {
    let mut schedule = [0_u32; 16];
    for (word, bytes) in schedule.iter_mut().zip(block.chunks_exact(4)) {
        for byte in bytes {
            *word = *word << 8 | u32::from(*byte);
        }
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *chain;
    for (round, constant) in ROUNDS.iter().enumerate() {
        let at = |back: usize| (round + 16 - back) % 16;
        if round >= 16 {
            let (x, y) = (schedule[at(15)], schedule[at(2)]);
            let x = x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
            let y = y.rotate_right(17) ^ y.rotate_right(19) ^ y >> 10;
            let sum = schedule[at(7)].wrapping_add(x).wrapping_add(y);
            schedule[at(16)] = schedule[at(16)].wrapping_add(sum);
        }
        let mixed = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let first = h
            .wrapping_add(mixed)
            .wrapping_add(e & f ^ !e & g)
            .wrapping_add(*constant)
            .wrapping_add(schedule[at(16)]);
        let mixed = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = mixed.wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e) = (g, f, e, d.wrapping_add(first));
        (d, c, b, a) = (c, b, a, first.wrapping_add(second));
    }
    for (value, mixed) in chain.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *value = value.wrapping_add(mixed);
    }
}
