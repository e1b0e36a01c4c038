-- The last number that was given in the series of sequences.
-- Columns: the number.
SELECT seq
FROM sqlite_sequence
WHERE name = 'session_state_events';
