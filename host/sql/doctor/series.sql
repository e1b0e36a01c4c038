-- Whether the counter of sequences is at or above every number that the store holds: below one, it
-- would give that number again.
-- Columns: watcher_key (NULL), session_key (NULL), agent_id (NULL), what is wrong.
WITH given (counter, highest) AS (
  SELECT
    coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'session_state_events'), 0),
    max(
      coalesce((SELECT max(sequence) FROM session_state_events), 0),
      coalesce((SELECT max(max(version, watermark)) FROM session_state_heads), 0),
      coalesce((SELECT max(max(last_seen, notified)) FROM session_watch_cursors), 0),
      coalesce((
        SELECT CAST(value AS INTEGER)
        FROM headsup_settings
        WHERE owner = 'host' AND name = 'restored-at'), 0)))
SELECT NULL, NULL, NULL,
  format('the series of sequences stands at %d, but %d was given already', counter, highest)
FROM given
WHERE counter < highest;
