-- The highest number that this store ever gave, wherever it is still known.
-- Columns: the number.
SELECT max(
  coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'session_state_events'), 0),
  coalesce((SELECT max(sequence) FROM session_state_events), 0),
  coalesce((SELECT max(max(version, watermark)) FROM session_state_heads), 0),
  coalesce((
    SELECT CAST(value AS INTEGER)
    FROM headsup_settings
    WHERE owner = 'host' AND name = 'restored-at'), 0));
