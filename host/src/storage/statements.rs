//! The SQL, embedded: one constant for each file in `host/sql/`, named after it.

use rusqlite::{Connection, StatementStatus};

/// Cuts off the comment that opens a file: statements are looked up by their text, at each use.
const fn without_opening_comment(file: &'static str) -> &'static str {
    let mut rest = file;
    while let [b'-', b'-', ..] = rest.as_bytes() {
        let bytes = rest.as_bytes();
        let mut end = 0;
        while end < bytes.len() && bytes[end] != b'\n' {
            end += 1;
        }
        rest = rest.split_at(if end < bytes.len() { end + 1 } else { end }).1;
    }
    rest
}

/// The values of a statement, under the names that its text gives them, to be bound by place:
/// finding the names again at each use took a tenth of a recording. That the names stand in this
/// order, by where each stands first, is checked when this is compiled.
macro_rules! bound {
    ($statement:expr, $($name:literal: $value:expr),+ $(,)?) => {{
        const { $crate::storage::statements::assert_names($statement, &[$($name),+]) };
        ($($value,)+)
    }};
}
pub(super) use bound;

/// Refuses to compile unless these are all names of a statement, in the order in which they first
/// stand in it: SQLite counts them so.
pub(super) const fn assert_names(statement: &str, names: &[&str]) {
    let text = statement.as_bytes();
    let (mut at, mut found) = (0, 0);
    while at < text.len() {
        let mut end = at + 1;
        if text[at] == b':' {
            while end < text.len() && (text[end].is_ascii_lowercase() || text[end] == b'_') {
                end += 1;
            }
            let mut known = 0;
            while known < found && !is_at(names[known].as_bytes(), text, at, end) {
                known += 1;
            }
            if known == found {
                assert!(found < names.len(), "the statement has more names");
                let next = is_at(names[found].as_bytes(), text, at, end);
                assert!(next, "the statement's names stand in another order");
                found += 1;
            }
        }
        at = end;
    }
    assert!(found == names.len(), "the statement has fewer names");
}

const fn is_at(name: &[u8], text: &[u8], from: usize, to: usize) -> bool {
    let mut at = 0;
    while at < name.len() && from + at < to && name[at] == text[from + at] {
        at += 1;
    }
    at == name.len() && from + at == to
}

macro_rules! statements {
    ($($name:ident = $file:literal;)*) => {
        $(pub(super) const $name: &str =
            without_opening_comment(include_str!(concat!("../../sql/", $file)));)*

        /// Every statement with the file it comes from.
        pub(super) const ALL: &[(&str, &str)] = &[$(($file, $name),)*];
    };
}

statements! {
    SNAPSHOT = "open/snapshot.sql";
    APPEND_DUPLICATE = "append/duplicate.sql";
    APPEND_TARGET = "append/target.sql";
    APPEND_INSERT = "append/insert.sql";
    APPEND_SETTLED = "append/settled.sql";
    APPEND_NAMED = "append/named.sql";
    SAVE_HEAD = "save/head.sql";
    SAVE_FIRST_HEAD = "save/first_head.sql";
    SAVE_MOVE_CURSOR = "save/move_cursor.sql";
    SAVE_PUT_CURSOR = "save/put_cursor.sql";
    CURSORS_OF_WATCHER = "cursors/of_watcher.sql";
    CURSORS_ON_TARGET = "cursors/on_target.sql";
    CURSORS_OPEN_OF = "cursors/open_of.sql";
    CURSORS_OPEN = "cursors/open.sql";
    OPEN_COUNTS = "open_counts.sql";
    PAIRS = "pairs.sql";
    HEADS = "heads.sql";
    HISTORY_ROWS = "history/rows.sql";
    HISTORY_RESTORED_AT = "history/restored_at.sql";
    RESET = "reset.sql";
    DELETE_EVENTS = "delete/events.sql";
    DELETE_CURSORS_ON_IT = "delete/cursors_on_it.sql";
    DELETE_CURSORS_IT_HOLDS = "delete/cursors_it_holds.sql";
    DELETE_LINK = "delete/link.sql";
    DELETE_TURNS = "delete/turns.sql";
    DELETE_TOMBSTONE = "delete/tombstone.sql";
    PRUNE_SURPLUS = "prune/surplus.sql";
    PRUNE_BATCH = "prune/batch.sql";
    PRUNE_WATERMARKS = "prune/watermarks.sql";
    PRUNE_EVENTS = "prune/events.sql";
    PRUNE_MORE = "prune/more.sql";
    PRUNE_CURSORS = "prune/cursors.sql";
    PRUNE_TOMBSTONES = "prune/tombstones.sql";
    PRUNE_TURNS = "prune/turns.sql";
    RESTORED_POSITION = "restored/position.sql";
    RESTORED_COUNTER = "restored/counter.sql";
    RESTORED_FIRST_COUNTER = "restored/first_counter.sql";
    RESTORED_HEADS = "restored/heads.sql";
    RESTORED_MARK = "restored/mark.sql";
    UPSTREAM_OF = "upstream_of.sql";
    SAVE_UPSTREAM_LINK = "save_upstream/link.sql";
    SAVE_UPSTREAM_TURNS = "save_upstream/turns.sql";
    CLAIM_DUE = "claim/due.sql";
    CLAIM_TAKE = "claim/take.sql";
    SETTINGS_GET = "settings/get.sql";
    SETTINGS_SET = "settings/set.sql";
}

/// The steps that these statements took so far on a connection. One that cannot be prepared took none
/// that ended well.
pub(super) fn steps(connection: &Connection) -> u64 {
    let taken = ALL.iter().filter_map(|(_, sql)| connection.prepare_cached(sql).ok());
    // Counted in 32 bits without a sign.
    let steps =
        taken.map(|statement| statement.get_status(StatementStatus::VmStep).cast_unsigned());
    steps.map(u64::from).sum()
}
