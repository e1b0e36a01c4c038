-- Moves the head of a session; changes no row if it has none. Tried before the insert, which checks
-- twice what cannot have changed.
UPDATE session_state_heads
SET version = :version,
    watermark = :watermark,
    notifying_newest = :notifying_newest,
    notifying_actor = :notifying_actor,
    notifying_other = :notifying_other,
    moved_at = :moved_at
WHERE session_key = :session_key AND agent_id = :agent_id;
