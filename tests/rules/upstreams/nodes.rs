//! Section 9: threads on a paired node, which the gateway reads and feeds.

use harness::{CHILD, Gateway, MAIN, MINUTE};
use serde_json::{Value, json};

use super::transcript::{said, turns_of, typed};

/// A gateway whose `CHILD`, watched by `MAIN`, lives in a thread on a node.
struct Node(Gateway);

impl Node {
    fn adopted() -> Self {
        let gateway = Gateway::open();
        gateway.watches(MAIN, CHILD);
        let source = json!({"kind": "claude-node", "node": "mac-1", "thread": "t-1"});
        let params = json!({"session": CHILD, "source": source, "catalog": "claude"});
        assert_eq!(gateway.answer("adopt", &params), json!({"adopted": true, "stateVersion": 1}));
        Self(gateway)
    }

    /// The plan of the next minute.
    #[track_caller]
    fn plan(&self) -> Value {
        self.0.passes(MINUTE);
        let answer = self.0.answer("planUpstreams", &json!({}));
        let plans = answer["plans"].as_array().unwrap();
        assert_eq!(plans.len(), 1, "{answer}");
        plans[0].clone()
    }

    /// What a check answers that found these items.
    #[track_caller]
    fn finds(&self, items: &[String]) -> Value {
        let items: Vec<Value> =
            items.iter().map(|item| serde_json::from_str(item).unwrap()).collect();
        self.0.answer("feedUpstream", &json!({"plan": self.plan(), "items": items}))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.0.news());
    }
}

#[test]
fn the_plan_names_the_thread_and_how_many_of_its_newest_items_to_read() {
    let node = Node::adopted();
    let plan = node.plan();
    assert_eq!(plan["session"], json!({"key": CHILD, "agent": "main"}));
    assert_eq!(plan["source"], json!({"kind": "claude-node", "node": "mac-1", "thread": "t-1"}));
    assert_eq!(plan["items"], 50);
    let again = node.0.answer("planUpstreams", &json!({}));
    assert_eq!(again, json!({"plans": []}), "claimed for a minute");
}

#[test]
fn the_first_items_are_history_and_those_after_the_last_one_are_new() {
    let node = Node::adopted();
    let mut items = vec![typed("one", 1), said("two", 2)];
    assert_eq!(node.finds(&items), json!({"finding": "quiet"}));
    items.extend([typed("three", 3), typed("four", 4)]);
    assert_eq!(node.finds(&items), json!({"finding": "activity", "turns": 2, "stateVersion": 2}));
    assert_eq!(node.finds(&items), json!({"finding": "quiet"}));
}

#[test]
fn a_last_item_that_is_not_among_them_makes_all_of_them_new() {
    let node = Node::adopted();
    node.finds(&[typed("one", 1)]);
    let items: Vec<String> = (2..52).map(|second| typed("more", second)).collect();
    assert_eq!(node.finds(&items)["turns"], 50);
}

#[test]
fn items_are_known_by_their_uuid_however_they_are_written() {
    let node = Node::adopted();
    let row = typed("one", 1);
    node.finds(std::slice::from_ref(&row));
    let mut spaced: Value = serde_json::from_str(&row).unwrap();
    spaced["more"] = json!(true);
    assert_eq!(node.finds(&[spaced.to_string()]), json!({"finding": "quiet"}));
}

#[test]
fn an_item_may_be_given_as_its_json_text() {
    let node = Node::adopted();
    node.finds(&[]);
    let params = json!({"plan": node.plan(), "items": [typed("one", 1), "no row"]});
    assert_eq!(node.0.answer("feedUpstream", &params)["turns"], 1);
}

#[test]
fn a_node_that_says_so_three_times_is_missing_and_one_that_cannot_be_asked_is_not() {
    let node = Node::adopted();
    let feed = |member: &str| {
        let params = json!({"plan": node.plan(), member: true});
        node.0.answer("feedUpstream", &params)["finding"].clone()
    };
    assert_eq!(feed("missing"), "missed");
    assert_eq!(feed("unavailable"), "unavailable");
    assert_eq!(feed("missing"), "missed");
    assert_eq!(feed("unavailable"), "unavailable");
    assert_eq!(feed("missing"), "missing");
    assert_eq!(node.0.answer("planUpstreams", &json!({})), json!({"plans": []}));
}

#[test]
fn a_plan_that_is_not_the_last_one_writes_nothing() {
    let node = Node::adopted();
    let old = node.plan();
    node.finds(&[typed("one", 1)]);
    let params =
        json!({"plan": old, "items": [serde_json::from_str::<Value>(&typed("two", 2)).unwrap()]});
    assert_eq!(node.0.answer("feedUpstream", &params), json!({"finding": "superseded"}));
    assert_eq!(turns_of(&node.0), [0; 0]);
}

#[test]
fn a_feed_says_what_was_found_and_nothing_else() {
    let node = Node::adopted();
    let plan = node.plan();
    for (params, reason, field) in [
        (json!({"plan": plan}), "missing-field", "params.items"),
        (json!({"plan": plan, "missing": false}), "unknown-value", "params.missing"),
        (json!({"plan": plan, "items": [], "missing": true}), "unknown-field", "params.items"),
        (json!({"plan": plan, "items": [7]}), "wrong-type", "params.items[0]"),
        (json!({"plan": plan, "items": vec!["{}"; 1_001]}), "too-many", "items"),
        (json!({"items": []}), "missing-field", "params.plan"),
        (json!({"plan": {"session": CHILD}, "items": []}), "missing-field", "params.plan.source"),
    ] {
        let refusal = node.0.refusal("feedUpstream", &params);
        assert_eq!(refusal.0, reason, "{params}");
        assert!(refusal.1.ends_with(field.trim_start_matches("params.")), "{refusal:?} {field}");
    }
}

#[test]
fn a_host_that_reads_files_does_not_check_nodes() {
    let node = Node::adopted();
    assert_eq!(node.0.check_upstreams().unwrap().checked, 0);
}
