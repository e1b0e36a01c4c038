-- The head of a session.
-- Columns: version, watermark, notifying_newest, notifying_actor, notifying_other, moved_at.
SELECT version, watermark, notifying_newest, notifying_actor, notifying_other, moved_at
FROM session_state_heads
WHERE session_key = :session_key AND agent_id = :agent_id;
