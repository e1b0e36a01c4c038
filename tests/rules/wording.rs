//! Section 6: what a notice says.

use harness::{CHILD, Gateway, MAIN, NOON, bare};
use headsup::{Notice, Policy};
use serde_json::json;
use tempfile::TempDir;

use crate::human;
use crate::notices::{TEXT_SINCE_1, parent_and_child, past};

#[test]
fn the_notice_names_the_session_and_the_exact_call() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD));
    let notices = gateway.take(MAIN).unwrap();
    let expected = Notice {
        target: harness::session(CHILD, "main"),
        since: 1,
        up_to: 2,
        text: TEXT_SINCE_1.into(),
    };
    assert_eq!(notices, [expected]);
    past(&gateway);
}

#[test]
fn for_a_bare_key_the_call_has_the_agent() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, bare("glo\"bal", "ops"));
    gateway.records(human(bare("glo\"bal", "ops")));
    assert_eq!(
        gateway.take(MAIN).unwrap()[0].text,
        r#"Session "glo\"bal" was changed by someone else. Catch up before acting: session_status {"sessionKey":"glo\"bal","agentId":"ops","changesSince":0}"#
    );
    past(&gateway);
}

#[test]
fn the_call_in_the_notice_is_a_tool_call_that_works() {
    let gateway = parent_and_child();
    gateway.records(human(CHILD).channel("telegram"));
    let text = gateway.drain(MAIN).unwrap().notices[0].text.clone();
    let arguments = text.split_once("session_status ").unwrap().1;
    let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap();
    let params = json!({"name": "session_status", "arguments": arguments, "caller": {"key": MAIN}});
    let answer = gateway.answer("callTool", &params);
    let events = &answer["structuredContent"]["stateChanges"]["events"];
    assert_eq!(events[0]["summary"], "human message via telegram");
    past(&gateway);
}

#[test]
fn the_sentence_around_the_call_may_be_set_and_the_call_never_changes() {
    let gateway = parent_and_child();
    let template = "{session} geändert, zuerst {call} (sonst {weiter})";
    let policy = Policy { notice_template: template.into(), ..gateway.policy().unwrap() };
    gateway.set_policy(policy).unwrap();
    gateway.records(human(CHILD));
    past(&gateway);
    assert_eq!(
        gateway.take(MAIN).unwrap()[0].text,
        r#""agent:main:subagent:child" geändert, zuerst session_status {"sessionKey":"agent:main:subagent:child","changesSince":1} (sonst {weiter})"#
    );
}

#[test]
fn the_template_is_kept_in_the_store() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("store.db");
    let gateway = Gateway::on(&path, NOON);
    let policy = Policy { notice_template: "! {call}".into(), ..gateway.policy().unwrap() };
    gateway.set_policy(policy).unwrap();
    drop(gateway);
    let gateway = Gateway::on(&path, NOON);
    gateway.records(human(CHILD).watcher(MAIN));
    assert!(gateway.take(MAIN).unwrap()[0].text.starts_with("! session_status {"));
    past(&gateway);
}

#[test]
fn a_template_without_the_call_or_of_more_than_one_line_is_refused() {
    let gateway = parent_and_child();
    for template in ["look at {session}", "{call}\nand", &format!("{{call}}{}", "x".repeat(995))] {
        let policy = Policy { notice_template: template.into(), ..gateway.policy().unwrap() };
        let Err(headsup::Error::Invalid(refused)) = gateway.set_policy(policy) else {
            panic!("{template:?} was accepted")
        };
        assert_eq!(refused.reason, headsup::InvalidReason::InvalidTemplate);
    }
}

#[test]
fn a_key_that_looks_like_a_placeholder_stays_what_it_is() {
    let gateway = Gateway::open();
    gateway.watches(MAIN, bare("{call}", "ops"));
    gateway.records(human(bare("{call}", "ops")));
    let text = &gateway.take(MAIN).unwrap()[0].text;
    assert!(text.starts_with(r#"Session "{call}" was changed"#), "{text}");
    past(&gateway);
}
