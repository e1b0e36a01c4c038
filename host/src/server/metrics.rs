//! What is counted, in the text format of Prometheus. No key and no content is a label: methods
//! are those that the core has, everything else is a fixed word.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::rpc::Observer;

/// Upper bounds of the histogram of latencies, in seconds.
const BOUNDS: [f64; 13] =
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 10.0];

/// What calls and responses were counted. It hears of calls as an [`Observer`].
#[derive(Debug, Default)]
pub(super) struct Metrics {
    calls: Mutex<BTreeMap<String, Calls>>,
    responses: Mutex<BTreeMap<u16, u64>>,
    pub(super) socket: Connections,
    pub(super) http: Connections,
}

/// Connections of one way in.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: AtomicI64,
    accepted: AtomicU64,
    refused: AtomicU64,
}

/// Counts a connection as open while it lives.
pub(super) struct Open {
    metrics: Arc<Metrics>,
    over: fn(&Metrics) -> &Connections,
}

/// The calls of one method.
#[derive(Clone, Debug, Default)]
struct Calls {
    outcomes: BTreeMap<&'static str, u64>,
    buckets: [u64; BOUNDS.len()],
    seconds: f64,
}

/// What a scrape reads besides.
pub(super) struct Readings {
    pub(super) events: super::events::Counts,
    pub(super) streams: usize,
    /// Pending notices, and watchers that have some; absent if the store did not answer.
    pub(super) pending: Option<(u64, u64)>,
    /// Bytes of the file and of the log beside it; absent for a store in memory.
    pub(super) store: Option<(u64, u64)>,
    pub(super) core: crate::contract::Metadata,
}

impl Metrics {
    /// Counts a response by its status.
    pub(super) fn responded(&self, status: u16) {
        *lock(&self.responses).entry(status).or_default() += 1;
    }

    /// Everything, as a scrape gets it.
    pub(super) fn render(&self, readings: &Readings) -> String {
        let mut text = Text::default();
        self.render_calls(&mut text);
        text.family("headsup_http_responses_total", "counter", "Responses, by HTTP status.");
        for (status, count) in &*lock(&self.responses) {
            text.sample(&format!("{{status=\"{status}\"}}"), count);
        }
        self.render_connections(&mut text);
        render_readings(&mut text, readings);
        text.whole
    }

    fn render_calls(&self, text: &mut Text) {
        let calls = lock(&self.calls).clone();
        text.family("headsup_calls_total", "counter", "Calls, by method and outcome.");
        let calls: Vec<_> = calls.iter().map(|(method, calls)| (label(method), calls)).collect();
        for (method, calls) in &calls {
            for (outcome, count) in &calls.outcomes {
                text.sample(&format!("{{method=\"{method}\",outcome=\"{outcome}\"}}"), count);
            }
        }
        text.family("headsup_call_seconds", "histogram", "Time of a call, by method.");
        for (method, calls) in &calls {
            for (bound, count) in BOUNDS.iter().zip(&calls.buckets) {
                text.part("_bucket", &format!("{{method=\"{method}\",le=\"{bound}\"}}"), count);
            }
            let all: u64 = calls.outcomes.values().sum();
            text.part("_bucket", &format!("{{method=\"{method}\",le=\"+Inf\"}}"), all);
            text.part("_sum", &format!("{{method=\"{method}\"}}"), calls.seconds);
            text.part("_count", &format!("{{method=\"{method}\"}}"), all);
        }
    }

    fn render_connections(&self, text: &mut Text) {
        let ways = [("socket", &self.socket), ("http", &self.http)];
        text.family("headsup_connections", "gauge", "Connections that are open.");
        for (over, connections) in ways {
            let open = connections.open.load(Ordering::Relaxed);
            text.sample(&format!("{{over=\"{over}\"}}"), open);
        }
        text.family("headsup_connections_total", "counter", "Connections, taken or refused.");
        for (over, connections) in ways {
            for (what, count) in
                [("accepted", &connections.accepted), ("refused", &connections.refused)]
            {
                let count = count.load(Ordering::Relaxed);
                text.sample(&format!("{{over=\"{over}\",outcome=\"{what}\"}}"), count);
            }
        }
    }
}

impl Observer for Metrics {
    fn called(&self, method: Option<&str>, response: Option<&str>, took: Duration) {
        let outcome = outcome(response);
        let seconds = took.as_secs_f64();
        let mut all = lock(&self.calls);
        let method = method.unwrap_or("none");
        if !all.contains_key(method) {
            all.insert(method.to_owned(), Calls::default());
        }
        let Some(calls) = all.get_mut(method) else { return };
        *calls.outcomes.entry(outcome).or_default() += 1;
        calls.seconds += seconds;
        for (bound, count) in BOUNDS.iter().zip(&mut calls.buckets) {
            *count += u64::from(seconds <= *bound);
        }
    }
}

impl Connections {
    /// Counts one that was turned away.
    pub(super) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }
}

