-- What stands between a watcher and a target: always one row, so that cursor and head come from
-- one snapshot.
-- Columns: watcher_key, target_key, target_agent_id, state, provenance, last_seen, notified,
-- moved_at of the cursor, all NULL without one; version, watermark, notifying_newest,
-- notifying_actor, notifying_other, moved_at of the head, all NULL without one.
SELECT
  c.watcher_key, c.target_key, c.target_agent_id, c.state, c.provenance, c.last_seen, c.notified,
  c.moved_at,
  h.version, h.watermark, h.notifying_newest, h.notifying_actor, h.notifying_other, h.moved_at
FROM (SELECT 1)
LEFT JOIN session_watch_cursors AS c
  ON c.watcher_key = :watcher_key
 AND c.target_key = :target_key
 AND c.target_agent_id = :target_agent_id
LEFT JOIN session_state_heads AS h
  ON h.session_key = :target_key AND h.agent_id = :target_agent_id;
