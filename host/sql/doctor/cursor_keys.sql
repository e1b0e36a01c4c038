-- Cursors of watchers that cannot watch: a watcher has an agent-qualified key and is not its own
-- target.
-- Columns: watcher_key, session_key, agent_id, what is wrong.
SELECT watcher_key, target_key, target_agent_id,
  CASE WHEN watcher_key = target_key
    THEN 'watches itself'
    ELSE 'has a watcher whose key is not agent-qualified'
  END
FROM session_watch_cursors
WHERE watcher_key = target_key
   OR watcher_key NOT GLOB 'agent:?*:?*'
ORDER BY 1, 2, 3;
