-- Live cursors whose notice does not follow from the target's head. *Material* is the newest
-- notifying event that is not the watcher's own, and never below last_seen; a notice is open
-- exactly while material is ahead of last_seen, and never stands for more than material.
-- Columns: watcher_key, session_key, agent_id, what is wrong.
WITH cursor AS (
  SELECT c.watcher_key, c.target_key, c.target_agent_id, c.last_seen, c.notified,
    max(c.last_seen, coalesce(
      CASE WHEN h.notifying_actor = c.watcher_key
        THEN h.notifying_other
        ELSE h.notifying_newest
      END, 0)) AS material
  FROM session_watch_cursors AS c
  LEFT JOIN session_state_heads AS h
    ON h.session_key = c.target_key AND h.agent_id = c.target_agent_id
  WHERE c.state = 'live')
SELECT watcher_key, target_key, target_agent_id,
  CASE
    WHEN notified > material
      THEN format('was notified of %d, but the newest change by others is %d', notified, material)
    ELSE format('has no notice open, but has seen %d and others changed the session at %d',
      last_seen, material)
  END
FROM cursor
WHERE notified > material OR (material > last_seen AND notified <= last_seen)
ORDER BY 1, 2, 3;
