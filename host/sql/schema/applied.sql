-- The schema files that ran on this store, oldest first.
-- Columns: version, name.
SELECT version, name
FROM headsup_migrations
ORDER BY version;
