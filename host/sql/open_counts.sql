-- Who has how many open notices, by watcher. The index holds open notices alone.
-- Columns: watcher_key, the count.
SELECT watcher_key, count(*)
FROM session_watch_cursors INDEXED BY session_watch_cursors_open
WHERE notified > last_seen
GROUP BY watcher_key
ORDER BY watcher_key;
