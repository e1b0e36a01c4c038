-- Turns the head of a session into a tombstone, so that every version from before answers with a
-- gap for as long as the tombstone is kept. A session without a head gets none.
UPDATE session_state_heads
SET version = 0,
    watermark = max(watermark, version),
    notifying_newest = NULL,
    notifying_actor = NULL,
    notifying_other = NULL,
    moved_at = :now
WHERE session_key = :session_key AND agent_id = :agent_id;
