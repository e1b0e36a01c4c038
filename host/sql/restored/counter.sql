-- Raises the series of sequences: the next row gets the number after the position.
UPDATE sqlite_sequence
SET seq = :position
WHERE name = 'session_state_events';
