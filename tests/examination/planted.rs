//! Every planted fault is found by the case that names the rule it breaks.

use headsup::examination::FileStage;
use rusqlite::Connection;

use crate::bent::{BentStage, Fault};
use crate::stage::{Folder, examination};

/// Plays the cases whose rule begins so; each has to find the fault that was planted.
fn must_find(fault: Fault, sql: &str, rule: &str) {
    let folder = Folder::new();
    let open = || {
        let options = folder.next();
        let real = FileStage::open(&options).map_err(|failure| failure.message)?;
        Connection::open(&options.path).unwrap().execute_batch(sql).unwrap();
        Ok(BentStage::new(real, fault))
    };
    let report = examination().play_some(|it| it.starts_with(rule), open).unwrap();
    assert_eq!(report.cases, 1, "{fault:?}: one case has the rule {rule:?}");
    assert!(!report.holds(), "{fault:?} was not found: {report}");
    for found in report.found.iter().filter(|found| found.is_broken()) {
        let words = found.to_string();
        assert!(words.contains("\n  must: ") && words.contains("\n  was:  "), "{words}");
        // Whoever looks for the fault is not sent after the wrong thing.
        assert!(!words.contains("foreign-schema"), "{words}");
    }
}

macro_rules! found {
    ($($name:ident: $fault:ident, $rule:literal;)*) => {
        $(
            #[test]
            fn $name() {
                must_find(Fault::$fault, "", $rule);
            }
        )*
    };
}

found! {
    a_duplicate_that_is_appended: DuplicatesAppended, "A second append with a dedupe key";
    dedupe_keys_over_all_sessions: DedupeOverAllSessions, "A dedupe key is its session's";
    an_append_where_nobody_watches: WatchedOrNot, "`only-if-watched` appends where";
    pending_cursors_among_the_settled: SettledWithPending, "`settled` returns the live cursors";
    named_cursors_that_are_missing: NamedMissing, "`named` returns the cursors and marks";
    a_limit_of_history_that_is_ignored: HistoryLimitIgnored, "`after` is exclusive and `limit`";
    an_after_of_history_that_is_inclusive: HistoryAfterInclusive, "`after` is exclusive and `limit`";
    a_limit_of_lists_that_is_ignored: CursorLimitIgnored, "`limit` is the most that is listed";
    an_after_of_lists_that_is_inclusive: CursorAfterInclusive, "`after` is exclusive: pages";
    an_order_that_folds_case: CaseFolded, "Cursors are listed by watcher";
    marks_that_are_listed: MarksListed, "Marks are in no list";
    settled_cursors_that_are_counted: EveryCursorCounted, "`open-counts` goes by watcher";
    an_empty_text_that_becomes_absent: EmptyIsAbsent, "Absent is not empty";
    a_byte_order_mark_that_is_stripped: ByteOrderMarkStripped, "Text comes back byte for byte";
    large_numbers_that_are_rounded: LargeNumbersRounded, "Numbers up to 2^53 - 1";
    a_rollback_that_is_a_commit: RollbackKept, "`append` is undone by an error and by a trap";
    a_rollback_that_keeps_a_removal: RollbackKept, "`delete` is undone by an error and by a trap";
    a_trap_that_is_a_commit: TrapKept, "`save` is undone by an error and by a trap";
    a_failure_that_is_a_commit: FailureKept, "A call under which a verb failed is lost";
    verbs_without_a_transaction: WorksWithoutTransaction, "Without a transaction every verb";
    a_snapshot_that_is_not_held: SnapshotNotHeld, "A call on a snapshot does not see";
    a_snapshot_for_each_verb: SnapshotNotHeld, "A snapshot is one for all that is read";
    settings_outside_the_transaction: SettingsOutside, "Settings are part of the transaction";
    openings_of_a_call_that_was_rolled_back: DeliveredThoughRolledBack, "What a call enqueued before an error";
    openings_of_a_call_that_trapped: DeliveredThoughRolledBack, "What a call enqueued before a trap";
    openings_before_the_commit: DeliveredBeforeCommit, "Nothing is delivered before the commit";
    openings_in_another_order: DeliveredInReverse, "What a call enqueued is delivered once";
    lines_that_are_lost: LinesRolledBack, "A line is kept whatever becomes of its call";
    a_prune_that_takes_what_is_on_the_line: PrunedOnTheLine, "Rows go that occurred strictly before";
    a_prune_that_never_says_more: MoreNeverSaid, "At most `at-most` rows go";
    a_delete_by_key_alone: DeletedByKeyAlone, "`delete` removes the log of exactly that session";
    a_position_that_is_forgotten: RestoredForgotten, "`restored` raises the series";
    a_claim_that_is_given_twice: ClaimedTwice, "A claim holds";
    a_claim_that_a_save_loses: ClaimLostOnSave, "A claim stays when the link is saved";
    kinds_that_are_ignored: KindsIgnored, "A claim takes links that a live cursor targets";
    a_clock_that_runs_backwards: ClockBackwards, "The clock does not run backwards";
    a_clock_in_milliseconds: ClockInMilliseconds, "The clock tells the time of day";
}

