//! A file that the system does not let grow: the commit itself fails, not a statement before it.
#![cfg(unix)]

use std::env;
use std::path::PathBuf;
use std::process::Command;

use headsup::{Plugin, Recording};

use crate::cores;
use crate::stage::{GOOD, open, record};

/// Names the store in the child of this test.
const STORE: &str = "HEADSUP_TEST_LIMITED_STORE";

/// Blocks of 512 or 1,024 bytes, as shells count: less than SQLite's log takes before it is put
/// into the store.
const BLOCKS: &str = "800";

#[test]
fn a_commit_that_the_system_refuses_keeps_nothing_and_the_rest_stays_whole() {
    if let Some(store) = env::var_os(STORE) {
        return record_until_it_fails(&PathBuf::from(store));
    }
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("headsup.db");
    let name =
        "limited_file::a_commit_that_the_system_refuses_keeps_nothing_and_the_rest_stays_whole";
    let output = Command::new("sh")
        .args([
            "-c",
            &format!("trap '' XFSZ; ulimit -f {BLOCKS}; exec \"$0\" --exact {name} --nocapture"),
        ])
        .arg(env::current_exe().unwrap())
        .env(STORE, &store)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let recorded: u64 =
        said.split("recorded=").nth(1).unwrap().lines().next().unwrap().parse().unwrap();

    // Without the limit, what was recorded is there, what failed is not, and it goes on.
    let (awareness, _) = open(&store, &built_in(), |builder| builder);
    assert_eq!(awareness.versions([GOOD]).unwrap(), [Some(recorded)]);
    let events =
        harness::rows(&store).iter().filter(|row| row.starts_with("session_state_events:")).count();
    assert_eq!(events as u64, recorded);
    assert_eq!(record(&awareness, GOOD), Recording::Recorded(recorded + 1));
}

fn built_in() -> Plugin {
    Plugin::built_in(cores::engine()).unwrap()
}

fn record_until_it_fails(store: &std::path::Path) {
    let (awareness, heard) = open(store, &built_in(), |builder| builder);
    let mut recorded = 0;
    let reason = loop {
        match record(&awareness, GOOD) {
            Recording::Recorded(version) => recorded = version,
            Recording::Failed { reason, .. } => break reason,
            other => panic!("{other:?}"),
        }
        assert!(recorded < 10_000, "the limit does not hold");
    };
    assert!(["store-full", "store-failed"].contains(&reason), "{reason}");
    assert!(heard.error(&["nothing was recorded", reason]));
    assert_eq!(awareness.versions([GOOD]).unwrap(), [Some(recorded)]);
    // Opening the store anew may have made room.
    match record(&awareness, GOOD) {
        Recording::Recorded(version) => {
            assert_eq!(version, recorded + 1);
            recorded = version;
        }
        again => assert!(matches!(again, Recording::Failed { .. }), "{again:?}"),
    }
    println!("recorded={recorded}");
}
