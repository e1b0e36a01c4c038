use proptest::collection::vec;
use proptest::prelude::*;

use super::feed;
use crate::contract::{
    AdoptionRequest, FileFound, Finding, Found, Plan, Reader, Selection, SessionRef, Source,
};
use crate::ports::fake::Fake;
use crate::upstream::adopt::adopt;
use crate::upstream::plan::plan;

/// What happens to a transcript between two checks, or a check itself.
#[derive(Clone, Debug)]
enum Deed {
    /// A person, or else the assistant, writes a row.
    Write {
        human: bool,
    },
    /// All of a row but its end is written by now.
    Begin {
        human: bool,
    },
    /// The file is written anew, without so many hundredths of what was read of it.
    Rewrite(usize),
    /// Another file takes its place, likewise.
    Replace(usize),
    Check,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    vec(
        prop_oneof![
            4 => any::<bool>().prop_map(|human| Deed::Write { human }),
            2 => any::<bool>().prop_map(|human| Deed::Begin { human }),
            1 => (0_usize..=100).prop_map(Deed::Rewrite),
            1 => (0_usize..=100).prop_map(Deed::Replace),
            4 => Just(Deed::Check),
        ],
        1..60,
    )
}

/// A transcript, and what should be told of it.
#[derive(Default)]
struct World {
    ports: Fake,
    rows: Vec<String>,
    /// So many rows were there at the last check.
    read: usize,
    /// Bytes of a row that is not whole yet.
    begun: String,
    file: u32,
    /// The time of the next row, in s.
    time: u32,
    /// Turns of persons since the adoption: those there were, and those that were told.
    typed: u32,
    told: u32,
}

impl World {
    fn adopted(history: usize) -> Self {
        let mut world = Self::default();
        for at in 0..history {
            world.write(at % 2 == 0);
        }
        world.typed = 0;
        let request = AdoptionRequest {
            session: SessionRef { key: "agent:main:w".to_string(), agent: None },
            source: Source {
                kind: "claude-jsonl".to_string(),
                place: "/w.jsonl".to_string(),
                thread: None,
            },
            catalog: "claude".to_string(),
            host: None,
            thread: None,
        };
        let found = Found::File(world.found(0));
        assert!(adopt(&mut world.ports, &request, Some(&found)).unwrap().adopted);
        world.read = world.rows.len();
        world
    }

    fn row(&mut self, human: bool) -> String {
        self.time += 1;
        let (minute, second) = (self.time / 60, self.time % 60);
        let kind = if human { "user" } else { "assistant" };
        let text = self.time;
        format!(
            r#"{{"type":"{kind}","message":{{"role":"{kind}","content":"{text}"}},"timestamp":"2026-09-20T00:{minute:02}:{second:02}Z"}}"#
        )
    }

    /// Ends what was begun, or writes a whole row.
    fn write(&mut self, human: bool) {
        let row = if self.begun.is_empty() { self.row(human) } else { self.begun.clone() };
        self.typed += u32::from(row.contains("user"));
        self.begun.clear();
        self.rows.push(row);
    }

    /// Nothing that was not read goes: nobody could tell of it.
    fn forget(&mut self, hundredths: usize) {
        let gone = self.read * hundredths / 100;
        self.rows.drain(..gone);
        self.read -= gone;
    }

    fn found(&self, start: u64) -> FileFound {
        let mut bytes: Vec<u8> =
            self.rows.iter().flat_map(|row| (row.clone() + "\n").into_bytes()).collect();
        if !self.begun.is_empty() {
            bytes.extend_from_slice(&self.begun.as_bytes()[..self.begun.len() - 1]);
        }
        let size = bytes.len() as u64;
        let start_byte = usize::try_from(start).unwrap().min(bytes.len());
        FileFound {
            identity: self.file.to_string(),
            stamp: Some(format!("{} {size}", self.file)),
            size,
            modified_at: 1_790_000_000_000,
            head: Vec::new(),
            start,
            bytes: bytes.split_off(start_byte),
        }
    }

    fn check(&mut self) {
        let mut selection = Selection::All;
        for _ in 0..2 {
            let plan: Plan = plan(&mut self.ports, &selection, Reader::File).unwrap().remove(0);
            let found = Found::File(self.found(plan.file.as_ref().unwrap().start));
            let check = feed(&mut self.ports, &plan.session, plan.revision, &found).unwrap();
            self.told += check.turns;
            if check.finding != Finding::Again {
                break;
            }
            selection = Selection::One(plan.session);
        }
        self.read = self.rows.len();
    }

    fn does(&mut self, deed: &Deed) {
        match *deed {
            Deed::Write { human } => self.write(human),
            Deed::Begin { human } if self.begun.is_empty() => self.begun = self.row(human),
            Deed::Begin { .. } => {}
            Deed::Rewrite(hundredths) => self.forget(hundredths),
            Deed::Replace(hundredths) => {
                self.forget(hundredths);
                self.file += 1;
            }
            Deed::Check => self.check(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_becomes_of_a_file_each_turn_is_told_once_and_no_history(
        history in 0_usize..6,
        deeds in deeds(),
    ) {
        let mut world = World::adopted(history);
        for deed in &deeds {
            world.does(deed);
            prop_assert!(world.told <= world.typed, "told before it was typed");
        }
        world.check();
        prop_assert_eq!(world.told, world.typed);
        let before = world.told;
        world.check();
        prop_assert_eq!(world.told, before, "nothing twice");
    }
}
