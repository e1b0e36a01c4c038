-- Sessions without a key or an agent, wherever one is named, and qualified keys of another agent.
-- Columns: watcher_key (NULL), session_key, agent_id, what is wrong.
WITH session (session_key, agent_id) AS (
  SELECT session_key, agent_id FROM session_state_events
  UNION
  SELECT session_key, agent_id FROM session_state_heads
  UNION
  SELECT target_key, target_agent_id FROM session_watch_cursors
  UNION
  SELECT session_key, agent_id FROM session_upstream_links
  UNION
  SELECT session_key, agent_id FROM headsup_own_turns)
SELECT NULL, session_key, agent_id,
  CASE
    WHEN session_key = '' THEN 'has an empty key'
    WHEN agent_id = '' THEN 'has an empty agent id'
    ELSE 'has a key that names another agent'
  END
FROM session
WHERE session_key = ''
   OR agent_id = ''
   OR (session_key GLOB 'agent:?*:?*'
       AND substr(session_key, 1, length(agent_id) + 7) <> 'agent:' || agent_id || ':')
ORDER BY 2, 3;
