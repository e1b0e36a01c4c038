-- Whether anybody watches the session: one probe of the index, however many do.
-- Columns: 1, if so.
SELECT 1
FROM session_watch_cursors INDEXED BY session_watch_cursors_by_target
WHERE target_key = :session_key
  AND target_agent_id = :agent_id
  AND state = 'live'
LIMIT 1;
