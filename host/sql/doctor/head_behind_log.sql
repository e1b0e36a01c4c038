-- Sessions whose log holds a row above their state version: the head was not saved with it, or was
-- lost.
-- Columns: watcher_key (NULL), session_key, agent_id, what is wrong.
SELECT NULL, e.session_key, e.agent_id,
  CASE
    WHEN h.version IS NULL THEN format('has rows up to %d, but no head', max(e.sequence))
    ELSE format('has rows up to %d, but its state version is %d', max(e.sequence), h.version)
  END
FROM session_state_events AS e
LEFT JOIN session_state_heads AS h
  ON h.session_key = e.session_key AND h.agent_id = e.agent_id
GROUP BY e.session_key, e.agent_id
HAVING max(e.sequence) > coalesce(h.version, 0)
ORDER BY 2, 3;
