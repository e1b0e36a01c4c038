-- What gateways said of their own turns, where no core would have saved it: hashes of more than 1,000
-- bytes, or a time out of range.
-- Columns: watcher_key (NULL), session_key, agent_id, what is wrong.
SELECT NULL, session_key, agent_id,
  CASE WHEN length(CAST(sent AS BLOB)) > 1000
    THEN 'has more than 1,000 bytes of hashes of what its gateway sent'
    ELSE 'has turns of its gateway with a time out of range'
  END
FROM headsup_own_turns
WHERE length(CAST(sent AS BLOB)) > 1000
   OR running_until NOT BETWEEN 0 AND 9007199254740991
   OR moved_at NOT BETWEEN 0 AND 9007199254740991
ORDER BY 2, 3;
