-- The cursor or mark that one watcher has on a session.
-- Columns: watcher_key, target_key, target_agent_id, state, provenance, last_seen, notified,
-- moved_at.
SELECT watcher_key, target_key, target_agent_id, state, provenance, last_seen, notified, moved_at
FROM session_watch_cursors
WHERE watcher_key = :watcher_key
  AND target_key = :session_key
  AND target_agent_id = :agent_id;
