//! What a core ate is given back.

#![cfg(target_os = "linux")]

use crate::cores;
use crate::stage::{Stage, bad, reason};

const LIMIT: u64 = 64 << 20;
const BOMBS: u64 = 20;

#[test]
fn memory_is_back_to_normal_after_a_core_that_eats_it() {
    let limit = usize::try_from(LIMIT).unwrap();
    let stage = Stage::with(&cores::hostile(), |builder| builder.memory_limit(limit));
    reason(&stage.record(&bad("memory-bomb")));
    let before = resident();
    for _ in 0..BOMBS {
        reason(&stage.record(&bad("memory-bomb")));
        stage.awareness.take(&bad("memory-bomb")).unwrap_err();
    }
    // Other tests run beside this one, so that the bound is generous; a leak would be 2.5 GB.
    let grown = resident().saturating_sub(before);
    assert!(grown < BOMBS * LIMIT / 2, "{grown} bytes were not given back");
    stage.works();
}

/// Bytes of this process in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1_024
}
