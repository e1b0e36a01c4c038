-- Upstream links that no core would have saved: a state that is no JSON object, a kind that is no
-- word, or a number out of range; and of the kinds that headsup itself knows, a file without an
-- absolute path or with a thread, and a node without a thread. Another core may know other kinds.
-- Columns: watcher_key (NULL), session_key, agent_id, what is wrong.
WITH checked (session_key, agent_id, problem) AS (
  SELECT session_key, agent_id,
    CASE
      WHEN source_kind = '' OR source_kind GLOB '*[^a-z0-9-]*' OR instr(source_kind, char(0))
        THEN 'has a link whose kind of source is no word'
      WHEN source_kind IN ('claude-jsonl', 'codex-jsonl')
        AND source_place NOT GLOB '/*'
        AND source_place NOT GLOB '[A-Za-z]:[\/]*'
        AND source_place NOT GLOB '\\*'
        THEN 'has a link to a file without an absolute path'
      WHEN source_kind IN ('claude-jsonl', 'codex-jsonl') AND source_thread IS NOT NULL
        THEN 'has a link to a file that names a thread on a node'
      WHEN source_kind = 'claude-node' AND source_thread IS NULL
        THEN 'has a link to a node that names no thread'
      WHEN NOT CASE WHEN json_valid(state_json) THEN json_type(state_json) = 'object' ELSE 0 END
        THEN 'has a link whose state is no JSON object'
      WHEN generation NOT BETWEEN 1 AND 9007199254740991
        OR revision NOT BETWEEN 1 AND 9007199254740991
        OR misses NOT BETWEEN 0 AND 1000
        THEN 'has a link with a generation, revision or number of misses out of range'
      WHEN coalesce(checked_at, 0) NOT BETWEEN 0 AND 9007199254740991
        OR claimed_until NOT BETWEEN 0 AND 9007199254740991
        THEN 'has a link with a time out of range'
    END
  FROM session_upstream_links)
SELECT NULL, session_key, agent_id, problem
FROM checked
WHERE problem IS NOT NULL
ORDER BY 2, 3;
