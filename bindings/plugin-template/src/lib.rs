//! A core for headsup that differs from the built-in one in a single rule: when the main session of
//! an agent changes a goal, which is its work, nobody is told. It is recorded all the same.
#![cfg_attr(target_family = "wasm", no_std)]

use headsup_component::contract::{ActorType, Kind, Session};
use headsup_component::rules::{Protocol, Rules};
use headsup_component::session::Key;

/// The rules of this core: the protocol's, but for what is written here.
pub struct MyRules;

headsup_component::export_core!(MyRules);

impl Rules for MyRules {
    const NAME: &'static str = env!("CARGO_PKG_NAME");
    const VERSION: &'static str = env!("CARGO_PKG_VERSION");

    fn notifies(kind: Kind, session: &Session, actor: ActorType, actor_id: Option<&str>) -> bool {
        let plans = kind == Kind::GoalChanged && actor == ActorType::Agent;
        if plans && actor_id.is_some_and(is_main_session) {
            return false;
        }
        Protocol::notifies(kind, session, actor, actor_id)
    }
}

/// Whether this is the main session of some agent: `agent:<agent-id>:main`.
fn is_main_session(id: &str) -> bool {
    let rest = |key: &Key| {
        let after = key.as_str().strip_prefix("agent:")?.strip_prefix(key.agent()?)?;
        Some(after == ":main")
    };
    Key::parse("actor.id", id).is_ok_and(|key| rest(&key) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notifies(kind: Kind, actor: ActorType, id: &str) -> bool {
        let session = Session { key: "agent:main:worker".into(), agent: "main".into() };
        MyRules::notifies(kind, &session, actor, Some(id))
    }

    #[test]
    fn a_goal_that_a_main_agent_changed_tells_nobody() {
        assert!(!notifies(Kind::GoalChanged, ActorType::Agent, "agent:main:main"));
        assert!(!notifies(Kind::GoalChanged, ActorType::Agent, "agent:ops:main"));
    }

    #[test]
    fn a_goal_that_anybody_else_changed_does() {
        for (actor, id) in [
            (ActorType::Human, "ana"),
            (ActorType::Human, "agent:main:main"),
            (ActorType::System, "agent:main:main"),
            (ActorType::Agent, "agent:main:subagent:main"),
            (ActorType::Agent, "agent:main:telegram:main"),
            (ActorType::Agent, "agent::main"),
            (ActorType::Agent, "main"),
        ] {
            assert!(notifies(Kind::GoalChanged, actor, id), "{actor:?} {id}");
        }
    }

    #[test]
    fn every_other_kind_is_as_the_protocol_says() {
        for (kind, word) in Kind::WORDS.into_iter().filter(|(kind, _)| *kind != Kind::GoalChanged) {
            let session = Session { key: "agent:main:worker".into(), agent: "main".into() };
            let main = Some("agent:main:main");
            let protocol = Protocol::notifies(kind, &session, ActorType::Agent, main);
            assert_eq!(notifies(kind, ActorType::Agent, "agent:main:main"), protocol, "{word}");
        }
    }
}
