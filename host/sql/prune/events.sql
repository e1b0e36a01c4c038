-- Removes the rows of the batch. The conditions are those of prune/batch.sql.
DELETE FROM session_state_events
WHERE sequence <= :last
  AND (occurred_at < :occurred_before OR sequence <= :surplus);
