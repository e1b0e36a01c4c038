//! The template of a core of one's own: one rule differs, everywhere, and nothing else.

use harness::{CHILD, MAIN, OPS, plugins};
use headsup::conformance;
use headsup::{Actor, Awareness, GoalChange, Notice, Plugin, Recording, Signal};
use serde_json::{Value, json};
use tempfile::tempdir;

use crate::cores;
use crate::stage;

fn goal(actor: Actor) -> Signal {
    Signal::goal_changed(CHILD, GoalChange::Updated, actor)
}

/// A store in memory where [`OPS`] watches [`CHILD`].
fn watched(core: &Plugin) -> Awareness {
    let (awareness, _) = stage::open(":memory:".as_ref(), core, |builder| builder);
    awareness.watch(OPS, CHILD, false).unwrap();
    awareness
}

fn taken(awareness: &Awareness) -> Vec<(u64, u64)> {
    let notices = awareness.take(OPS).unwrap();
    notices.iter().map(|Notice { since, up_to, .. }| (*since, *up_to)).collect()
}

/// The result of a call by JSON.
fn answer(awareness: &Awareness, method: &str, params: &Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let response = awareness.call(&request.to_string()).unwrap();
    serde_json::from_str::<Value>(&response).unwrap()["result"].clone()
}

#[test]
fn the_check_tells_exactly_the_vectors_whose_rule_was_changed() {
    let report = conformance::check(&cores::template()).unwrap();
    let found: Vec<[String; 2]> =
        report.differences.into_iter().map(|it| [it.file, it.rule]).collect();
    let expected = plugins::differences(&cores::template_folder());
    assert_eq!((found, expected.len()), (expected.clone(), 4));
}

#[test]
fn its_own_tests_pass_on_this_machine() {
    let mut cargo = plugins::cargo(&cores::template_folder());
    // What is built for building alone is shared with the component's own build.
    cargo.args(["test", "--release", "--locked", "--quiet", "--target-dir"]).arg(plugins::target());
    let tested = cargo.output().unwrap();
    let said = String::from_utf8_lossy(&tested.stdout);
    assert!(tested.status.success(), "{said}{}", String::from_utf8_lossy(&tested.stderr));
    assert!(said.contains("3 passed"), "{said}");
}

#[test]
fn a_goal_changed_by_a_main_agent_is_recorded_and_tells_nobody() {
    let awareness = watched(&cores::template());
    assert_eq!(awareness.record(goal(Actor::agent(MAIN))).unwrap(), Recording::Recorded(1));
    assert_eq!(taken(&awareness), []);
    let entry = &awareness.watches_of(OPS).unwrap()[0];
    assert_eq!((entry.material, entry.pending, entry.state_version), (0, false, Some(1)));
    assert_eq!(awareness.changes_since(CHILD, 0, None).unwrap().events.len(), 1);

    assert_eq!(awareness.record(goal(Actor::human())).unwrap(), Recording::Recorded(2));
    assert_eq!(taken(&awareness), [(0, 2)], "a person's change is news");
}

#[test]
fn so_is_one_that_json_records() {
    let awareness = watched(&cores::template());
    let call = |method, params| answer(&awareness, method, &params);
    let record = |actor: Value| {
        let signal =
            json!({"session": CHILD, "kind": "goal_changed", "actor": actor, "change": "updated"});
        call("record", signal)
    };
    let recorded = |version| json!({"outcome": "recorded", "stateVersion": version});
    assert_eq!(record(json!({"type": "agent", "id": MAIN})), recorded(1));
    assert_eq!(call("take", json!({"watcher": OPS})), json!({"notices": []}));
    assert_eq!(record(json!({"type": "human", "id": MAIN})), recorded(2));
    assert_eq!(call("take", json!({"watcher": OPS}))["notices"][0]["upTo"], 2);
}

#[test]
fn it_gives_no_cursor_to_watchers_that_are_named() {
    let (awareness, _) = stage::open(":memory:".as_ref(), &cores::template(), |builder| builder);
    awareness.record(goal(Actor::agent(MAIN)).watcher(OPS)).unwrap();
    assert_eq!(awareness.watches_of(OPS).unwrap(), []);
    awareness.record(goal(Actor::human()).watcher(OPS)).unwrap();
    assert_eq!(taken(&awareness), [(0, 2)]);
}

#[test]
fn an_acknowledgement_and_a_recovery_do_not_make_it_news() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("headsup.db");
    let open = || stage::open(&path, &cores::template(), |builder| builder).0;
    let awareness = open();
    awareness.watch(OPS, CHILD, false).unwrap();
    awareness.record(goal(Actor::human())).unwrap();
    awareness.record(goal(Actor::agent(MAIN))).unwrap();
    let drained = awareness.drain(OPS).unwrap();
    assert_eq!((drained.notices.len(), drained.reopened.len()), (1, 0));
    awareness.record(goal(Actor::agent(MAIN))).unwrap();
    drop(awareness);
    assert_eq!(taken(&open()), [], "opening a store recovers");
}

#[test]
fn adopted_sessions_notify_as_always() {
    let awareness = watched(&cores::template());
    let call = |method, params| answer(&awareness, method, &params);
    let source = json!({"kind": "claude-node", "node": "n1", "thread": "t1"});
    let adoption = json!({"session": CHILD, "source": source, "catalog": "claude"});
    assert_eq!(call("adopt", adoption)["adopted"], true);
    awareness.set_clock(1_790_000_100_000).unwrap();
    let plan = call("planUpstreams", json!({}))["plans"][0].clone();
    call("feedUpstream", json!({"plan": plan, "items": []}));
    awareness.set_clock(1_790_000_200_000).unwrap();
    let plan = call("planUpstreams", json!({}))["plans"][0].clone();
    let row = json!({"type": "user", "uuid": "u1", "timestamp": "2026-09-21T14:16:40.000Z",
        "message": {"role": "user", "content": "hello"}});
    let fed = call("feedUpstream", json!({"plan": plan, "items": [row]}));
    assert_eq!(fed["finding"], "activity", "{fed}");
    assert_eq!(taken(&awareness), [(0, 2)]);
}

#[test]
fn the_rule_comes_and_goes_with_the_core_at_run_time() {
    let built_in = Plugin::built_in(cores::engine()).unwrap();
    let awareness = watched(&built_in);
    let acts = || awareness.record(goal(Actor::agent(MAIN))).unwrap();
    let news = || awareness.drain(OPS).unwrap().notices.len();

    acts();
    assert_eq!(news(), 1);
    awareness.swap(&cores::template());
    assert_eq!(awareness.metadata().name, "plugin-template");
    acts();
    assert_eq!(news(), 0);
    awareness.swap(&built_in);
    assert_eq!(news(), 0, "what did not notify then does not now");
    acts();
    assert_eq!(news(), 1);
}