impl Open {
    /// Counts one from now on.
    pub(super) fn new(metrics: Arc<Metrics>, over: fn(&Metrics) -> &Connections) -> Self {
        over(&metrics).accepted.fetch_add(1, Ordering::Relaxed);
        over(&metrics).open.fetch_add(1, Ordering::Relaxed);
        Self { metrics, over }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        (self.over)(&self.metrics).open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How a call ended, in a word.
fn outcome(response: Option<&str>) -> &'static str {
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        result: Option<&'a RawValue>,
        error: Option<Fault>,
    }
    #[derive(Deserialize)]
    struct Fault {
        code: i64,
    }
    let Some(response) = response else { return "unanswered" };
    match serde_json::from_str(response) {
        Ok(Response { error: Some(Fault { code: -32_601 }), .. }) => "unavailable",
        Ok(Response { error: Some(Fault { code: -32_000 }), .. }) | Err(_) => "error",
        Ok(Response { error: Some(_), .. }) => "refused",
        // What best-effort recording could not do; nothing that a caller says can stand there.
        Ok(Response { result: Some(result), .. })
            if result.get().starts_with(r#"{"outcome":"failed""#)
                || result.get().starts_with(r#"{"outcomes":[{"outcome":"failed""#) =>
        {
            "failed"
        }
        Ok(_) => "ok",
    }
}

fn render_readings(text: &mut Text, readings: &Readings) {
    let Readings { events, streams, pending, store, core } = readings;
    text.family("headsup_events_total", "counter", "Events, by what they are.");
    for (event, count) in [
        ("notice", events.notices),
        ("wake", events.wakes),
        ("log-warn", events.warnings),
        ("log-error", events.errors),
    ] {
        text.sample(&format!("{{event=\"{event}\"}}"), count);
    }
    text.one("headsup_event_streams", "gauge", "Event streams that are open.", streams);
    text.one(
        "headsup_event_streams_too_slow_total",
        "counter",
        "Event streams that were ended because their reader was too slow.",
        events.overflows,
    );
    text.one(
        "headsup_store_up",
        "gauge",
        "Whether the store answers.",
        u8::from(pending.is_some()),
    );
    if let Some((notices, watchers)) = pending {
        text.one("headsup_pending_notices", "gauge", "Notices that are pending.", notices);
        text.one("headsup_pending_watchers", "gauge", "Watchers with any of them.", watchers);
    }
    if let Some((file, log)) = store {
        text.family("headsup_store_bytes", "gauge", "The store on the disk.");
        text.sample("{part=\"file\"}", file);
        text.sample("{part=\"wal\"}", log);
    }
    text.family("headsup_core_info", "gauge", "The core that serves.");
    let (name, version) = (label(&core.name), label(&core.version));
    let protocol = label(&core.protocol);
    text.sample(&format!("{{name=\"{name}\",version=\"{version}\",protocol=\"{protocol}\"}}"), 1);
    text.family("headsup_info", "gauge", "The host.");
    text.sample(&format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION")), 1);
}

/// A text of a core's as the value of a label.
fn label(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control(), " ");
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The format: a family's help and type once, then its samples.
#[derive(Default)]
struct Text {
    whole: String,
    family: &'static str,
}

impl Text {
    fn family(&mut self, name: &'static str, kind: &str, help: &str) {
        self.family = name;
        // Writing into a text does not fail; here and below.
        let _ = write!(self.whole, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, labels: &str, value: impl std::fmt::Display) {
        self.part("", labels, value);
    }

    fn part(&mut self, suffix: &str, labels: &str, value: impl std::fmt::Display) {
        let name = self.family;
        let _ = writeln!(self.whole, "{name}{suffix}{labels} {value}");
    }

    fn one(&mut self, name: &'static str, kind: &str, help: &str, value: impl std::fmt::Display) {
        self.family(name, kind, help);
        self.sample("", value);
    }
}

/// Nobody else's code runs under these locks, so a poisoned one is whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_one_of_six_words() {
        let error = |code: i64| format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":{code}}}}}"#);
        for (response, word) in [
            (None, "unanswered"),
            (Some(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned()), "ok"),
            (
                Some(r#"{"id":1,"result":{"outcome":"failed","reason":"store-busy"}}"#.into()),
                "failed",
            ),
            (Some(error(-32_602)), "refused"),
            (Some(error(-32_700)), "refused"),
            (Some(error(-32_601)), "unavailable"),
            (Some(error(-32_000)), "error"),
        ] {
            assert_eq!(outcome(response.as_deref()), word, "{response:?}");
        }
    }

    #[test]
    fn a_call_is_in_every_bucket_whose_bound_it_kept() {
        let metrics = Metrics::default();
        metrics.called(Some("take"), Some(r#"{"result":{}}"#), Duration::from_millis(20));
        metrics.called(None, None, Duration::from_secs(100));
        let mut text = Text::default();
        metrics.render_calls(&mut text);
        for line in [
            "headsup_calls_total{method=\"take\",outcome=\"ok\"} 1",
            "headsup_calls_total{method=\"none\",outcome=\"unanswered\"} 1",
            "headsup_call_seconds_bucket{method=\"take\",le=\"0.01\"} 0",
            "headsup_call_seconds_bucket{method=\"take\",le=\"0.025\"} 1",
            "headsup_call_seconds_bucket{method=\"none\",le=\"10\"} 0",
            "headsup_call_seconds_bucket{method=\"none\",le=\"+Inf\"} 1",
            "headsup_call_seconds_count{method=\"take\"} 1",
        ] {
            assert!(text.whole.lines().any(|it| it == line), "{line} in {}", text.whole);
        }
    }

    #[test]
    fn what_a_core_says_of_itself_breaks_no_line() {
        assert_eq!(label("a\"b\\c\nd"), "a\\\"b\\\\c d");
        // Which methods it has, too.
        let metrics = Metrics::default();
        metrics.called(Some("a\"\nb"), None, Duration::ZERO);
        let mut text = Text::default();
        metrics.render_calls(&mut text);
        let samples = || text.whole.lines().filter(|line| !line.starts_with('#'));
        let named = samples().filter(|line| line.contains("{method=\"a\\\" b\"")).count();
        let all = samples().count();
        assert_eq!(named, all, "{}", text.whole);
        assert!(all > 0, "{}", text.whole);
    }
}
