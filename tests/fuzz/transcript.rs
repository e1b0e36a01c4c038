//! Transcripts: whatever a file holds, reading it on never traps, and finds the same turns however it
//! was cut.

use std::sync::{Arc, Mutex};

use harness::{MAIN, NOON};
use headsup::{
    AdoptionRequest, Awareness, FileFound, FileRead, Found, Reader, Selection, Source, SourceFiles,
};

use crate::driver::{corpus, fuzz};
use crate::mutate::Chance;

/// The longest part of an input that is looked at, in bytes.
const LONGEST: usize = 1 << 16;

/// One file, as far as it is written.
#[derive(Clone, Default)]
struct Planted(Arc<Mutex<Vec<u8>>>);

impl Planted {
    fn found(&self, start: u64, at_most: usize) -> Found {
        let bytes = self.0.lock().unwrap();
        let from = usize::try_from(start).unwrap().min(bytes.len());
        let to = bytes.len().min(from.saturating_add(at_most));
        Found::File(FileFound {
            identity: "planted".into(),
            stamp: None,
            size: bytes.len() as u64,
            modified_at: NOON,
            head: bytes.clone(),
            start,
            bytes: bytes[from..to].to_vec(),
        })
    }
}

impl SourceFiles for Planted {
    fn read_on(&self, read: &FileRead) -> Found {
        self.found(read.start, read.at_most as usize)
    }

    fn read_ends(&self, _: &str) -> Found {
        self.found(0, usize::MAX)
    }
}

struct Reading {
    awareness: Awareness,
    file: Planted,
}

impl Reading {
    fn new() -> Self {
        let file = Planted::default();
        let awareness = Awareness::builder(":memory:")
            .plugin(harness::core())
            .source_files(file.clone())
            .manual_clock(NOON)
            .open()
            .unwrap();
        Self { awareness, file }
    }

    /// The turns of a file that is written in these parts and checked after each.
    fn turns(&self, kind: &str, parts: &[&[u8]]) -> u32 {
        let session = "agent:main:worker";
        self.file.0.lock().unwrap().clear();
        self.awareness.delete(session).unwrap();
        self.awareness.watch(MAIN, session, false).unwrap();
        let source = Source { kind: kind.into(), place: "/planted.jsonl".into(), thread: None };
        self.awareness.adopt(AdoptionRequest::new(session, source, "planted")).unwrap();
        let mut turns = 0;
        for part in parts {
            self.file.0.lock().unwrap().extend_from_slice(part);
            let plans = self.awareness.plan_checks(Selection::All, Reader::File).unwrap();
            for plan in plans {
                let found = self.file.read_on(plan.file.as_ref().expect("a file"));
                turns += self.awareness.feed_upstream(&plan, found).unwrap().turns;
            }
        }
        turns
    }
}

#[test]
fn any_transcript_has_the_same_turns_however_it_is_cut() {
    let reading = Reading::new();
    fuzz("transcript", &corpus("transcript"), |input| {
        let input = &input[..input.len().min(LONGEST)];
        let seed = input.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31) ^ u64::from(*byte));
        let mut chance = Chance::new(seed);
        let mut cuts: Vec<usize> =
            (0..chance.below(5)).map(|_| chance.below(input.len() + 1)).collect();
        cuts.sort_unstable();
        let mut parts = Vec::new();
        let mut from = 0;
        for cut in cuts {
            parts.push(&input[from..cut]);
            from = cut;
        }
        parts.push(&input[from..]);
        for kind in ["claude-jsonl", "codex-jsonl"] {
            let whole = reading.turns(kind, &[input]);
            assert_eq!(reading.turns(kind, &parts), whole, "{kind}, in {} parts", parts.len());
        }
    });
}
