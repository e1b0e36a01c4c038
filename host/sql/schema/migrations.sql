-- The record of which schema files ran on this store. It is ours alone, because the file may
-- belong to a gateway: neither `user_version` nor `application_id` is touched.
CREATE TABLE headsup_migrations (
  version    INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  -- Milliseconds since the Unix epoch, by the machine's clock.
  applied_at INTEGER NOT NULL
) STRICT;
