-- Appends a row to the signal log. The number it gets (`last_insert_rowid`) is above every one
-- that was ever committed: AUTOINCREMENT never goes back.
INSERT INTO session_state_events (
  dedupe_key, session_key, agent_id, session_id, kind, actor_type, actor_id, run_id,
  occurred_at, summary, payload_json)
VALUES (
  :dedupe_key, :session_key, :agent_id, :session_id, :kind, :actor_type, :actor_id, :run_id,
  :occurred_at, :summary, :payload_json);
