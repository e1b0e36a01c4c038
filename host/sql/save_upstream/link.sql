-- Inserts or replaces the link of a session.
INSERT INTO session_upstream_links (
  session_key, agent_id, source_kind, source_place, source_thread, catalog, host, thread,
  generation, revision, rotations, misses, adopted_at, checked_at, claimed_until, trouble,
  marker_json)
VALUES (
  :session_key, :agent_id, :source_kind, :source_place, :source_thread, :catalog, :host, :thread,
  :generation, :revision, :rotations, :misses, :adopted_at, :checked_at, :claimed_until, :trouble,
  :marker_json)
ON CONFLICT (session_key, agent_id) DO UPDATE SET
  source_kind = excluded.source_kind,
  source_place = excluded.source_place,
  source_thread = excluded.source_thread,
  catalog = excluded.catalog,
  host = excluded.host,
  thread = excluded.thread,
  generation = excluded.generation,
  revision = excluded.revision,
  rotations = excluded.rotations,
  misses = excluded.misses,
  adopted_at = excluded.adopted_at,
  checked_at = excluded.checked_at,
  claimed_until = excluded.claimed_until,
  trouble = excluded.trouble,
  marker_json = excluded.marker_json;
