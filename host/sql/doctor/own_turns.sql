-- What gateways said of their own turns, where it is not what a core would have saved: the hashes of
-- what was sent are at most 10 texts of at most 64 bytes.
-- Columns: watcher_key (NULL), session_key, agent_id, what is wrong.
WITH checked (session_key, agent_id, problem) AS (
  SELECT session_key, agent_id,
    CASE
      WHEN NOT CASE WHEN json_valid(sent_json) THEN json_type(sent_json) = 'array' ELSE 0 END
        THEN 'has hashes of sent texts that are no JSON array'
      WHEN json_array_length(sent_json) > 10 THEN 'has more than 10 hashes of sent texts'
      WHEN EXISTS (
        SELECT 1
        FROM json_each(sent_json)
        WHERE type <> 'text' OR length(CAST(value AS BLOB)) > 64)
        THEN 'has hashes of sent texts that are no texts of at most 64 bytes'
      WHEN running_until NOT BETWEEN 0 AND 9007199254740991
        OR moved_at NOT BETWEEN 0 AND 9007199254740991
        THEN 'has turns of the gateway with a time out of range'
    END
  FROM headsup_own_turns)
SELECT NULL, session_key, agent_id, problem
FROM checked
WHERE problem IS NOT NULL
ORDER BY 2, 3;
