//! Keys: the canonical form of a canonical key is itself, and the agent follows from it.

use headsup_component::contract::SessionRef;
use headsup_component::session::resolve;

use crate::driver::{corpus, fuzz};

/// The longest canonical key, in bytes.
const LONGEST: usize = 512;

fn resolved(key: &str, agent: Option<&str>) -> Option<(String, String)> {
    let given = SessionRef { key: key.to_owned(), agent: agent.map(ToOwned::to_owned) };
    resolve("session", &given).ok().map(|it| (it.key, it.agent))
}

#[test]
fn a_canonical_key_stays_what_it_is_and_its_agent_follows_from_it() {
    fuzz("keys", &corpus("keys"), |input| {
        let key = String::from_utf8_lossy(input);
        for agent in [None, Some("main"), Some("ops")] {
            let Some((canonical, of)) = resolved(&key, agent) else { continue };
            assert!((1..=LONGEST).contains(&canonical.len()), "{canonical:?}");
            assert!(!canonical.chars().any(char::is_control), "{canonical:?}");
            let again = resolved(&canonical, agent);
            assert_eq!(again, Some((canonical.clone(), of.clone())), "{key:?}");
            if let Some(rest) = canonical.strip_prefix("agent:") {
                assert_eq!(rest.split(':').next(), Some(of.as_str()), "{canonical:?}");
                assert_eq!(resolved(&canonical, None), again, "the agent is not needed");
                let other = if of == "zz" { "yy" } else { "zz" };
                assert_eq!(resolved(&canonical, Some(other)), None, "another agent's");
            } else {
                assert_eq!(Some(of.as_str()), agent, "{canonical:?}");
            }
        }
    });
}
