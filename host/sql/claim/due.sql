-- The links to claim, by session key, then agent: of these kinds (a JSON array), targeted by a live
-- cursor, of sessions without a turn that runs, and without a claim that holds. A claim that ends
-- after `until` was made by a clock that was ahead, and so was what says that a turn runs beyond
-- `running_at_most`. Goes over all links, with one probe of the index for each that passes the rest.
-- Columns: session_key, agent_id, whether a live cursor targets the session; source_kind,
-- source_place, source_thread, catalog, generation, revision, misses, state_json of the link;
-- sent and running_until of the gateway's own turns, NULL where it said nothing.
SELECT
  link.session_key, link.agent_id,
  1,
  link.source_kind, link.source_place, link.source_thread, link.catalog, link.generation,
  link.revision, link.misses, link.state_json,
  turns.sent, turns.running_until
FROM session_upstream_links AS link
LEFT JOIN headsup_own_turns AS turns
  ON turns.session_key = link.session_key AND turns.agent_id = link.agent_id
WHERE (:claimed_too OR link.claimed_until <= :now OR link.claimed_until > :until)
  AND link.source_kind IN (SELECT value FROM json_each(:kinds))
  AND (coalesce(turns.running_until, 0) <= :now OR turns.running_until > :running_at_most)
  AND EXISTS (
    SELECT 1
    FROM session_watch_cursors AS c INDEXED BY session_watch_cursors_by_target
    WHERE c.target_key = link.session_key AND c.target_agent_id = link.agent_id AND c.state = 'live')
ORDER BY link.session_key, link.agent_id;
