-- Inserts or replaces the link of a session. What claims left with it stays while its generation
-- does: a check that ends gives nobody else a reason to begin one. A claim that was given back, because
-- this process could not read the source, ends at once.
INSERT INTO session_upstream_links (
  session_key, agent_id, source_kind, source_place, source_thread, catalog, generation, revision,
  misses, checked_at, claimed_until, state_json)
VALUES (
  :session_key, :agent_id, :source_kind, :source_place, :source_thread, :catalog, :generation,
  :revision, :misses, NULL, 0, :state_json)
ON CONFLICT (session_key, agent_id) DO UPDATE SET
  source_kind = excluded.source_kind,
  source_place = excluded.source_place,
  source_thread = excluded.source_thread,
  catalog = excluded.catalog,
  generation = excluded.generation,
  revision = excluded.revision,
  misses = excluded.misses,
  checked_at = CASE WHEN generation = excluded.generation THEN checked_at END,
  claimed_until = CASE WHEN generation = excluded.generation AND :claimed THEN claimed_until ELSE 0 END,
  state_json = excluded.state_json;
