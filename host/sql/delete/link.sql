-- Removes the upstream link of a session.
DELETE FROM session_upstream_links
WHERE session_key = :session_key AND agent_id = :agent_id;
