-- The newest row that is one too many when so many of the newest rows are kept.
-- Columns: sequence; no row if there are no more than that.
SELECT sequence
FROM session_state_events
ORDER BY sequence DESC
LIMIT 1 OFFSET :keep_rows;
