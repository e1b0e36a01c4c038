-- The first head of a session.
INSERT INTO session_state_heads (
  version, watermark, notifying_newest, notifying_actor, notifying_other, moved_at, session_key,
  agent_id)
VALUES (
  :version, :watermark, :notifying_newest, :notifying_actor, :notifying_other, :moved_at,
  :session_key, :agent_id);
