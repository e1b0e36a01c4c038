-- What is kept of a session's source: always one row, so that all of it comes from one snapshot.
-- Columns: session_key, agent_id, whether a live cursor targets the session; source_kind,
-- source_place, source_thread, catalog, generation, revision, misses, state_json of the link, all NULL
-- without one;
-- sent and running_until of the gateway's own turns, NULL where it said nothing.
SELECT
  :session_key, :agent_id,
  EXISTS (
    SELECT 1
    FROM session_watch_cursors AS c INDEXED BY session_watch_cursors_by_target
    WHERE c.target_key = :session_key AND c.target_agent_id = :agent_id AND c.state = 'live'),
  link.source_kind, link.source_place, link.source_thread, link.catalog, link.generation,
  link.revision, link.misses, link.state_json,
  turns.sent, turns.running_until
FROM (SELECT 1)
LEFT JOIN session_upstream_links AS link
  ON link.session_key = :session_key AND link.agent_id = :agent_id
LEFT JOIN headsup_own_turns AS turns
  ON turns.session_key = :session_key AND turns.agent_id = :agent_id;
