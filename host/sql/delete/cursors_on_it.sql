-- Removes the cursors on a session that are in one state, so that live ones and marks can be
-- counted apart.
DELETE FROM session_watch_cursors
WHERE target_key = :session_key AND target_agent_id = :agent_id AND state = :state;
