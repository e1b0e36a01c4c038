-- The value of one of the core's settings.
-- Columns: value.
SELECT value
FROM headsup_settings
WHERE owner = 'core' AND name = :name;
