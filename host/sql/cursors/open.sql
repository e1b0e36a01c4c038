-- All open notices with the heads of their targets, by watcher, then target key, then agent: those
-- strictly after a pair. Empty text is before every pair. The index holds open notices alone.
-- Columns: watcher_key, target_key, target_agent_id, state, provenance, last_seen, notified,
-- moved_at of the cursor; version, watermark, notifying_newest, notifying_actor, notifying_other,
-- moved_at of the head, all NULL without one.
SELECT
  c.watcher_key, c.target_key, c.target_agent_id, c.state, c.provenance, c.last_seen, c.notified,
  c.moved_at,
  h.version, h.watermark, h.notifying_newest, h.notifying_actor, h.notifying_other, h.moved_at
FROM session_watch_cursors AS c INDEXED BY session_watch_cursors_open
LEFT JOIN session_state_heads AS h
  ON h.session_key = c.target_key AND h.agent_id = c.target_agent_id
WHERE c.notified <> c.last_seen
  AND (c.watcher_key, c.target_key, c.target_agent_id)
    > (:after_watcher_key, :after_target_key, :after_target_agent_id)
ORDER BY c.watcher_key, c.target_key, c.target_agent_id
LIMIT :limit;
