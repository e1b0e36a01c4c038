-- Whether more rows are due after the batch.
-- Columns: 1, if so.
SELECT 1
FROM session_state_events
WHERE sequence > :last
  AND (occurred_at < :occurred_before OR sequence <= :surplus)
LIMIT 1;
