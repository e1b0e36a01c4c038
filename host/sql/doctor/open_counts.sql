-- Watchers whose kept count of open notices is not the number of their open cursors: somebody wrote
-- to the store without its triggers.
-- Columns: watcher_key, session_key, agent_id, what is wrong.
SELECT NULL, NULL, NULL,
  format('watcher %Q has %d notices open, and %d are counted', watcher_key, sum(open), sum(counted))
FROM (
  SELECT watcher_key, 1 AS open, 0 AS counted
  FROM session_watch_cursors
  WHERE notified <> last_seen
  UNION ALL
  SELECT watcher_key, 0, notices
  FROM headsup_open_counts)
GROUP BY watcher_key
HAVING sum(open) <> sum(counted)
ORDER BY watcher_key;
