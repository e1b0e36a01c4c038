-- Inserts or replaces the head of a session.
INSERT INTO session_state_heads (
  session_key, agent_id, version, watermark, notifying_newest, notifying_actor, notifying_other,
  moved_at)
VALUES (
  :session_key, :agent_id, :version, :watermark, :notifying_newest, :notifying_actor,
  :notifying_other, :moved_at)
ON CONFLICT (session_key, agent_id) DO UPDATE SET
  version = excluded.version,
  watermark = excluded.watermark,
  notifying_newest = excluded.notifying_newest,
  notifying_actor = excluded.notifying_actor,
  notifying_other = excluded.notifying_other,
  moved_at = excluded.moved_at;
