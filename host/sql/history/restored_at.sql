-- Where the series of sequences stood when the store was last marked as restored from a backup.
-- Columns: the number as text; no row if it never was.
SELECT value
FROM headsup_settings
WHERE owner = 'host' AND name = 'restored-at';
