-- The rows of a session after a version, in order.
-- Columns: sequence, session_key, agent_id, kind, actor_type, actor_id, occurred_at, summary,
-- session_id, run_id, payload_json, dedupe_key.
SELECT
  sequence, session_key, agent_id, kind, actor_type, actor_id, occurred_at, summary, session_id,
  run_id, payload_json, dedupe_key
FROM session_state_events INDEXED BY session_state_events_by_session
WHERE session_key = :session_key
  AND agent_id = :agent_id
  AND sequence > :after
ORDER BY sequence
LIMIT :limit;
