//! What the built-in core may ask for and what it offers, how large it is, and that the contract is
//! documented to its last item.

use std::fs;
use std::path::PathBuf;

use harness::{CHILD, Gateway, NOON, core};
use headsup::{Actor, Awareness, Inspection, Recording, Signal};

/// 256 KiB.
const LARGEST_CORE: usize = 262_144;

fn names<const N: usize>(interfaces: [&str; N]) -> Vec<String> {
    interfaces.map(str::to_owned).into()
}

fn inspection() -> Inspection {
    Inspection::of_built_in(harness::engine()).unwrap()
}

#[test]
fn the_core_imports_the_contract_and_the_wall_clock_and_nothing_else() {
    let imports: Vec<String> = inspection().surface.imports.into_keys().collect();
    assert_eq!(
        imports,
        names([
            "headsup:awareness/log@0.1.0",
            "headsup:awareness/queue@0.1.0",
            "headsup:awareness/settings@0.1.0",
            "headsup:awareness/sources@0.1.0",
            "headsup:awareness/storage@0.1.0",
            "headsup:awareness/types@0.1.0",
            "wasi:clocks/wall-clock@0.2.6",
        ])
    );
}

#[test]
fn the_core_exports_the_contracts_interfaces_and_nothing_else() {
    let exports: Vec<String> = inspection().surface.exports.into_keys().collect();
    assert_eq!(
        exports,
        names([
            "headsup:awareness/maintenance@0.1.0",
            "headsup:awareness/notices@0.1.0",
            "headsup:awareness/plugin@0.1.0",
            "headsup:awareness/reconciliation@0.1.0",
            "headsup:awareness/signals@0.1.0",
            "headsup:awareness/upstreams@0.1.0",
            "headsup:awareness/watches@0.1.0",
            "headsup:awareness/wire@0.1.0",
        ])
    );
}

#[test]
fn the_core_may_be_loaded_and_says_who_it_is() {
    inspection().verdict.unwrap();
    let core = core();
    let metadata = core.metadata();
    assert_eq!(metadata.name, "headsup");
    assert_eq!(metadata.protocol, "0.1.0");
}

#[test]
fn the_core_has_at_most_256_kib() {
    let size = inspection().size;
    assert!(size <= LARGEST_CORE, "{size} bytes");
}

#[test]
fn the_core_keeps_its_names_so_that_a_trap_says_where() {
    // So little memory that a thousand watchers do not fit.
    let gateway =
        Gateway::with(Awareness::builder(":memory:").manual_clock(NOON).memory_limit(1_300_000));
    let mut signal = Signal::created(CHILD, Actor::system());
    signal.watchers = vec![format!("agent:main:{}", "x".repeat(500)); 1_000];
    let Ok(Recording::Failed { reason, message }) = gateway.record(signal) else {
        panic!("it fitted");
    };
    assert_eq!(reason, "plugin-trap");
    assert!(message.contains("in `heap::Heap"), "{message}");
    drop(gateway.news());
}

/// The contract's files with their lines.
fn contract() -> Vec<(PathBuf, Vec<String>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../wit");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|it| it == "wit"))
        .collect();
    files.sort();
    assert!(files.len() > 10, "the contract is where it was");
    let lines = |path: &PathBuf| {
        fs::read_to_string(path).unwrap().lines().map(|line| line.trim().to_owned()).collect()
    };
    files.into_iter().map(|path| (path.clone(), lines(&path))).collect()
}

/// Whether a line begins an item that a reader uses by name, or a member of one.
fn begins_item(line: &str) -> bool {
    let keywords =
        ["interface ", "world ", "record ", "enum ", "variant ", "type ", "flags ", "resource "];
    keywords.iter().any(|keyword| line.starts_with(keyword)) || line.contains(": func(")
}

fn begins_member(line: &str) -> bool {
    let is_word = line.starts_with(|c: char| c.is_ascii_lowercase() || c == '%');
    is_word && line.ends_with(',') && !line.starts_with("use ")
}

#[test]
fn every_item_of_the_contract_is_documented_and_says_since_when() {
    for (path, lines) in contract() {
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| begins_item(line)) {
            let place = format!("{}:{}: {line}", path.display(), at + 1);
            assert!(lines[at - 1].starts_with("@since(version = "), "{place} has no @since");
            assert!(lines[at - 2].starts_with("///"), "{place} is not documented");
        }
    }
}

#[test]
fn every_member_of_the_contract_is_documented() {
    for (path, lines) in contract() {
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| begins_member(line)) {
            let place = format!("{}:{}: {line}", path.display(), at + 1);
            assert!(lines[at - 1].starts_with("///"), "{place} is not documented");
        }
    }
}

#[test]
fn every_function_that_writes_says_so() {
    let words = [
        "append",
        "save",
        "reset",
        "delete",
        "prune",
        "restored",
        "set",
        "record",
        "record-many",
        "watch",
        "unwatch",
        "acknowledge",
        "drain",
        "recover",
        "set-policy",
        "save-upstream",
        "claim",
        "adopt",
        "sent",
        "busy",
        "plan-checks",
        "feed",
        "respond",
    ];
    for (path, lines) in contract() {
        for (at, line) in lines.iter().enumerate() {
            let Some((name, _)) = line.split_once(": func(") else { continue };
            let docs: Vec<&String> =
                lines[..at - 1].iter().rev().take_while(|line| line.starts_with("///")).collect();
            let says = docs.last().is_some_and(|first| first.starts_with("/// *Writes.*"));
            let writes = words.contains(&name.trim_start_matches('%'));
            assert_eq!(says, writes, "{}: {name}", path.display());
        }
    }
}
