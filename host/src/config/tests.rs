use serde_json::Value;

use super::*;

const EXAMPLE: &str = include_str!("../../headsup.example.toml");

/// The example with the keys that have no fixed default switched on.
fn whole_example() -> String {
    let switched_on = |line: &str| match line.strip_prefix('#') {
        Some(setting) if !setting.starts_with(' ') => setting.to_owned(),
        _ => line.to_owned(),
    };
    EXAMPLE.lines().map(switched_on).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_example_says_the_defaults() {
    assert_eq!(Config::parse(EXAMPLE).unwrap(), Config::default());
    assert_eq!(Config::parse("").unwrap(), Config::default());
}

#[test]
fn the_example_lists_every_key() {
    let config = serde_json::to_value(Config::parse(&whole_example()).unwrap()).unwrap();
    for (section, keys) in config.as_object().unwrap() {
        for (key, value) in keys.as_object().unwrap() {
            assert_ne!(*value, Value::Null, "{section}.{key} is missing in the example");
            assert!(whole_example().contains(&format!("\n{key} = ")), "{section}.{key}");
        }
    }
}

#[test]
fn an_unknown_key_is_an_error_that_names_it() {
    let error = Config::parse("[store]\nbusy_timeout = 1").unwrap_err().to_string();
    assert!(error.contains("busy_timeout") && error.contains("busy_timeout_ms"), "{error}");
    let error = Config::parse("[stores]\n").unwrap_err().to_string();
    assert!(error.contains("stores"), "{error}");
}

#[test]
fn a_value_out_of_its_bounds_is_an_error_that_names_the_key() {
    for (text, key) in [
        ("[store]\nreaders = 0", "store.readers"),
        ("[core]\nmemory_mib = 191", "core.memory_mib"),
        ("[serve]\nrequest_bytes = 10", "serve.request_bytes"),
        ("[serve]\nhead_bytes = 10", "serve.head_bytes"),
        ("[serve]\nstreams = 0", "serve.streams"),
        ("[serve]\npatience_ms = 0", "serve.patience_ms"),
        ("[wakes]\nrepeat_ms = 10", "wakes.repeat_ms"),
        ("[upstreams]\ndeadline_ms = 10", "upstreams.deadline_ms"),
        ("[upstreams]\ninterval_ms = 59999", "upstreams.interval_ms"),
        ("[upstreams]\nfolders = [\"transcripts\"]", "upstreams.folders"),
        ("[store]\ndurability = \"most\"", "durability"),
        ("[log]\nlevel = 3", "level"),
    ] {
        let error = Config::parse(text).unwrap_err().to_string();
        assert!(error.contains(key), "{text}: {error}");
    }
}