macro_rules! found_in_the_file {
    ($($name:ident: $rule:literal, $sql:literal;)*) => {
        $(
            #[test]
            fn $name() {
                must_find(Fault::InTheFile, $sql, $rule);
            }
        )*
    };
}

found_in_the_file! {
    a_sequence_that_is_used_again_after_a_delete: "A sequence is not used again after its session was deleted",
        "CREATE TRIGGER bend AFTER DELETE ON session_state_events BEGIN
           UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(sequence), 0) FROM session_state_events)
           WHERE name = 'session_state_events';
         END";
    a_sequence_that_is_used_again_after_a_prune: "A sequence is not used again after it was pruned",
        "CREATE TRIGGER bend AFTER DELETE ON session_state_events BEGIN
           UPDATE sqlite_sequence SET seq = (SELECT coalesce(max(sequence), 0) FROM session_state_events)
           WHERE name = 'session_state_events';
         END";
    a_tombstone_that_is_missing: "`delete` leaves a tombstone",
        "CREATE TRIGGER bend AFTER UPDATE ON session_state_heads WHEN NEW.version = 0 BEGIN
           DELETE FROM session_state_heads WHERE version = 0;
         END";
    a_watermark_that_a_prune_does_not_raise: "Before rows go, each session's watermark rises",
        "CREATE TRIGGER bend AFTER UPDATE OF watermark ON session_state_heads
         WHEN NEW.watermark > OLD.watermark AND NEW.version = OLD.version BEGIN
           UPDATE session_state_heads SET watermark = OLD.watermark
           WHERE session_key = NEW.session_key AND agent_id = NEW.agent_id;
         END";
    a_watermark_that_sinks: "A watermark never sinks",
        "CREATE TRIGGER bend AFTER DELETE ON session_state_events BEGIN
           UPDATE session_state_heads SET watermark = OLD.sequence
           WHERE session_key = OLD.session_key AND agent_id = OLD.agent_id;
         END";
    a_reset_that_takes_marks: "`reset` removes the live cursors",
        "CREATE TRIGGER bend AFTER DELETE ON session_watch_cursors WHEN OLD.state = 'live' BEGIN
           DELETE FROM session_watch_cursors WHERE watcher_key = OLD.watcher_key AND state = 'unwatched';
         END";
    counts_that_do_not_follow_a_delete: "`open-counts` follows every way",
        "DROP TRIGGER headsup_notice_went_with_its_cursor";
    an_index_that_cannot_find_a_dedupe_key: "Appending and paging go by index",
        "DROP INDEX session_state_events_dedupe;
         CREATE INDEX session_state_events_dedupe
           ON session_state_events (session_key, agent_id, dedupe_key COLLATE NOCASE)
           WHERE dedupe_key IS NOT NULL";
    an_index_of_settled_cursors_with_all_others: "The cost of `append` does not depend",
        "DROP INDEX session_watch_cursors_settled;
         CREATE INDEX session_watch_cursors_settled
           ON session_watch_cursors (target_key, target_agent_id, watcher_key)";
    an_index_of_open_notices_with_all_others: "Lists, pairs and heads go by index",
        "DROP INDEX session_watch_cursors_open;
         CREATE INDEX session_watch_cursors_open
           ON session_watch_cursors (watcher_key, target_key, target_agent_id)";
    an_index_by_target_that_cannot_tell_states_apart: "The cost of `append` does not depend",
        "DROP INDEX session_watch_cursors_by_target;
         CREATE INDEX session_watch_cursors_by_target
           ON session_watch_cursors (target_key, target_agent_id COLLATE NOCASE, state, watcher_key)";
    an_index_by_target_that_has_all_marks_first: "Claiming costs by links, not by cursors",
        "DROP INDEX session_watch_cursors_by_target;
         CREATE INDEX session_watch_cursors_by_target
           ON session_watch_cursors (target_key, target_agent_id COLLATE NOCASE, state DESC, watcher_key)";
}
