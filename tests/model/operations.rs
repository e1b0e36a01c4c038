//! What may happen in a history, and how likely it is.

use harness::{CHILD, DAY, GROUP, HOUR, MAIN, MINUTE, OPS, SECOND, WORKER};
use headsup::{
    Actor, ActorType, Adoption, DirectMessage, GoalChange, Happening, RunOutcome, SessionRef,
    Signal, Urgency,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// The sessions of a history. The same bare key exists under two agents; everybody may act, watch
/// and be watched.
pub const SESSIONS: [(&str, &str); 7] = [
    (MAIN, "main"),
    (OPS, "ops"),
    (CHILD, "main"),
    (WORKER, "main"),
    (GROUP, "main"),
    ("global", "main"),
    ("global", "ops"),
];

/// Who tries to watch: plain, nested once and twice, and bare.
pub const WATCHERS: [&str; 6] =
    [MAIN, OPS, CHILD, "agent:main:subagent:child:subagent:b", WORKER, "global"];

/// Who acts, beside nobody in particular.
const ACTORS: [&str; 5] = [MAIN, OPS, CHILD, WORKER, "u7"];

/// One thing that happens. Keys are canonical; `Spelling` says how the gateway is told.
#[derive(Clone, Debug)]
pub enum Operation {
    Record(Box<Signal>, Spelling),
    RecordMany(Vec<Signal>),
    Watch {
        watcher: &'static str,
        target: usize,
        ambient: bool,
        spelling: Spelling,
    },
    Unwatch {
        watcher: &'static str,
        target: usize,
    },
    /// Shows a watcher's notices, and remembers them.
    Take(&'static str),
    /// Acknowledges some of the notices that were ever taken, the newest first.
    AcknowledgeTaken {
        watcher: &'static str,
        older: usize,
        most: usize,
    },
    /// Acknowledges what was perhaps never shown.
    Acknowledge {
        watcher: &'static str,
        target: usize,
        since: u64,
        up_to: u64,
    },
    Drain(&'static str),
    /// Moves the clock by so many ms.
    Clock(i64),
    Recover,
    Prune(Urgency),
    Reset(usize),
    Delete(usize),
    Restored,
    /// The process goes, and another one opens the store.
    Reopen,
}

/// How a key is written.
#[derive(Clone, Copy, Debug)]
pub enum Spelling {
    Canonical,
    /// In capitals, with white space around and an empty part.
    Messy,
}

impl Spelling {
    pub fn key(self, canonical: &str) -> String {
        match self {
            Self::Canonical => canonical.to_owned(),
            Self::Messy => format!(" {}: ", canonical.to_ascii_uppercase().replacen(':', "::", 1)),
        }
    }

    pub fn session(self, canonical: &SessionRef) -> SessionRef {
        SessionRef { key: self.key(&canonical.key), agent: canonical.agent.clone() }
    }

    pub fn signal(self, canonical: &Signal) -> Signal {
        let mut signal = canonical.clone();
        signal.session = self.session(&signal.session);
        signal.watchers = signal.watchers.iter().map(|key| self.key(key)).collect();
        if let Some(id) = &mut signal.actor.id
            && id.starts_with("agent:")
        {
            *id = self.key(id);
        }
        signal
    }
}

/// One of [`SESSIONS`], as a caller names it.
pub fn session_ref(at: usize) -> SessionRef {
    let (key, agent) = SESSIONS[at];
    SessionRef::new(key, agent)
}

/// Strategies say how long ago; the protocol wants a time.
pub fn at_its_time(signal: &Signal, now: u64) -> Signal {
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    let occurred_at = signal.occurred_at.map(|ago| now.saturating_sub(ago));
    Signal { occurred_at, ..signal.clone() }
}

/// As answers name it.
pub fn resolved(session: &SessionRef) -> headsup::Session {
    harness::session(&session.key, session.agent.as_deref().unwrap_or_default())
}

/// A store, what its policy is, and what happens to it.
#[derive(Clone, Debug)]
pub struct History {
    pub in_memory: bool,
    pub rows: u32,
    pub operations: Vec<Operation>,
}

pub fn histories() -> impl Strategy<Value = History> {
    let rows = select(vec![2, 5, 12, 50_000]);
    (prop::bool::weighted(0.3), rows, vec(episode(), 1..40)).prop_map(
        |(in_memory, rows, episodes)| History { in_memory, rows, operations: episodes.concat() },
    )
}

/// Mostly one thing; sometimes a few in a row that chance alone would seldom bring together.
pub fn episode() -> impl Strategy<Value = Vec<Operation>> {
    prop_oneof![
        30 => operation().prop_map(|operation| vec![operation]),
        1 => turn(),
        1 => rest(),
        1 => promotion(),
        1 => own_acts(),
    ]
}

/// Somebody else, then a watcher itself, changes what it watches several times in a row.
fn own_acts() -> impl Strategy<Value = Vec<Operation>> {
    (watcher(), session(), vec(signal(), 2..5)).prop_map(|(watcher, target, signals)| {
        let mut acts = vec![Operation::Watch {
            watcher,
            target,
            ambient: false,
            spelling: Spelling::Canonical,
        }];
        for (at, mut signal) in signals.into_iter().enumerate() {
            signal.session = session_ref(target);
            signal.happening = Happening::GoalChanged(GoalChange::Updated);
            signal.actor.id = Some(if at == 0 { "u7" } else { watcher }.into());
            acts.push(Operation::Record(Box::new(signal), Spelling::Canonical));
        }
        acts
    })
}

/// A watcher's turn takes its notices, and something happens before it acknowledges them.
fn turn() -> impl Strategy<Value = Vec<Operation>> {
    (watcher(), vec(signal(), 1..4)).prop_map(|(watcher, signals)| {
        let happens = |signal| Operation::Record(Box::new(signal), Spelling::Canonical);
        let mut turn = vec![Operation::Take(watcher)];
        turn.extend(signals.into_iter().map(happens));
        turn.push(Operation::AcknowledgeTaken { watcher, older: 0, most: 3 });
        turn
    })
}

/// Nobody does anything for a month; then the clock is believed an hour later.
fn rest() -> impl Strategy<Value = Vec<Operation>> {
    let clock = |ms: u64| Operation::Clock(i64::try_from(ms).unwrap_or(i64::MAX));
    Just(vec![
        clock(31 * DAY),
        Operation::Prune(Urgency::AtStart),
        clock(HOUR),
        Operation::Prune(Urgency::IfDue),
    ])
}

/// A notice is pending on an ambient watch when the watcher asks for it explicitly.
fn promotion() -> impl Strategy<Value = Vec<Operation>> {
    (watcher(), session(), signal()).prop_map(|(watcher, target, mut signal)| {
        signal.session = session_ref(target);
        let watch =
            |ambient| Operation::Watch { watcher, target, ambient, spelling: Spelling::Canonical };
        vec![
            watch(true),
            Operation::Record(Box::new(signal), Spelling::Canonical),
            Operation::Clock(60_000),
            watch(false),
        ]
    })
}

/// Mostly the same few, so that things happen to one pair again and again; the same key under two
/// agents among them.
fn session() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 2..4_usize, 2 => 5..7_usize, 2 => 0..SESSIONS.len()]
}

/// Likewise.
fn watcher() -> impl Strategy<Value = &'static str> {
    prop_oneof![3 => select(&WATCHERS[..2]), 2 => select(WATCHERS.as_slice())]
}

