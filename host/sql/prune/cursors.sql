-- Removes expired cursors and marks: those that did not move since the cutoff and whose target did
-- not either, so that a busy target keeps its watchers.
DELETE FROM session_watch_cursors AS c
WHERE c.moved_at < :moved_before
  AND NOT EXISTS (
    SELECT 1
    FROM session_state_heads AS h
    WHERE h.session_key = c.target_key
      AND h.agent_id = c.target_agent_id
      AND h.moved_at >= :moved_before);
