-- Raises every head to the position, so that each version from before answers with a gap.
-- Tombstones keep version 0.
UPDATE session_state_heads
SET version = CASE version WHEN 0 THEN 0 ELSE :position END,
    watermark = :position;
