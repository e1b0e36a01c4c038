//! `plugin new`, `plugin inspect` and `plugin check`.

use std::fs;
use std::path::Path;
use std::process::Command;

use harness::plugins;
use serde_json::Value;
use tempfile::tempdir;

use crate::binary::{SCRATCH, headsup, run, run_with, text};

const GUIDE: &str = include_str!("../../docs/plugins.md");

#[test]
fn the_built_in_core_may_be_loaded_and_imports_the_contract_alone() {
    let ended = run_with(["plugin", "inspect", "--builtin", "--json"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&found["name"], &found["loads"]), (&"headsup".into(), &true.into()));
    for import in found["imports"].as_object().unwrap().keys() {
        let allowed = import.starts_with("headsup:awareness/")
            || import.starts_with("wasi:clocks/wall-clock@");
        assert!(allowed, "{import}");
    }
    let shown = run_with(["plugin", "inspect", "--builtin"]).stdout;
    assert!(shown.contains("it may be loaded") && shown.contains("record-many"), "{shown}");
}

#[test]
fn the_built_in_core_conforms() {
    let ended = run_with(["plugin", "check", "--builtin", "--json"]);
    assert_eq!(ended.status, 0, "{ended:?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["differences"], serde_json::json!([]));
    assert!(report["files"].as_u64() > Some(0) && report["passed"].as_u64() > Some(0), "{report}");
}

#[test]
fn what_is_no_component_is_exit_status_1_with_the_reason() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("core.wasm");
    let module = b"\0asm\x01\0\0\0";
    for (bytes, words) in [
        (&b"not wasm"[..], "not a WebAssembly component"),
        (module, "a WebAssembly module, not a component"),
        (b"\0asm\x0d\0\x01\0garbage", "not a valid component"),
    ] {
        fs::write(&file, bytes).unwrap();
        for arguments in [["plugin", "inspect"], ["plugin", "check"]] {
            let ended = run_with([&arguments[..], &[text(&file)]].concat());
            assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{arguments:?}");
            assert!(ended.stderr.contains(words), "{}", ended.stderr);
        }
        let serving = ["serve", "--stdio", "--db", ":memory:", "--plugin", text(&file)];
        let ended = run_with(serving);
        assert_eq!(ended.status, 1);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
}

#[test]
fn an_empty_component_is_inspected_and_may_not_be_loaded() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("empty.wasm");
    fs::write(&file, b"\0asm\x0d\0\x01\0").unwrap();
    let ended = run_with(["plugin", "inspect", text(&file)]);
    assert_eq!((ended.status, ended.stderr.as_str()), (1, ""));
    assert!(ended.stdout.contains("it may not be loaded"), "{}", ended.stdout);
    assert!(ended.stdout.contains("does not export"), "{}", ended.stdout);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    for command in ["inspect", "check"] {
        let ended = run_with(["plugin", command, "no-such-core.wasm"]);
        assert_eq!(ended.status, 1);
        assert!(ended.stderr.contains("no-such-core.wasm"), "{}", ended.stderr);
        assert_eq!(ended.stderr.matches("os error").count(), 1, "{}", ended.stderr);
    }
}

#[test]
fn a_new_crate_is_the_template_under_its_own_name() {
    let folder = tempdir().unwrap();
    let made = folder.path().join("deep/er/my own");
    let ended = run_with(["plugin", "new", "quiet-plans", "--path", text(&made)]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let component = format!("'{}/target/wasm32-wasip2/release/quiet_plans.wasm'", text(&made));
    let commands: Vec<&str> = ended.stdout.lines().filter_map(|it| it.strip_prefix("  ")).collect();
    assert_eq!(
        commands,
        [
            format!(
                "cargo build --release --target wasm32-wasip2 --manifest-path '{}/Cargo.toml'",
                text(&made)
            ),
            format!("headsup plugin check {component}"),
            format!("headsup serve --stdio --plugin {component}"),
        ]
    );
    let mut files = Vec::new();
    for (at, entry) in
        [&made, &made.join("src")].into_iter().flat_map(|it| fs::read_dir(it).unwrap()).enumerate()
    {
        let path = entry.unwrap().path();
        if path.is_file() {
            let text = fs::read_to_string(&path).unwrap();
            assert!(
                !text.contains("plugin-template") && !text.contains("plugin_template"),
                "{path:?}"
            );
            files.push(path.strip_prefix(&made).unwrap().to_str().unwrap().to_owned());
        }
        assert!(at < 10);
    }
    files.sort();
    assert_eq!(files, [".gitignore", "Cargo.lock", "Cargo.toml", "README.md", "src/lib.rs"]);
    let manifest = fs::read_to_string(made.join("Cargo.toml")).unwrap();
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../component").canonicalize().unwrap();
    assert!(manifest.contains(&format!("path = \"{}\"", text(&core))), "{manifest}");
}

#[test]
fn a_folder_that_is_there_is_left_as_it_is() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("kept"), "mine").unwrap();
    let ended = run_with(["plugin", "new", "quiet-plans", "--path", text(folder.path())]);
    assert_eq!((ended.status, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains(text(folder.path())), "{}", ended.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_logic_is_looked_for_where_it_is_said_to_be() {
    let folder = tempdir().unwrap();
    let made = folder.path().join("made");
    let arguments = ["plugin", "new", "quiet-plans", "--path", text(&made), "--core"];
    let ended = run_with([&arguments[..], &[text(folder.path())]].concat());
    assert_eq!((ended.status, ended.stdout.as_str()), (1, ""));
    assert!(ended.stderr.contains("--core: ") && ended.stderr.contains("component"), "{ended:?}");
    assert!(!made.exists());
}

#[test]
fn a_name_that_no_crate_can_have_is_wrong_usage() {
    for name in ["Quiet", "9-plans", "quiet_plans", "../plans", "a--b", "core", "fn"] {
        let ended = run_with(["plugin", "new", name]);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{name}: {ended:?}");
        assert!(ended.stderr.contains("name"), "{}", ended.stderr);
    }
}

/// The commands that the page about plugins begins with.
fn guide() -> Vec<&'static str> {
    let block = GUIDE.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    block.unwrap().lines().filter(|line| !line.starts_with('#')).collect()
}

#[cfg(unix)]
#[test]
fn the_commands_that_the_page_of_plugins_begins_with_do_what_it_says() {
    let folder = SCRATCH.join("guide");
    _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let command = headsup([""; 0]);
    let programs = Path::new(command.get_program()).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let mut statuses = Vec::new();
    for line in guide() {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(&folder).stdin(std::process::Stdio::null());
        for (name, value) in command.get_envs().chain(plugins::cargo(&folder).get_envs()) {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.env("PATH", &path);
        let ended = run(&mut shell);
        statuses.push(ended.status);
        if line.starts_with("headsup plugin new") {
            // So that nothing is compiled that other tests have compiled.
            let target = folder.join("quiet-plans/target");
            std::os::unix::fs::symlink(plugins::target(), target).unwrap();
        }
        if line.starts_with("headsup plugin check") {
            for [file, rule] in plugins::differences(&folder.join("quiet-plans")) {
                let difference = format!("{file}, line ");
                assert!(ended.stdout.contains(&difference), "{file}: {}", ended.stdout);
                assert!(ended.stdout.contains(&rule), "{rule}: {}", ended.stdout);
            }
            assert!(ended.stdout.contains("quiet-plans 0.1.0: 4 of "), "{}", ended.stdout);
        } else {
            assert_eq!(ended.status, 0, "{line}: {ended:?}");
        }
    }
    assert_eq!(statuses, [0, 0, 1, 0], "new, build, check, run");
}
