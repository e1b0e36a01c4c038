-- Whether the counter of sequences is at or above every number that the store holds: below one, it
-- would give that number again. And whether it has a number left to give.
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
  CASE WHEN counter < highest
    THEN format('the series of sequences stands at %d, but %d was given already', counter, highest)
    ELSE format(
      'the series of sequences stands at %d: no number up to %d is left to record with',
      counter, 9007199254740991)
  END
FROM given
WHERE counter < highest
   OR counter >= 9007199254740991;
