-- Raises the watermark of each session to the highest of its rows that the batch removes. Runs
-- before the rows go, in the same transaction: no reader ever misses rows without seeing the gap.
UPDATE session_state_heads
SET watermark = max(watermark, due.highest)
FROM (
  SELECT session_key, agent_id, max(sequence) AS highest
  FROM session_state_events
  WHERE sequence <= :last
    AND (occurred_at < :occurred_before OR sequence <= :surplus)
  GROUP BY session_key, agent_id) AS due
WHERE session_state_heads.session_key = due.session_key
  AND session_state_heads.agent_id = due.agent_id;
