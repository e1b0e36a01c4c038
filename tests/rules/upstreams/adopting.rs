//! Section 9: adopting starts at the source's present end.

use harness::{CHILD, Gateway, MAIN, MINUTE, OPS};
use headsup::{AdoptionRequest, Awareness, Error, InvalidReason, Signal, Source};

use super::transcript::{ACTIVE, QUIET, Transcript, said, typed};
use crate::spawn;

#[track_caller]
fn refused(gateway: &Gateway, request: AdoptionRequest) -> (InvalidReason, String) {
    match gateway.adopt(request) {
        Err(Error::Invalid(refusal)) => (refusal.reason, refusal.field),
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn adopting_is_recorded_with_the_catalog_and_the_host() {
    let transcript = Transcript::new(&[]);
    let request = AdoptionRequest::new(CHILD, transcript.source(), " claude ").host("mac-1");
    let adopted = transcript.gateway.adopt(request).unwrap();
    assert!(adopted.adopted);
    assert_eq!(adopted.state_version, 1);
    let delta = transcript.gateway.changes_since(CHILD, 0, None).unwrap();
    assert_eq!(delta.events[0].summary, "session adopted from claude");
    assert_eq!(delta.events[0].payload.as_deref(), Some(r#"{"channel":"claude","host":"mac-1"}"#));
}

#[test]
fn history_is_never_reported() {
    let transcript = Transcript::adopted(&[typed("one", 1), said("two", 2), typed("three", 3)]);
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends(&[typed("four", 4)]);
    assert_eq!(transcript.checks(), ACTIVE);
    assert_eq!(transcript.turns(), [1]);
}

#[test]
fn a_half_written_last_line_belongs_to_the_future() {
    let transcript = Transcript::new(&[typed("one", 1)]);
    let row = typed("two", 2);
    transcript.appends_bytes(&row.as_bytes()[..20]);
    transcript.gateway.watches(MAIN, CHILD);
    transcript.adopts();
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends_bytes(&row.as_bytes()[20..]);
    assert_eq!(transcript.checks(), QUIET);
    transcript.appends_bytes(b"\n");
    assert_eq!(transcript.checks(), ACTIVE);
}

#[test]
fn a_half_written_last_line_of_several_mib_belongs_to_the_future() {
    let transcript = Transcript::new(&[typed("one", 1)]);
    let row = typed(&"x".repeat(5 << 20), 2);
    transcript.appends_bytes(&row.as_bytes()[..3 << 20]);
    transcript.gateway.watches(MAIN, CHILD);
    transcript.adopts();
    transcript.appends_bytes(&row.as_bytes()[3 << 20..]);
    transcript.appends_bytes(b"\n");
    // The window grows from 1 to 8 MiB.
    for _ in 0..3 {
        assert_eq!(transcript.checks(), QUIET);
    }
    assert_eq!(transcript.checks(), ACTIVE);
}

#[test]
fn adopting_again_from_the_same_source_keeps_the_position() {
    let transcript = Transcript::adopted(&[typed("one", 1)]);
    transcript.appends(&[typed("two", 2)]);
    let again = transcript.adopts();
    assert!(!again.adopted);
    assert_eq!(again.state_version, 1);
    assert_eq!(transcript.checks(), ACTIVE, "what came in between is not history");
}

#[test]
fn the_same_file_by_another_path_is_the_same_source() {
    let transcript = Transcript::adopted(&[typed("one", 1)]);
    let folder = transcript.folder.path().to_str().unwrap();
    for (path, second) in [("/./3f2a.jsonl", 2), ("//3f2a.jsonl", 3)] {
        transcript.appends(&[typed("more", second)]);
        let source = Source::claude_file(format!("{folder}{path}"));
        let request = AdoptionRequest::new(CHILD, source, "claude");
        assert!(!transcript.gateway.adopt(request).unwrap().adopted, "{path}");
        assert_eq!(transcript.checks(), ACTIVE, "{path}");
    }
}

#[test]
fn another_source_starts_over_at_its_end_and_is_another_adoption() {
    let transcript = Transcript::adopted(&[typed("one", 1)]);
    let other = super::transcript::beside(&transcript.path, "other.jsonl");
    std::fs::write(&other, typed("elsewhere", 9) + "\n").unwrap();
    let source = Source::claude_file(other.to_str().unwrap());
    let adopted = transcript.gateway.adopt(AdoptionRequest::new(CHILD, source, "claude")).unwrap();
    assert!(adopted.adopted);
    assert_eq!(adopted.state_version, 2, "recorded again: the key has another generation");
    assert_eq!(transcript.checks(), QUIET);
}

#[test]
fn adopting_after_the_link_is_gone_is_another_adoption() {
    let transcript = Transcript::adopted(&[]);
    transcript.gateway.delete(CHILD).unwrap();
    let adopted = transcript.adopts();
    assert!(adopted.adopted);
    assert_eq!(adopted.state_version, 2);
}

#[test]
fn a_recorded_adoption_takes_the_links_generation_as_its_key_and_none_without_a_link() {
    let transcript = Transcript::adopted(&[]);
    let adopted = || {
        let signal = Signal::adopted(CHILD, "claude", headsup::Actor::system());
        transcript.gateway.record(signal).unwrap()
    };
    assert_eq!(adopted(), headsup::Recording::Duplicate(1));
    transcript.gateway.delete(CHILD).unwrap();
    assert_eq!(adopted(), headsup::Recording::Recorded(2));
    assert_eq!(adopted(), headsup::Recording::Recorded(3));
}

#[test]
fn two_agents_may_adopt_the_same_thread() {
    let transcript = Transcript::adopted(&[]);
    let gateway = &transcript.gateway;
    let request = AdoptionRequest::new("agent:ops:worker", transcript.source(), "claude");
    assert!(gateway.adopt(request).unwrap().adopted);
    gateway.watches(OPS, "agent:ops:worker");
    transcript.appends(&[typed("hello", 1)]);
    let tally = transcript.checks();
    assert_eq!((tally.checked, tally.activity), (2, 2));
}

#[test]
fn the_same_key_under_two_agents_is_two_links() {
    let transcript = Transcript::new(&[]);
    let gateway = &transcript.gateway;
    for agent in ["main", "ops"] {
        let request =
            AdoptionRequest::new(harness::bare("global", agent), transcript.source(), "claude");
        assert!(gateway.adopt(request).unwrap().adopted);
    }
    assert_eq!(gateway.links().unwrap().len(), 2);
    gateway.delete(harness::bare("global", "main")).unwrap();
    assert_eq!(gateway.links().unwrap()[0].agent, "ops");
}

#[test]
fn a_source_that_is_not_there_or_not_allowed_is_refused_and_changes_nothing() {
    let transcript = Transcript::new(&[]);
    let outside = tempfile::TempDir::new().unwrap();
    let elsewhere = outside.path().join("x.jsonl");
    std::fs::write(&elsewhere, "").unwrap();
    let request = |path: &str| AdoptionRequest::new(CHILD, Source::claude_file(path), "claude");
    let missing = super::transcript::beside(&transcript.path, "missing.jsonl");
    for (path, reason) in [
        (missing.to_str().unwrap(), InvalidReason::SourceMissing),
        (transcript.folder.path().to_str().unwrap(), InvalidReason::SourceMissing),
        (elsewhere.to_str().unwrap(), InvalidReason::SourceRefused),
        ("relative.jsonl", InvalidReason::InvalidPath),
        ("/a\nb.jsonl", InvalidReason::InvalidPath),
        ("", InvalidReason::InvalidPath),
    ] {
        let refusal = refused(&transcript.gateway, request(path));
        assert_eq!(refusal, (reason, "source.path".to_owned()), "{path}");
    }
    assert!(transcript.gateway.links().unwrap().is_empty());
    assert_eq!(transcript.gateway.versions([CHILD]).unwrap(), [None]);
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_that_leads_outside_is_refused_and_one_that_stays_inside_is_not() {
    let transcript = Transcript::new(&[]);
    let outside = tempfile::TempDir::new().unwrap();
    let elsewhere = outside.path().join("x.jsonl");
    std::fs::write(&elsewhere, "").unwrap();
    let link = |name: &str, to: &std::path::Path| {
        let link = super::transcript::beside(&transcript.path, name);
        std::os::unix::fs::symlink(to, &link).unwrap();
        AdoptionRequest::new(CHILD, Source::claude_file(link.to_str().unwrap()), "claude")
    };
    let (reason, _) = refused(&transcript.gateway, link("out.jsonl", &elsewhere));
    assert_eq!(reason, InvalidReason::SourceRefused);
    assert!(transcript.gateway.adopt(link("in.jsonl", &transcript.path)).unwrap().adopted);
}

#[test]
fn what_an_adoption_names_is_checked_like_everything_else() {
    let transcript = Transcript::new(&[]);
    let request = || AdoptionRequest::new(CHILD, transcript.source(), "claude");
    let with = |change: fn(&mut AdoptionRequest)| {
        let mut request = request();
        change(&mut request);
        let (reason, field) = refused(&transcript.gateway, request);
        (reason, field)
    };
    for (refusal, reason, field) in [
        (with(|it| it.catalog = " ".into()), InvalidReason::MissingField, "catalog"),
        (with(|it| it.catalog = "x".repeat(65)), InvalidReason::TooLong, "catalog"),
        (with(|it| it.host = Some("a b".into())), InvalidReason::InvalidId, "host"),
        (with(|it| it.thread = Some(String::new())), InvalidReason::InvalidId, "thread"),
        (with(|it| it.source.kind = "other".into()), InvalidReason::UnknownValue, "source.kind"),
        (
            with(|it| it.source.thread = Some("t".into())),
            InvalidReason::UnknownField,
            "source.thread",
        ),
        (
            with(|it| {
                it.source = Source { kind: "claude-node".into(), place: "n".into(), thread: None }
            }),
            InvalidReason::MissingField,
            "source.thread",
        ),
        (
            with(|it| it.source = Source::claude_node("a b", "t")),
            InvalidReason::InvalidId,
            "source.node",
        ),
        (with(|it| it.session.key = String::new()), InvalidReason::InvalidKey, "session.key"),
        (
            with(|it| it.source.place = format!("/{}", "x".repeat(4_096))),
            InvalidReason::TooLong,
            "source.path",
        ),
    ] {
        assert_eq!(refusal, (reason, field.to_owned()));
    }
}

#[test]
fn an_adopted_session_that_is_deleted_is_checked_no_more() {
    let transcript = Transcript::adopted(&[]);
    transcript.gateway.records(spawn("agent:main:subagent:other", MAIN));
    transcript.gateway.delete(CHILD).unwrap();
    transcript.appends(&[typed("hello", 1)]);
    assert_eq!(transcript.checks().checked, 0);
    assert!(transcript.gateway.links().unwrap().is_empty());
}

#[test]
fn the_allowed_folders_are_looked_up_each_time_so_that_one_may_come_later() {
    let home = tempfile::TempDir::new().unwrap();
    let folder = home.path().join("projects");
    let builder = Awareness::builder(":memory:").manual_clock(harness::NOON);
    let gateway = Gateway::with(builder.source_folders([&folder]));
    let path = folder.join("x.jsonl");
    let source = Source::claude_file(path.to_str().unwrap());
    let request = AdoptionRequest::new(CHILD, source, "claude");
    assert!(gateway.adopt(request.clone()).is_err());
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&path, "").unwrap();
    assert!(gateway.adopt(request).unwrap().adopted);
    gateway.watches(MAIN, CHILD);
    gateway.passes(MINUTE);
    assert_eq!(gateway.check_upstreams().unwrap(), QUIET);
}
