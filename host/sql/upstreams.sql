-- The sessions with a link and what is kept of their sources, by key, then agent: those strictly
-- after a session. Empty text is before every session.
-- Columns: session_key, agent_id, whether a live cursor targets the session; source_kind,
-- source_place, source_thread, catalog, host, thread, generation, revision, rotations, misses,
-- adopted_at, checked_at, claimed_until, trouble, marker_json of the link; sent_json,
-- running_until, moved_at of the gateway's own turns, all NULL without any.
SELECT
  link.session_key, link.agent_id,
  EXISTS (
    SELECT 1
    FROM session_watch_cursors AS c INDEXED BY session_watch_cursors_by_target
    WHERE c.target_key = link.session_key AND c.target_agent_id = link.agent_id AND c.state = 'live'),
  link.source_kind, link.source_place, link.source_thread, link.catalog, link.host, link.thread,
  link.generation, link.revision, link.rotations, link.misses, link.adopted_at, link.checked_at,
  link.claimed_until, link.trouble, link.marker_json,
  turns.sent_json, turns.running_until, turns.moved_at
FROM session_upstream_links AS link
LEFT JOIN headsup_own_turns AS turns
  ON turns.session_key = link.session_key AND turns.agent_id = link.agent_id
WHERE (link.session_key, link.agent_id) > (:after_session_key, :after_agent_id)
ORDER BY link.session_key, link.agent_id
LIMIT :limit;
