-- What the store holds, counted in one snapshot.
-- Columns: events, sessions, tombstones, spawn, explicit and ambient cursors, marks, open notices,
-- links, when the oldest and the newest kept event occurred (NULL without any), where the series of
-- sequences stands, where it stood when the store was last restored, schema version.
SELECT
  (SELECT count(*) FROM session_state_events),
  (SELECT count(*) FROM session_state_heads WHERE version > 0),
  (SELECT count(*) FROM session_state_heads WHERE version = 0),
  (SELECT count(*) FROM session_watch_cursors WHERE provenance = 'spawn'),
  (SELECT count(*) FROM session_watch_cursors WHERE provenance = 'explicit'),
  (SELECT count(*) FROM session_watch_cursors WHERE provenance = 'ambient'),
  (SELECT count(*) FROM session_watch_cursors WHERE state = 'unwatched'),
  (SELECT count(*) FROM session_watch_cursors WHERE notified <> last_seen),
  (SELECT count(*) FROM session_upstream_links),
  (SELECT min(occurred_at) FROM session_state_events),
  (SELECT max(occurred_at) FROM session_state_events),
  coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'session_state_events'), 0),
  coalesce((
    SELECT CAST(value AS INTEGER)
    FROM headsup_settings
    WHERE owner = 'host' AND name = 'restored-at'), 0),
  (SELECT max(version) FROM headsup_migrations);
