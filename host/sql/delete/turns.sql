-- Removes what a gateway said of its own turns in a session.
DELETE FROM headsup_own_turns
WHERE session_key = :session_key AND agent_id = :agent_id;
