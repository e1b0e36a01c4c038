-- Claims a link, and says when it was checked. The revision stays: a claim is no change that a check
-- in flight has to know of.
UPDATE session_upstream_links
SET claimed_until = :until, checked_at = :now
WHERE session_key = :session_key AND agent_id = :agent_id;
