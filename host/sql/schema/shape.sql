-- The shape of everything in the file that has one of our names: compared with the shape of a
-- fresh store, it tells our tables from somebody else's of the same name. Names compare as SQLite
-- compares them, without case.
-- Columns: owner (the table or index, lower case), kind, position, part, detail.
WITH named (name, type, tbl_name) AS (
  SELECT lower(name), type, lower(tbl_name)
  FROM sqlite_schema
  WHERE (lower(name) IN (
      'session_state_events', 'session_state_heads', 'session_watch_cursors',
      'session_upstream_links', 'headsup_own_turns', 'headsup_open_counts', 'headsup_settings',
      'headsup_migrations')
    OR lower(name) IN (
      'session_state_events_by_session', 'session_state_events_dedupe',
      'session_watch_cursors_by_target', 'session_watch_cursors_settled',
      'session_watch_cursors_open'))
)
SELECT n.name, n.type, 0, '', coalesce((
    SELECT l.strict || ' ' || l.wr
    FROM pragma_table_list(n.name) AS l WHERE l.schema = 'main'), n.tbl_name)
FROM named AS n
UNION ALL
SELECT n.name, n.type, c.cid + 1, lower(c.name), upper(c.type) || ' ' || c."notnull" || ' ' || c.pk
FROM named AS n, pragma_table_xinfo(n.name) AS c
WHERE n.type <> 'index'
UNION ALL
SELECT n.name, n.type, i.seqno + 1, coalesce(lower(i.name), 'rowid'), ''
FROM named AS n, pragma_index_info(n.name) AS i
WHERE n.type = 'index'
ORDER BY 1, 2, 3;
