-- Who has how many open notices, by watcher: a row a watcher, however many notices are open.
-- Columns: watcher_key, the count.
SELECT watcher_key, notices
FROM headsup_open_counts
ORDER BY watcher_key;
