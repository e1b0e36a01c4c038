-- Removes the tombstones of sessions that were deleted before the cutoff. Heads of sessions that
-- live are kept for ever.
DELETE FROM session_state_heads
WHERE version = 0 AND moved_at < :moved_before;
