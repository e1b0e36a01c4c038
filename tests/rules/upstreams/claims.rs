//! Section 9: one check at a time, once a minute over all processes, and nothing twice.

use harness::{CHILD, Gateway, MAIN, MINUTE, NOON, SECOND};
use headsup::{
    AdoptionRequest, Awareness, Error, Finding, Found, InvalidReason, Plan, Reader, Selection,
    Source,
};
use tempfile::TempDir;

use super::transcript::{Transcript, turns_of, typed};

fn due(gateway: &Gateway) -> Vec<Plan> {
    gateway.plan_checks(Selection::Due, Reader::File).unwrap()
}

/// What the file has for this plan.
fn found(transcript: &Transcript, plan: &Plan) -> Found {
    let read = plan.file.as_ref().unwrap();
    let bytes = std::fs::read(&transcript.path).unwrap();
    let start = usize::try_from(read.start).unwrap();
    Found::File(headsup::FileFound {
        // Of a file that was empty when it was adopted none is known yet.
        identity: "any".into(),
        stamp: None,
        size: bytes.len() as u64,
        modified_at: NOON,
        head: Vec::new(),
        start: read.start,
        bytes: bytes[start..].to_vec(),
    })
}

#[test]
fn a_link_is_planned_once_a_minute_over_all_processes() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("a.db");
    let path = folder.path().join("x.jsonl");
    std::fs::write(&path, "").unwrap();
    let open = || {
        let builder = Awareness::builder(&store).manual_clock(NOON);
        Gateway::with(builder.source_folders([folder.path()]))
    };
    let (one, other) = (open(), open());
    one.watches(MAIN, CHILD);
    let source = Source::claude_file(path.to_str().unwrap());
    one.adopt(AdoptionRequest::new(CHILD, source, "claude")).unwrap();
    assert_eq!(due(&one).len(), 1);
    assert_eq!((due(&one).len(), due(&other).len()), (0, 0), "claimed");
    for gateway in [&one, &other] {
        gateway.passes(58 * SECOND);
    }
    assert_eq!((due(&one).len(), due(&other).len()), (0, 0));
    for gateway in [&one, &other] {
        gateway.passes(2 * SECOND);
    }
    assert_eq!((due(&other).len(), due(&one).len()), (1, 0));
}

#[test]
fn who_cannot_read_a_source_stands_in_the_way_of_no_other_process() {
    let transcript = Transcript::adopted(&[]);
    transcript.appends(&[typed("hello", 1)]);
    let gateway = &transcript.gateway;
    // Another process claims it, and cannot read it, while this one is about to.
    let ours = gateway.plan_checks(Selection::All, Reader::File).unwrap().remove(0);
    let theirs = gateway.plan_checks(Selection::All, Reader::File).unwrap().remove(0);
    let check = gateway.feed_upstream(&theirs, Found::Unavailable("not mine".into())).unwrap();
    assert_eq!(check.finding, Finding::Unavailable);
    assert_eq!(due(gateway).len(), 1, "the claim was given back");
    let check = gateway.feed_upstream(&ours, found(&transcript, &ours)).unwrap();
    assert_eq!(check.finding, Finding::Activity, "and nothing that was planned is superseded");
    assert_eq!(due(gateway).len(), 0);
}

#[test]
fn a_claim_of_a_clock_that_was_set_back_counts_for_nothing() {
    let transcript = Transcript::adopted(&[]);
    assert_eq!(due(&transcript.gateway).len(), 1);
    transcript.gateway.set_clock(NOON - 5 * MINUTE).unwrap();
    assert_eq!(due(&transcript.gateway).len(), 1);
}

#[test]
fn of_two_checks_of_one_plan_the_first_counts() {
    let transcript = Transcript::adopted(&[]);
    transcript.appends(&[typed("hello", 1)]);
    let plan = transcript.gateway.plan_checks(Selection::All, Reader::File).unwrap().remove(0);
    let found = found(&transcript, &plan);
    let check = transcript.gateway.feed_upstream(&plan, found.clone()).unwrap();
    assert_eq!((check.finding, check.turns, check.state_version), (Finding::Activity, 1, Some(2)));
    let check = transcript.gateway.feed_upstream(&plan, found).unwrap();
    assert_eq!((check.finding, check.turns, check.state_version), (Finding::Superseded, 0, None));
    assert_eq!(transcript.turns(), [1]);
}

#[test]
fn a_link_that_was_refreshed_replaced_or_removed_wins_over_a_check_in_flight() {
    let refresh = |transcript: &Transcript| assert!(!transcript.adopts().adopted);
    let replace = |transcript: &Transcript| {
        let other = super::transcript::beside(&transcript.path, "other.jsonl");
        std::fs::write(&other, "").unwrap();
        let source = Source::claude_file(other.to_str().unwrap());
        transcript.gateway.adopt(AdoptionRequest::new(CHILD, source, "claude")).unwrap();
    };
    let remove =
        |transcript: &Transcript| assert_eq!(transcript.gateway.delete(CHILD).unwrap().events, 1);
    let anew = |transcript: &Transcript| {
        transcript.gateway.delete(CHILD).unwrap();
        transcript.adopts();
    };
    let changes: [&dyn Fn(&Transcript); 4] = [&refresh, &replace, &remove, &anew];
    for change in changes {
        let transcript = Transcript::adopted(&[]);
        transcript.appends(&[typed("hello", 1)]);
        let plan = transcript.gateway.plan_checks(Selection::All, Reader::File).unwrap().remove(0);
        let found = found(&transcript, &plan);
        change(&transcript);
        let check = transcript.gateway.feed_upstream(&plan, found).unwrap();
        assert_eq!(check.finding, Finding::Superseded);
        assert_eq!(turns_of(&transcript.gateway), [0; 0]);
    }
}

#[test]
fn a_turn_that_began_meanwhile_supersedes_a_check_in_flight() {
    let transcript = Transcript::adopted(&[]);
    transcript.appends(&[typed("hello", 1)]);
    let plan = transcript.gateway.plan_checks(Selection::All, Reader::File).unwrap().remove(0);
    let found = found(&transcript, &plan);
    transcript.gateway.busy(CHILD, true).unwrap();
    let check = transcript.gateway.feed_upstream(&plan, found).unwrap();
    assert_eq!(check.finding, Finding::Superseded);
    transcript.gateway.busy(CHILD, false).unwrap();
    transcript.checks();
    assert_eq!(transcript.turns(), [1], "read again later");
}

#[test]
fn what_was_not_planned_is_refused_and_changes_nothing() {
    let transcript = Transcript::adopted(&[typed("history", 1)]);
    transcript.appends(&[typed("hello", 2)]);
    let gateway = &transcript.gateway;
    let plan = gateway.plan_checks(Selection::All, Reader::File).unwrap().remove(0);
    let Found::File(mut file) = found(&transcript, &plan) else { unreachable!() };
    file.start += 1;
    for (found, reason, field) in [
        (Found::File(file), InvalidReason::OutOfRange, "found.start"),
        (Found::Items(Vec::new()), InvalidReason::WrongType, "found"),
    ] {
        match gateway.feed_upstream(&plan, found) {
            Err(Error::Invalid(refusal)) => {
                assert_eq!((refusal.reason, refusal.field.as_str()), (reason, field));
            }
            other => panic!("not refused: {other:?}"),
        }
    }
    transcript.checks();
    assert_eq!(transcript.turns(), [1]);
}
