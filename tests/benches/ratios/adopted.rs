//! Adopted sessions: a check of a thousand whose files did not change, and adopting a large file.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use headsup::{AdoptionRequest, Awareness, Durability, Engine, Plugin, Source, Tally};

use crate::paired::{median, micros};
use crate::report::{Report, row, time};
use crate::stores::Stores;

const LINKS: usize = 1_000;
const WATCHER: &str = "agent:main:main";

pub fn measure(stores: &Stores, report: &mut Report) {
    let folder = stores.path().with_extension("transcripts");
    fs::create_dir_all(&folder).unwrap();
    let plugin = Plugin::built_in(&Engine::new(Some(stores.cache())).unwrap()).unwrap();
    let mut rows = vec![row(&["adopted sessions", "time"])];
    let mut unchanged = 0.0;
    for (durability, name) in [(Durability::Full, "full"), (Durability::Normal, "normal")] {
        let awareness = open(&stores.path(), durability, &folder, plugin.clone());
        for at in 0..LINKS {
            adopt(&awareness, &format!("agent:main:w{at}"), &transcript(&folder, at, 64 << 10));
        }
        let quiet = Tally { checked: 1_000, activity: 0, missing: 0, failed: 0 };
        let check = || {
            let started = Instant::now();
            assert_eq!(awareness.check_upstreams().unwrap(), quiet);
            micros(started.elapsed())
        };
        // The first one notices that the files have rested since they were adopted.
        check();
        let figure = median((0..20).map(|_| check()).collect());
        rows.push(vec![format!("a check of 1,000, none changed ({name})"), time(figure)]);
        unchanged = f64::max(unchanged, figure);
    }
    let awareness = open(&stores.path(), Durability::Normal, &folder, plugin);
    for (mib, name) in [(1, "adopting 1 MiB"), (100, "adopting 100 MiB")] {
        let path = transcript(&folder, LINKS + mib, (mib as u64) << 20);
        let took =
            (0..5).map(|again| adopt(&awareness, &format!("agent:main:l{mib}-{again}"), &path));
        rows.push(vec![name.to_owned(), time(median(took.collect()))]);
    }
    report.table("Adopted sessions", &rows);
    report.at_most(
        "1,000 adopted sessions without change, a check",
        unchanged / 1_000.0,
        50.0,
        " ms",
    );
}

fn open(path: &Path, durability: Durability, folder: &Path, plugin: Plugin) -> Awareness {
    let builder = Awareness::builder(path).durability(durability).plugin(plugin);
    builder.source_folders([folder]).open().unwrap()
}

/// Adopts a session that is watched; how long that took, in µs.
fn adopt(awareness: &Awareness, session: &str, path: &Path) -> f64 {
    awareness.watch(WATCHER, session, false).unwrap();
    let source = Source::claude_file(path.to_str().unwrap());
    let started = Instant::now();
    assert!(awareness.adopt(AdoptionRequest::new(session, source, "claude")).unwrap().adopted);
    micros(started.elapsed())
}

/// A transcript of about so many bytes that nobody wrote to for a minute.
fn transcript(folder: &Path, number: usize, bytes: u64) -> PathBuf {
    let path = folder.join(format!("{number}.jsonl"));
    let mut file = File::create(&path).unwrap();
    file.seek(SeekFrom::Start(bytes - 100)).unwrap();
    file.write_all(b"\n{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n")
        .unwrap();
    file.set_modified(SystemTime::now() - Duration::from_mins(1)).unwrap();
    path
}
