-- Reads one page, so that a deferred transaction takes its snapshot now and not at whatever verb
-- happens to come first.
-- Columns: a number without meaning.
SELECT rowid FROM sqlite_schema LIMIT 1;
