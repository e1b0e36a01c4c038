-- Cursors whose parts do not fit together: a live one has a provenance and last_seen <= notified,
-- a mark has neither. The table says so itself; this finds what was written around it.
-- Columns: watcher_key, session_key, agent_id, what is wrong.
SELECT watcher_key, target_key, target_agent_id,
  CASE
    WHEN state NOT IN ('live', 'unwatched') THEN 'has a state that is neither live nor unwatched'
    WHEN state = 'unwatched' THEN 'is the mark of an unwatch, but has positions or a provenance'
    WHEN provenance IS NULL OR provenance NOT IN ('spawn', 'explicit', 'ambient')
      THEN 'has a provenance other than spawn, explicit and ambient'
    WHEN last_seen IS NULL OR notified IS NULL THEN 'is live, but lacks a position'
    WHEN last_seen > notified
      THEN format('has last_seen %d after notified %d', last_seen, notified)
    ELSE format('has positions out of range: last_seen %d, notified %d', last_seen, notified)
  END
FROM session_watch_cursors
WHERE CASE state
    WHEN 'live' THEN NOT coalesce(
      provenance IN ('spawn', 'explicit', 'ambient')
      AND 0 <= last_seen AND last_seen <= notified AND notified <= 9007199254740991, 0)
    WHEN 'unwatched' THEN NOT (provenance IS NULL AND last_seen IS NULL AND notified IS NULL)
    ELSE 1
  END
ORDER BY 1, 2, 3;
