//! The page about the sidecar: what it says to copy runs as it stands, and says what is written there.

use std::process::Command;

use harness::command::{headsup, run};

const PAGE: &str = include_str!("../../docs/embedding/sidecar.md");
const EXAMPLE: &str = include_str!("../../host/headsup.example.toml");

/// The blocks of code in this language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    PAGE.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[test]
fn what_the_page_says_to_copy_prints_what_it_says() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!(
            "headsup: left out: the example of docs/embedding/sidecar.md, because curl is missing"
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = headsup([""; 0]).get_program().to_owned();
    let bin = std::path::Path::new(&program).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut environment = headsup([""; 0]);
    environment.env("PATH", path);
    let mut shell = Command::new("sh");
    shell.envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = run(shell.arg("-euc").arg(blocks("sh")[0]).current_dir(folder.path()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{}", ended.stdout);
    assert_eq!(ended.stdout.trim(), blocks("text")[0].trim());
}

#[test]
fn the_table_of_limits_has_every_setting_with_its_default() {
    let section = EXAMPLE.split("[serve]").nth(1).unwrap().split("\n[").next().unwrap();
    let settings = section.lines().filter(|line| !line.starts_with('#') && line.contains(" = "));
    let mut count = 0;
    for setting in settings {
        let (key, default) = setting.split_once(" = ").unwrap();
        if default.parse::<u64>().is_err() {
            assert!(PAGE.contains(&format!("`serve.{key}`")), "{key}");
            continue;
        }
        let row = format!("| `serve.{key}` | {default} |");
        assert!(PAGE.contains(&row), "{row}");
        count += 1;
    }
    assert!(count > 10, "{count}");
}

/// The unit is one that systemd would take, as far as can be seen without it.
#[test]
fn the_unit_starts_what_the_page_is_about() {
    let unit = blocks("ini")[0];
    for line in ["ExecStart=", "Restart=on-failure", "LoadCredential=", "KillSignal=SIGTERM"] {
        assert!(unit.contains(line), "{line}");
    }
}
