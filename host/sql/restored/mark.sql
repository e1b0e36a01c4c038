-- Notes where the series stood, for sessions that have no head.
INSERT INTO headsup_settings (owner, name, value)
VALUES ('host', 'restored-at', CAST(:position AS TEXT))
ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value;
