-- Moves a cursor that is live already; changes no row if it is not. Tried before the insert,
-- because it leaves the index by target alone: opening notices is what recording does most.
UPDATE session_watch_cursors
SET provenance = :provenance, last_seen = :last_seen, notified = :notified, moved_at = :moved_at
WHERE watcher_key = :watcher_key
  AND target_key = :target_key
  AND target_agent_id = :target_agent_id
  AND state = 'live';
