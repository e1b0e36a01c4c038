-- Every link with what its checks depend on, by session key, then agent.
-- Columns: session_key, agent_id, whether a live cursor targets the session; source_kind,
-- source_place, source_thread, catalog, generation, misses, checked_at, claimed_until, state_json of
-- the link; until when a turn of the session runs, 0 if none does.
SELECT
  link.session_key, link.agent_id,
  EXISTS (
    SELECT 1
    FROM session_watch_cursors AS c INDEXED BY session_watch_cursors_by_target
    WHERE c.target_key = link.session_key AND c.target_agent_id = link.agent_id AND c.state = 'live'),
  link.source_kind, link.source_place, link.source_thread, link.catalog, link.generation,
  link.misses, link.checked_at, link.claimed_until, link.state_json,
  coalesce(turns.running_until, 0)
FROM session_upstream_links AS link
LEFT JOIN headsup_own_turns AS turns
  ON turns.session_key = link.session_key AND turns.agent_id = link.agent_id
ORDER BY link.session_key, link.agent_id;
