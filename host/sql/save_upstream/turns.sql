-- Inserts or replaces what a gateway said of its own turns in a session.
INSERT INTO headsup_own_turns (session_key, agent_id, sent, running_until, moved_at)
VALUES (:session_key, :agent_id, :sent, :running_until, :now)
ON CONFLICT (session_key, agent_id) DO UPDATE SET
  sent = excluded.sent,
  running_until = excluded.running_until,
  moved_at = excluded.moved_at;
