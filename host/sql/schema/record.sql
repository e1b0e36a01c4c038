-- Notes that a schema file ran, in the same transaction as its statements.
INSERT INTO headsup_migrations (version, name, applied_at)
VALUES (:version, :name, CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER));
