-- The live cursors on a session without an open notice, by watcher. The partial index holds those
-- alone, so the cost does not depend on watchers that are pending already; the planner would not
-- choose it by itself.
-- Columns: watcher_key, target_key, target_agent_id, state, provenance, last_seen, notified,
-- moved_at.
SELECT watcher_key, target_key, target_agent_id, state, provenance, last_seen, notified, moved_at
FROM session_watch_cursors INDEXED BY session_watch_cursors_settled
WHERE target_key = :session_key
  AND target_agent_id = :agent_id
  AND notified = last_seen
ORDER BY watcher_key;
