-- Removes the log of a session.
DELETE FROM session_state_events
WHERE session_key = :session_key AND agent_id = :agent_id;
