-- Live cursors that have seen or were notified of more than was ever recorded on their target: only
-- a part of the store was brought back from somewhere else.
-- Columns: watcher_key, session_key, agent_id, what is wrong.
SELECT c.watcher_key, c.target_key, c.target_agent_id,
  format('stands at %d, but the session''s state version is %d',
    max(c.last_seen, c.notified), coalesce(h.version, 0))
FROM session_watch_cursors AS c
LEFT JOIN session_state_heads AS h
  ON h.session_key = c.target_key AND h.agent_id = c.target_agent_id
WHERE c.state = 'live'
  AND max(c.last_seen, c.notified) > coalesce(h.version, 0)
ORDER BY 1, 2, 3;