fn operation() -> impl Strategy<Value = Operation> {
    let spelling = prop_oneof![4 => Just(Spelling::Canonical), 1 => Just(Spelling::Messy)].boxed();
    prop_oneof![
        24 => (signal(), spelling.clone()).prop_map(|(signal, how)| Operation::Record(Box::new(signal), how)),
        3 => vec(signal(), 0..5).prop_map(Operation::RecordMany),
        10 => (watcher(), session(), any::<bool>(), spelling).prop_map(
            |(watcher, target, ambient, spelling)| {
                Operation::Watch { watcher, target, ambient, spelling }
            }
        ),
        4 => (watcher(), session())
            .prop_map(|(watcher, target)| Operation::Unwatch { watcher, target }),
        8 => watcher().prop_map(Operation::Take),
        8 => (watcher(), prop_oneof![3 => Just(0), 1 => 1..3usize], 1..4usize).prop_map(|(watcher, older, most)| {
            Operation::AcknowledgeTaken { watcher, older, most }
        }),
        2 => (watcher(), session(), 0..20u64, 0..30u64).prop_map(
            |(watcher, target, since, up_to)| {
                Operation::Acknowledge { watcher, target, since, up_to }
            }
        ),
        6 => watcher().prop_map(Operation::Drain),
        10 => clock_move().prop_map(Operation::Clock),
        2 => Just(Operation::Recover),
        5 => select(vec![Urgency::IfDue, Urgency::AtStart]).prop_map(Operation::Prune),
        1 => session().prop_map(Operation::Reset),
        2 => session().prop_map(Operation::Delete),
        1 => Just(Operation::Restored),
        3 => Just(Operation::Reopen),
    ]
}

