-- Rows of the log with a kind, an actor or a time that the protocol does not know, or a payload
-- that is no JSON object.
-- Columns: watcher_key (NULL), session_key, agent_id, what is wrong.
SELECT NULL, session_key, agent_id,
  CASE
    WHEN kind NOT IN (
      'human_direct_message', 'upstream_missing', 'goal_changed', 'child_spawned',
      'run_completed', 'run_failed', 'compacted', 'adopted', 'created')
      THEN format('has event %d of an unknown kind', sequence)
    WHEN actor_type NOT IN ('human', 'agent', 'system')
      THEN format('has event %d of an unknown type of actor', sequence)
    WHEN occurred_at NOT BETWEEN 0 AND 9007199254740991
      THEN format('has event %d with a time out of range', sequence)
    ELSE format('has event %d with a payload that is no JSON object', sequence)
  END
FROM session_state_events
WHERE kind NOT IN (
    'human_direct_message', 'upstream_missing', 'goal_changed', 'child_spawned',
    'run_completed', 'run_failed', 'compacted', 'adopted', 'created')
   OR actor_type NOT IN ('human', 'agent', 'system')
   OR occurred_at NOT BETWEEN 0 AND 9007199254740991
   OR (payload_json IS NOT NULL
       AND CASE WHEN json_valid(payload_json)
             THEN json_type(payload_json) <> 'object'
             ELSE 1
           END)
ORDER BY 2, 3, sequence;
