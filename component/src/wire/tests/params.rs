use super::{refused, request};

fn record(params: &str) -> String {
    request("record", params)
}

/// A signal of this kind with more fields.
fn signal(kind: &str, more: &str) -> String {
    format!(
        r#"{{"session":"agent:a:x","kind":"{kind}","actor":{{"type":"human"}}{}{more}}}"#,
        if more.is_empty() { "" } else { "," }
    )
}

/// Asserts that params are refused.
fn bad(method: &str, params: &str, reason: &str, field: &str) {
    refused(&request(method, params), -32602, reason, Some(field));
}

#[test]
fn a_kind_must_exist() {
    let created = |kind: &str| {
        record(&format!(r#"{{"session":"agent:a:x","kind":{kind},"actor":{{"type":"human"}}}}"#))
    };
    for kind in [r#""""#, r#""Created""#, r#""created ""#, r#""human-direct-message""#] {
        refused(&created(kind), -32602, "unknown-kind", Some("kind"));
    }
    for kind in ["null", "1", "[]", "{}", "true"] {
        refused(&created(kind), -32602, "wrong-type", Some("kind"));
    }
    refused(
        &created(&format!("\"{}\"", "k".repeat(100_000))),
        -32602,
        "unknown-kind",
        Some("kind"),
    );
    bad("record", "{}", "missing-field", "kind");
}

#[test]
fn a_field_belongs_to_its_kind() {
    for (kind, more, field) in [
        ("created", r#""channel":"c""#, "channel"),
        ("created", r#""outcome":"error""#, "outcome"),
        ("human_direct_message", r#""change":"created""#, "change"),
        ("human_direct_message", r#""text":"secret""#, "text"),
        ("upstream_missing", r#""catalog":"c","host":"h""#, "host"),
        ("upstream_missing", r#""catalog":"c","channel":"c""#, "channel"),
        ("goal_changed", r#""change":"created","turns":1"#, "turns"),
        ("child_spawned", r#""runId":"r","outcome":"error""#, "outcome"),
        ("run_completed", r#""runId":"r","outcome":"error""#, "outcome"),
        ("run_failed", r#""runId":"r","outcome":"error","operationId":"o""#, "operationId"),
        ("compacted", r#""operationId":"o","catalog":"c""#, "catalog"),
        ("adopted", r#""catalog":"c","turns":2"#, "turns"),
    ] {
        bad("record", &signal(kind, more), "unknown-field", field);
    }
}

#[test]
fn an_unknown_field_whose_name_could_be_content_is_not_repeated() {
    let long = "n".repeat(100_000);
    for name in [long.as_str(), "two words", r"line\nbreak", "ünicode", ""] {
        let request = record(&signal("created", &format!(r#""{name}":1"#)));
        refused(&request, -32602, "unknown-field", Some("params"));
    }
}

#[test]
fn each_kind_has_what_it_needs() {
    for (kind, field) in [
        ("upstream_missing", "catalog"),
        ("goal_changed", "change"),
        ("child_spawned", "runId"),
        ("run_completed", "runId"),
        ("compacted", "operationId"),
        ("adopted", "catalog"),
    ] {
        bad("record", &signal(kind, ""), "missing-field", field);
    }
    bad("record", &signal("run_failed", r#""runId":"r""#), "missing-field", "outcome");
    bad("record", &signal("run_failed", r#""outcome":"error""#), "missing-field", "runId");
    bad("record", r#"{"kind":"created","actor":{"type":"human"}}"#, "missing-field", "session");
    bad("record", r#"{"kind":"created","session":"agent:a:x"}"#, "missing-field", "actor");
    let nobody = r#"{"kind":"created","session":"agent:a:x","actor":{}}"#;
    bad("record", nobody, "missing-field", "actor.type");
}

#[test]
fn a_word_is_one_of_those_allowed() {
    for (kind, more, field) in [
        ("goal_changed", r#""change":"deleted""#, "change"),
        ("run_failed", r#""runId":"r","outcome":"x""#, "outcome"),
    ] {
        bad("record", &signal(kind, more), "unknown-value", field);
    }
    let robot = r#"{"session":"agent:a:x","kind":"created","actor":{"type":"robot"}}"#;
    bad("record", robot, "unknown-value", "actor.type");
}

#[test]
fn types_are_strict_and_null_is_no_value() {
    for (field, wrong) in [
        ("session", &["null", "1", "true", "[]", r#"["agent:a:x"]"#][..]),
        ("actor", &["null", "1", r#""human""#, "[]"]),
        ("sessionId", &["null", "1", "{}"]),
        ("runId", &["null", "1", "[]"]),
        ("dedupeKey", &["null", "1", "false"]),
        ("watchers", &["null", "1", r#""agent:a:main""#, "{}"]),
        ("occurredAt", &["null", r#""1""#, "1.0", "1e3", "true", "[]", "1e400", "-0.0"]),
        ("turns", &["null", r#""1""#, "1.0", "1.5", "1e0", "[1]", "1e400"]),
        ("channel", &["null", "1", "{}"]),
    ] {
        for value in wrong {
            let given = signal("human_direct_message", "");
            let given = match field {
                "session" => given.replace(r#""agent:a:x""#, value),
                "actor" => given.replace(r#"{"type":"human"}"#, value),
                _ => given.replacen('{', &format!(r#"{{"{field}":{value},"#), 1),
            };
            bad("record", &given, "wrong-type", field);
        }
    }
    let given = signal("created", r#""watchers":["agent:a:main",1]"#);
    bad("record", &given, "wrong-type", "watchers[1]");
    let given = signal("created", "").replace(r#""human""#, r#""human","id":1"#);
    bad("record", &given, "wrong-type", "actor.id");
    let given = signal("created", "").replace(r#""human""#, r#""human","name":"Eve""#);
    bad("record", &given, "unknown-field", "actor.name");
}

#[test]
fn an_integer_beyond_its_bounds_is_out_of_range() {
    for turns in ["0", "-1", "4294967296", "99999999999999999999999999"] {
        let given = signal("human_direct_message", &format!(r#""turns":{turns}"#));
        bad("record", &given, "out-of-range", "turns");
    }
    for time in ["9223372036854775808", "-9223372036854775809"] {
        let given = signal("created", &format!(r#""occurredAt":{time}"#));
        bad("record", &given, "out-of-range", "occurredAt");
    }
    for limit in ["0", "201", "-1", "4294967296"] {
        let given = format!(r#"{{"session":"agent:a:x","changesSince":0,"limit":{limit}}}"#);
        bad("status", &given, "out-of-range", "limit");
    }
    for now in ["-1", "9007199254740992"] {
        bad("clock", &format!(r#"{{"now":{now}}}"#), "out-of-range", "now");
    }
    for now in ["null", "1.0", r#""1""#] {
        bad("clock", &format!(r#"{{"now":{now}}}"#), "wrong-type", "now");
    }
}

#[test]
fn a_version_is_an_integer_from_0_to_2_to_the_53_less_1() {
    let wrong = [
        "null",
        r#""1""#,
        "1.0",
        "0.5",
        "1e3",
        "-1",
        "true",
        "[]",
        "{}",
        "9007199254740992",
        "18446744073709551616",
        "1e400",
        "-0.0",
    ];
    for version in wrong {
        let given = format!(r#"{{"session":"agent:a:x","changesSince":{version}}}"#);
        bad("status", &given, "invalid-version", "changesSince");
        for field in ["since", "upTo"] {
            let other = if field == "since" { "upTo" } else { "since" };
            let notice = format!(r#"{{"target":"agent:a:x","{field}":{version},"{other}":2}}"#);
            let given = format!(r#"{{"watcher":"agent:a:main","notices":[{notice}]}}"#);
            bad("acknowledge", &given, "invalid-version", &format!("notices[0].{field}"));
        }
    }
    let huge = "1".repeat(100_000);
    let given = format!(r#"{{"session":"agent:a:x","changesSince":{huge}}}"#);
    bad("status", &given, "invalid-version", "changesSince");
}

#[test]
fn a_limit_goes_with_a_version() {
    bad("status", r#"{"session":"agent:a:x","limit":5}"#, "missing-field", "changesSince");
}

#[test]
fn a_refusal_names_a_session_as_the_caller_wrote_it() {
    bad("status", r#"{"session":"global"}"#, "agent-required", "session.agent");
    bad("status", r#"{"session":{"key":"global"}}"#, "agent-required", "session.agent");
    bad("status", r#"{"session":""}"#, "invalid-key", "session");
    bad("status", r#"{"session":{"key":" : "}}"#, "invalid-key", "session.key");
    bad("status", r#"{"session":{"agent":"a"}}"#, "missing-field", "session.key");
    bad("status", r#"{"session":{"key":"k","agent":null}}"#, "wrong-type", "session.agent");
    bad("status", r#"{"session":{"key":"k","host":"h"}}"#, "unknown-field", "session.host");
    let other = r#"{"session":{"key":"agent:a:x","agent":"b"},"changesSince":0}"#;
    bad("status", other, "agent-mismatch", "session.agent");
    bad("versions", r#"{"sessions":["agent:a:x","agent:a"]}"#, "invalid-key", "sessions[1]");
    bad("versions", r#"{"sessions":[{"key":"k"}]}"#, "agent-required", "sessions[0].agent");
    bad("versions", r#"{"sessions":["agent:a:x",2]}"#, "wrong-type", "sessions[1]");
    let many = format!(
        r#"{{"signals":[{},{}]}}"#,
        signal("created", ""),
        signal("created", "").replace("agent:a:x", "agent::x")
    );
    bad("recordMany", &many, "invalid-key", "signals[1].session");
    let bare = r#"{"watcher":"agent:a:main","notices":[{"target":"global","since":1,"upTo":2}]}"#;
    bad("acknowledge", bare, "agent-required", "notices[0].agent");
    let empty = bare.replace("global", "");
    bad("acknowledge", &empty, "invalid-key", "notices[0].target");
}

#[test]
fn keys_ids_and_names_keep_their_bounds() {
    let long = "k".repeat(100_000);
    bad(
        "status",
        &format!(r#"{{"session":{{"key":"{long}","agent":"a"}}}}"#),
        "too-long",
        "session.key",
    );
    bad("take", &format!(r#"{{"watcher":"agent:a:{long}"}}"#), "too-long", "watcher");
    for (more, field) in
        [("runId", "runId"), ("sessionId", "sessionId"), ("dedupeKey", "dedupeKey")]
    {
        bad("record", &signal("created", &format!(r#""{more}":"{long}""#)), "too-long", field);
        bad("record", &signal("created", &format!(r#""{more}":"a b""#)), "invalid-id", field);
        bad("record", &signal("created", &format!(r#""{more}":"""#)), "invalid-id", field);
    }
    let channel = |name: &str| signal("human_direct_message", &format!(r#""channel":"{name}""#));
    bad("record", &channel(&long), "too-long", "channel");
    for separator in [r"\u0000", r"\n", r"\u001b", r"\u007f", r"\u0085", r"\u2028", r"\u2029"] {
        bad("record", &channel(&format!("a{separator}b")), "invalid-name", "channel");
        bad("take", &format!(r#"{{"watcher":"agent:a:x{separator}y"}}"#), "invalid-key", "watcher");
    }
    let agent = signal("human_direct_message", "").replace("human\"}", "agent\"}");
    bad("record", &agent, "wrong-actor", "actor.type");
}

#[test]
fn lists_keep_their_bounds() {
    let of = |item: &str| vec![item; 1_001].join(",");
    bad(
        "versions",
        &format!(r#"{{"sessions":[{}]}}"#, of(r#""agent:a:x""#)),
        "too-many",
        "sessions",
    );
    let signals = of(&signal("created", ""));
    bad("recordMany", &format!(r#"{{"signals":[{signals}]}}"#), "too-many", "signals");
    let notices = of(r#"{"target":"agent:a:x","since":1,"upTo":2}"#);
    let given = format!(r#"{{"watcher":"agent:a:main","notices":[{notices}]}}"#);
    bad("acknowledge", &given, "too-many", "notices");
    let watchers = of(r#""agent:a:main""#);
    let given = signal("created", &format!(r#""watchers":[{watchers}]"#));
    bad("record", &given, "too-many", "watchers");
}

#[test]
fn every_method_refuses_unknown_and_missing_fields() {
    for (method, good, missing) in [
        ("recordMany", r#""signals":[]"#, Some("signals")),
        ("watch", r#""watcher":"agent:a:main","target":"agent:a:x""#, Some("watcher")),
        ("unwatch", r#""watcher":"agent:a:main","target":"agent:a:x""#, Some("watcher")),
        ("watches", r#""watcher":"agent:a:main""#, Some("watcher")),
        ("take", r#""watcher":"agent:a:main""#, Some("watcher")),
        ("acknowledge", r#""watcher":"agent:a:main","notices":[]"#, Some("watcher")),
        ("drain", r#""watcher":"agent:a:main""#, Some("watcher")),
        ("pending", "", None),
        ("status", r#""session":"agent:a:x""#, Some("session")),
        ("versions", r#""sessions":[]"#, Some("sessions")),
        ("reset", r#""session":"agent:a:x""#, Some("session")),
        ("delete", r#""session":"agent:a:x""#, Some("session")),
        ("recover", "", None),
        ("tools", "", None),
        ("callTool", r#""name":"sessions_list","caller":"agent:a:main""#, Some("name")),
        ("clock", r#""now":1"#, Some("now")),
    ] {
        let comma = if good.is_empty() { "" } else { "," };
        bad(method, &format!(r#"{{{good}{comma}"extra":1}}"#), "unknown-field", "extra");
        if let Some(missing) = missing {
            bad(method, "{}", "missing-field", missing);
        }
    }
    bad("watch", r#"{"watcher":"agent:a:main"}"#, "missing-field", "target");
    let both = r#"{"watcher":"agent:a:main","target":"agent:a:x"}"#;
    bad("watches", both, "unknown-field", "target");
    let maybe = r#"{"watcher":"agent:a:main","target":"agent:a:x","ambient":1}"#;
    bad("watch", maybe, "wrong-type", "ambient");
    let text = r#"{"watcher":"agent:a:main","notices":[{"target":"agent:a:x","since":1,"upTo":2,"text":null}]}"#;
    bad("acknowledge", text, "wrong-type", "notices[0].text");
}
