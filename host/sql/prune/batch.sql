-- Where a batch ends: the rows that are due, oldest sequence first, cut after so many. A row is
-- due if it occurred strictly before the cutoff or is surplus; NULL switches a rule off.
-- Columns: the last sequence of the batch, NULL if nothing is due; how many rows it has.
SELECT max(sequence), count(*)
FROM (
  SELECT sequence
  FROM session_state_events
  WHERE occurred_at < :occurred_before OR sequence <= :surplus
  ORDER BY sequence
  LIMIT :at_most);
