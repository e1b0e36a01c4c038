-- What appending to a session goes by, in one statement because every recording asks it: whether
-- anybody watches it, whether a watcher has no open notice, and its head as it is. One probe of an
-- index each, however many watchers there are.
-- Columns: whether somebody watches, if that is asked; whether a live cursor is settled, if that is
-- asked; version, watermark, notifying_newest, notifying_actor, notifying_other, moved_at of the
-- head, all NULL without one.
SELECT
  CASE WHEN :only_if_watched THEN EXISTS (
    SELECT 1
    FROM session_watch_cursors INDEXED BY session_watch_cursors_by_target
    WHERE target_key = :session_key AND target_agent_id = :agent_id AND state = 'live') END,
  CASE WHEN :settled THEN EXISTS (
    SELECT 1
    FROM session_watch_cursors INDEXED BY session_watch_cursors_settled
    WHERE target_key = :session_key AND target_agent_id = :agent_id
      AND notified = last_seen) END,
  h.version, h.watermark, h.notifying_newest, h.notifying_actor, h.notifying_other, h.moved_at
FROM (SELECT 1)
LEFT JOIN session_state_heads AS h
  ON h.session_key = :session_key AND h.agent_id = :agent_id;
