-- When the first claim ends over the links of these kinds (a JSON array) that a live cursor targets.
-- Goes over all links, with one probe of the index for each of these kinds.
-- Columns: claimed_until, 0 where a link has no claim; NULL if there is no such link.
SELECT min(link.claimed_until)
FROM session_upstream_links AS link
WHERE link.source_kind IN (SELECT value FROM json_each(:kinds))
  AND EXISTS (
    SELECT 1
    FROM session_watch_cursors AS c INDEXED BY session_watch_cursors_by_target
    WHERE c.target_key = link.session_key AND c.target_agent_id = link.agent_id AND c.state = 'live');
