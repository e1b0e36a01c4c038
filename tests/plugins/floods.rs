//! What a core says and enqueues in one call is bounded; nothing else about the call changes.

use headsup::{Level, Recording};

use crate::stage::{NOW, Stage, bad, reason};

#[test]
fn a_flood_of_log_lines_is_cut_to_a_hundred_short_ones() {
    let stage = Stage::new();
    assert_eq!(stage.record(&bad("log-flood")), Recording::Recorded(2));
    let lines = stage.heard.lines.lock().unwrap();
    assert_eq!(lines.len(), 101);
    for (_, line) in lines.iter() {
        assert!(line.len() <= 4_096 && !line.contains(char::is_control));
    }
    assert_eq!(lines[100], (Level::Warn, "900 more lines of the core were dropped".to_owned()));
}

#[test]
fn what_an_import_hands_over_may_have_128_mib_and_no_more() {
    let stage = Stage::with(&crate::cores::hostile(), |builder| builder.memory_limit(512 << 20));
    assert_eq!(stage.record(&bad("log-large")), Recording::Recorded(2));
    assert!(stage.heard.lines.lock().unwrap().iter().all(|(_, line)| line.len() <= 4_096));
    assert_eq!(reason(&stage.record(&bad("log-huge"))), "plugin-trap");
    stage.works();
}

#[test]
fn a_flood_of_openings_is_cut_and_said_to_be() {
    let stage = Stage::new();
    assert_eq!(stage.record(&bad("notice-flood")), Recording::Recorded(2));
    let notices = stage.heard.notices.lock().unwrap();
    let bytes: usize = notices.iter().map(|(_, notice)| notice.text.len()).sum();
    assert!(bytes <= 64 << 20, "{bytes}");
    assert!(notices.len() > 10_000);
    let lines = stage.heard.lines.lock().unwrap();
    assert!(lines.iter().any(|(level, line)| *level == Level::Warn && line.contains("too many")));
}

#[test]
fn a_flood_of_openings_wakes_each_watcher_at_most_once_in_20_s() {
    let stage = Stage::new();
    let floods = |at: u64| {
        stage.awareness.set_clock(NOW + at).unwrap();
        assert!(matches!(stage.record(&bad("wake-flood")), Recording::Recorded(_)));
        let mut woken = std::mem::take(&mut *stage.heard.wakes.lock().unwrap());
        woken.retain(|watcher| watcher.starts_with("agent:spam:"));
        woken.sort();
        woken
    };
    let all: Vec<String> = (0..5).map(|at| format!("agent:spam:{at}")).collect();
    assert_eq!(floods(0), all);
    assert_eq!(stage.heard.notices.lock().unwrap().len(), 10_001);
    for at in [0, 1, 10_000, 19_999] {
        assert_eq!(floods(at), [""; 0], "{at}");
    }
    assert_eq!(floods(20_000), all);
}

#[test]
fn a_core_that_opens_notices_in_a_call_that_only_reads_is_not_heard() {
    let stage = Stage::new();
    // What it answers is its own business.
    let _ = stage.awareness.take(&bad("notice-flood"));
    assert!(stage.heard.notices.lock().unwrap().is_empty());
}

#[test]
fn after_a_flood_everything_works() {
    let stage = Stage::new();
    stage.record(&bad("notice-flood"));
    stage.heard.forget();
    stage.works();
}
