-- Whether a kept row of the session has this dedupe key. Asked before the insert rather than
-- letting the unique index refuse it, so that a duplicate uses up no number.
-- Columns: sequence.
SELECT sequence
FROM session_state_events INDEXED BY session_state_events_dedupe
WHERE session_key = :session_key
  AND agent_id = :agent_id
  AND dedupe_key = :dedupe_key;
