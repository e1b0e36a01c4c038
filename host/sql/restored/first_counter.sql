-- Starts the counter where somebody removed it.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'session_state_events', :position
WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'session_state_events');