fn clock_move() -> impl Strategy<Value = i64> {
    let ms = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
    select(vec![
        1,
        ms(19 * SECOND),
        ms(20 * SECOND),
        ms(15 * MINUTE),
        ms(HOUR),
        ms(HOUR),
        ms(DAY - HOUR),
        ms(DAY + 1),
        ms(8 * DAY),
        ms(31 * DAY),
        ms(31 * DAY),
        -1,
        -ms(30 * SECOND),
        -ms(HOUR),
        -ms(2 * DAY),
        -ms(40 * DAY),
    ])
}

prop_compose! {
    fn signal()(
        session in session(),
        happening in happening(),
        type_ in select(vec![ActorType::Human, ActorType::Agent, ActorType::System]),
        id in option::weighted(0.6, select(ACTORS.as_slice())),
        watchers in prop_oneof![3 => vec(select(WATCHERS.as_slice()), 0..1), 1 => vec(select(WATCHERS.as_slice()), 0..4)],
        run in select(vec!["r1", "r2", "r3", "r4", "r5", "r6"]),
        session_id in option::weighted(0.3, select(vec!["s1", "s2"])),
        dedupe_key in option::weighted(0.2, select(vec!["k1", "k2", "run-terminal:r1"])),
        occurred_ago in option::weighted(0.3, select(vec![-5_000i64, 0, 1, 3_600_000, 90_000_000, i64::MAX])),
    ) -> Signal {
        // Only a human sends a human direct message.
        let type_ = match happening {
            Happening::HumanDirectMessage(_) => ActorType::Human,
            _ => type_,
        };
        Signal {
            session: session_ref(session),
            happening,
            actor: Actor { type_, id: id.map(Into::into) },
            session_id: session_id.map(Into::into),
            run_id: Some(run.into()),
            // Made absolute when it is recorded.
            occurred_at: occurred_ago,
            dedupe_key: dedupe_key.map(Into::into),
            watchers: watchers.into_iter().map(Into::into).collect(),
        }
    }
}

fn happening() -> impl Strategy<Value = Happening> {
    let channel = option::of(select(vec!["telegram", "cli"]));
    let change = select(vec![GoalChange::Created, GoalChange::Updated, GoalChange::Cleared]);
    let outcome = select(vec![RunOutcome::Error, RunOutcome::Timeout, RunOutcome::Cancelled]);
    prop_oneof![
        6 => (channel, option::of(1..4u32)).prop_map(|(channel, turns)| {
            let channel = channel.map(Into::into);
            Happening::HumanDirectMessage(DirectMessage { channel, turns })
        }),
        1 => Just(Happening::UpstreamMissing("codex".into())),
        6 => change.prop_map(Happening::GoalChanged),
        4 => Just(Happening::ChildSpawned),
        1 => Just(Happening::RunCompleted),
        1 => outcome.prop_map(Happening::RunFailed),
        1 => select(vec!["op1", "op2"]).prop_map(|id| Happening::Compacted(id.into())),
        1 => Just(Happening::Adopted(Adoption { catalog: "claude".into(), host: None })),
        1 => Just(Happening::Created),
    ]
}
