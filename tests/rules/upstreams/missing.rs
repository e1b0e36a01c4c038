//! Section 9: sources that are not there, and those that only cannot be read.

use std::fs;

use harness::{CHILD, MAIN};
use headsup::{Found, Kind, Reader};

use super::transcript::{ACTIVE, GONE, QUIET, Transcript, typed};

fn kinds(transcript: &Transcript) -> Vec<Kind> {
    let delta = transcript.gateway.changes_since(CHILD, 0, None).unwrap();
    delta.events.iter().map(|event| event.kind).collect()
}

#[test]
fn the_third_definitive_miss_in_a_row_is_recorded_once_and_ends_the_link() {
    let transcript = Transcript::adopted(&[]);
    fs::remove_file(&transcript.path).unwrap();
    for _ in 0..2 {
        assert_eq!(transcript.checks(), GONE);
        assert_eq!(kinds(&transcript), [Kind::Adopted]);
    }
    assert_eq!(transcript.checks(), GONE);
    assert_eq!(kinds(&transcript), [Kind::Adopted, Kind::UpstreamMissing]);
    transcript
        .gateway
        .hears(["notice agent:main:main: agent:main:subagent:child 0..2", "wake agent:main:main"]);
    assert_eq!(transcript.checks().checked, 0, "there is no link any more");
    let delta = transcript.gateway.changes_since(CHILD, 1, None).unwrap();
    assert_eq!(delta.events[0].summary, "upstream missing via claude");
}

#[test]
fn a_file_that_comes_back_after_one_or_two_misses_starts_the_count_again() {
    for misses in [1, 2] {
        let transcript = Transcript::adopted(&[typed("one", 1)]);
        let bytes = fs::read(&transcript.path).unwrap();
        for _ in 0..3 {
            fs::remove_file(&transcript.path).unwrap();
            for _ in 0..misses {
                assert_eq!(transcript.checks(), GONE);
            }
            fs::write(&transcript.path, &bytes).unwrap();
            assert_eq!(transcript.checks(), QUIET);
        }
        transcript.appends(&[typed("two", 2)]);
        assert_eq!(transcript.checks(), ACTIVE);
        assert_eq!(transcript.turns(), [1]);
    }
}

#[test]
fn what_is_no_regular_file_is_missing() {
    let transcript = Transcript::adopted(&[]);
    fs::remove_file(&transcript.path).unwrap();
    fs::create_dir(&transcript.path).unwrap();
    assert_eq!(transcript.checks(), GONE);
}

#[test]
fn a_failure_that_is_not_definitive_counts_neither_way() {
    let transcript = Transcript::adopted(&[]);
    fs::remove_file(&transcript.path).unwrap();
    assert_eq!(transcript.checks(), GONE);
    assert_eq!(transcript.checks(), GONE);
    let gateway = &transcript.gateway;
    for _ in 0..5 {
        let plan = gateway.plan_checks(headsup::Selection::All, Reader::File).unwrap().remove(0);
        let check = gateway.feed_upstream(&plan, Found::Unavailable("busy".into())).unwrap();
        assert_eq!(check.finding, headsup::Finding::Unavailable);
    }
    let link = gateway.links().unwrap().remove(0);
    assert_eq!((link.misses, link.trouble.as_deref()), (2, Some("busy")));
    assert_eq!(transcript.checks(), GONE, "the third in a row");
    assert_eq!(kinds(&transcript), [Kind::Adopted, Kind::UpstreamMissing]);
    drop(gateway.news());
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_that_leads_outside_by_now_is_unavailable_and_not_missing() {
    let transcript = Transcript::adopted(&[]);
    let outside = tempfile::TempDir::new().unwrap();
    let elsewhere = outside.path().join("x.jsonl");
    fs::write(&elsewhere, "").unwrap();
    fs::remove_file(&transcript.path).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &transcript.path).unwrap();
    for _ in 0..4 {
        let tally = transcript.checks();
        assert_eq!((tally.checked, tally.missing, tally.failed), (1, 0, 1));
    }
    assert_eq!(transcript.gateway.links().unwrap().len(), 1);
    assert_eq!(kinds(&transcript), [Kind::Adopted]);
}

#[test]
fn a_rollout_that_is_gone_is_missing_though_the_archive_may_not_be_read() {
    let home = tempfile::TempDir::new().unwrap();
    let sessions = home.path().join("sessions");
    let day = sessions.join("2026/11/30");
    fs::create_dir_all(&day).unwrap();
    let path = day.join("rollout-2026-11-30T10-00-00-0a1b.jsonl");
    fs::write(&path, "").unwrap();
    let builder = headsup::Awareness::builder(":memory:").manual_clock(harness::NOON);
    let gateway = harness::Gateway::with(builder.source_folders([&sessions]));
    gateway.watches(MAIN, CHILD);
    let source = headsup::Source::codex_file(path.to_str().unwrap());
    gateway.adopt(headsup::AdoptionRequest::new(CHILD, source, "codex")).unwrap();
    fs::remove_file(&path).unwrap();
    for _ in 0..3 {
        assert_eq!(gateway.check_upstreams().unwrap(), GONE);
    }
    assert!(gateway.links().unwrap().is_empty());
    drop(gateway.news());
}

#[test]
fn while_a_turn_runs_the_check_is_skipped_and_the_count_kept() {
    let transcript = Transcript::adopted(&[]);
    fs::remove_file(&transcript.path).unwrap();
    assert_eq!(transcript.checks(), GONE);
    transcript.gateway.busy(CHILD, true).unwrap();
    for _ in 0..4 {
        assert_eq!(transcript.checks().checked, 0);
    }
    transcript.gateway.busy(CHILD, false).unwrap();
    assert_eq!(transcript.checks(), GONE);
    assert_eq!(transcript.checks(), GONE);
    assert_eq!(kinds(&transcript), [Kind::Adopted, Kind::UpstreamMissing]);
    drop(transcript.gateway.news());
}

#[test]
fn adopted_again_it_may_be_missing_again() {
    let transcript = Transcript::adopted(&[]);
    for _ in 0..2 {
        fs::remove_file(&transcript.path).unwrap();
        for _ in 0..3 {
            assert_eq!(transcript.checks(), GONE);
        }
        transcript.replaces(&[]);
        assert!(transcript.adopts().adopted);
    }
    let missing = kinds(&transcript).into_iter().filter(|kind| *kind == Kind::UpstreamMissing);
    assert_eq!(missing.count(), 2);
    assert!(transcript.gateway.entry(MAIN, CHILD).unwrap().pending);
}
