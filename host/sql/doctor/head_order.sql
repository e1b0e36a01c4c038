-- Heads whose parts do not fit together: the watermark is not above the version, save for the
-- tombstone of a deleted session, which has a watermark alone; of the notifying events, other <
-- newest <= version.
-- Columns: watcher_key (NULL), session_key, agent_id, what is wrong.
SELECT NULL, session_key, agent_id,
  CASE
    WHEN version < 0 OR watermark < 0 OR max(version, watermark) > 9007199254740991
      THEN 'has a version or watermark out of range'
    WHEN version > 0 AND watermark > version
      THEN format('has its watermark at %d, above its state version %d', watermark, version)
    WHEN version = 0 AND notifying_newest IS NOT NULL
      THEN 'is the tombstone of a deleted session, but has a notifying event'
    ELSE 'has notifying events that are out of order or incomplete'
  END
FROM session_state_heads
WHERE version < 0 OR watermark < 0 OR max(version, watermark) > 9007199254740991
   OR (version > 0 AND watermark > version)
   OR CASE WHEN notifying_newest IS NULL
        THEN notifying_other IS NOT NULL OR notifying_actor IS NOT NULL
        ELSE NOT coalesce(
          0 <= notifying_other
          AND notifying_other < notifying_newest
          AND notifying_newest <= version, 0)
      END
ORDER BY 2, 3;
