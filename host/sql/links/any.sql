-- Whether there is any link.
-- Columns: 1 or 0.
SELECT EXISTS (SELECT 1 FROM session_upstream_links);
