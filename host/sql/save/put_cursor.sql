-- Inserts or replaces what stands between a pair.
INSERT INTO session_watch_cursors (
  watcher_key, target_key, target_agent_id, state, provenance, last_seen, notified, moved_at)
VALUES (
  :watcher_key, :target_key, :target_agent_id, :state, :provenance, :last_seen, :notified,
  :moved_at)
ON CONFLICT (watcher_key, target_key, target_agent_id) DO UPDATE SET
  state = excluded.state,
  provenance = excluded.provenance,
  last_seen = excluded.last_seen,
  notified = excluded.notified,
  moved_at = excluded.moved_at;
