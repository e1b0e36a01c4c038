-- Sets one of the core's settings. The host's own are out of its reach.
INSERT INTO headsup_settings (owner, name, value)
VALUES ('core', :name, :value)
ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value;
