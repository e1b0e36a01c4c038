-- Settings that cannot be read, or that no call would have set. Another core may keep settings of
-- other names, which mean nothing here.
-- Columns: watcher_key (NULL), session_key (NULL), agent_id (NULL), what is wrong.
WITH rule (owner, name, least, most, may_be_empty) AS (
  VALUES
    ('core', 'retention.history-days', 1, 36500, 0),
    ('core', 'retention.history-rows', 1, 1000000000, 0),
    ('core', 'retention.cursor-days', 1, 36500, 0),
    ('core', 'retention.pruned-at', 0, 9007199254740991, 1),
    ('core', 'retention.clock-doubted-since', 0, 9007199254740991, 1),
    ('host', 'restored-at', 0, 9007199254740991, 0)),
wrong (owner, name, problem) AS (
  SELECT owner, name, format('must be a number from %d to %d', least, most)
  FROM headsup_settings JOIN rule USING (owner, name)
  WHERE NOT CASE
    WHEN value = '' THEN may_be_empty
    WHEN value GLOB '*[^0-9]*' OR instr(value, char(0)) OR length(value) > 16 THEN 0
    ELSE CAST(value AS INTEGER) BETWEEN least AND most
  END
  UNION ALL
  SELECT owner, name,
    CASE
      WHEN length(CAST(value AS BLOB)) > 1000 THEN 'has more than 1,000 bytes'
      WHEN instr(value, '{call}') = 0 THEN 'lacks {call}'
      ELSE 'has a line break or a control character'
    END
  FROM headsup_settings
  WHERE owner = 'core'
    AND name = 'notice.template'
    AND value <> ''
    AND (length(CAST(value AS BLOB)) > 1000
      OR instr(value, '{call}') = 0
      OR instr(value, char(0))
      OR value GLOB '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159)
        || char(8232) || char(8233) || ']*'))
SELECT NULL, NULL, NULL,
  format(
    'the setting %s %s; its default is in force once its row of headsup_settings is deleted',
    name, problem)
FROM wrong
WHERE owner = 'core'
UNION ALL
SELECT NULL, NULL, NULL,
  format('the setting %s %s; `headsup restored` sets it anew', name, problem)
FROM wrong
WHERE owner = 'host';
