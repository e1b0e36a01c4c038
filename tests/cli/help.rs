//! Help and usage.

use crate::binary::run_with;

const COMMANDS: [&[&str]; 15] = [
    &["replay"],
    &["serve"],
    &["log"],
    &["watches"],
    &["notices"],
    &["stats"],
    &["doctor"],
    &["restored"],
    &["adopt"],
    &["upstreams"],
    &["upstreams", "explain"],
    &["plugin"],
    &["plugin", "new"],
    &["plugin", "inspect"],
    &["plugin", "check"],
];

#[test]
fn every_command_explains_itself_with_its_exit_statuses_and_the_common_options() {
    for command in COMMANDS.into_iter().chain([&[][..]]) {
        let ended = run_with([command, &["--help"]].concat());
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{command:?}");
        for part in ["Usage:", "Exit status:", "Example", "--db", "--plugin", "--config", "--log"] {
            assert!(ended.stdout.contains(part), "{command:?} lacks {part}: {}", ended.stdout);
        }
        assert!(ended.stdout.contains("--manual-clock"), "{command:?}");
    }
}

#[test]
fn the_list_of_commands_is_complete() {
    let help = run_with(["--help"]).stdout;
    for command in COMMANDS {
        assert!(help.contains(&format!("\n  {}", command[0])), "{command:?} in {help}");
    }
}

#[test]
fn wrong_usage_is_exit_status_2_with_a_hint() {
    let wrong: [&[&str]; 15] = [
        &[],
        &["unheard-of"],
        &["serve"],
        &["log"],
        &["log", "agent:main:main", "--limit", "0"],
        &["log", "agent:main:main", "--since", "9007199254740992"],
        &["log", "agent:main:main", "--since", "-1"],
        &["log", "agent:main:main", "--limit", "-1"],
        &["stats", "--log", "loud"],
        &["stats", "--manual-clock=soon"],
        &["plugin", "inspect"],
        &["adopt", "agent:main:main"],
        &["adopt", "agent:main:main", "file", "--kind", "claude-node"],
        &["upstreams", "--agent", "main"],
        &["upstreams", "explain"],
    ];
    for arguments in wrong {
        let ended = run_with(arguments);
        assert_eq!(ended.status, 2, "{arguments:?}: {ended:?}");
        assert!(ended.stderr.contains("Usage") || ended.stderr.contains("--help"), "{ended:?}");
        assert_eq!(ended.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_number_below_its_range_is_told_the_range() {
    for option in ["--since", "--limit"] {
        let ended = run_with(["log", "agent:main:main", option, "-1"]);
        assert!(ended.stderr.contains("-1 is not in"), "{}", ended.stderr);
    }
}

#[test]
fn help_says_which_options_a_command_does_not_use() {
    let commands: [&[&str]; 5] = [
        &["stats"],
        &["doctor"],
        &["plugin", "inspect"],
        &["plugin", "check"],
        &["upstreams", "explain"],
    ];
    for command in commands {
        let help = run_with([command, &["--help"]].concat()).stdout;
        assert!(help.contains("change nothing here"), "{command:?}: {help}");
    }
    let help = run_with(["replay", "--help"]).stdout;
    assert!(!help.contains("env: HEADSUP_DB"), "{help}");
}

#[test]
fn the_version_is_printed() {
    let ended = run_with(["--version"]);
    assert_eq!(ended.status, 0);
    assert!(ended.stdout.starts_with("headsup 0."), "{}", ended.stdout);
}
