-- A cursor whose positions are out of order counts as open: nobody but a damaged file or another
-- program makes one, and whoever takes the notices of its watcher is to be told, not given none.
DROP INDEX session_watch_cursors_open;

-- The open notices, by watcher.
CREATE INDEX session_watch_cursors_open
  ON session_watch_cursors (watcher_key, target_key, target_agent_id)
  WHERE notified <> last_seen;

DROP TRIGGER headsup_notice_opened_with_its_cursor;
DROP TRIGGER headsup_notice_opened;
DROP TRIGGER headsup_notice_closed;
DROP TRIGGER headsup_notice_went_with_its_cursor;

CREATE TRIGGER headsup_notice_opened_with_its_cursor
AFTER INSERT ON session_watch_cursors WHEN NEW.notified <> NEW.last_seen
BEGIN
  INSERT INTO headsup_open_counts VALUES (NEW.watcher_key, 1)
    ON CONFLICT (watcher_key) DO UPDATE SET notices = notices + 1;
END;

CREATE TRIGGER headsup_notice_opened
AFTER UPDATE ON session_watch_cursors
WHEN NEW.notified <> NEW.last_seen AND (OLD.notified <> OLD.last_seen) IS NOT TRUE
BEGIN
  INSERT INTO headsup_open_counts VALUES (NEW.watcher_key, 1)
    ON CONFLICT (watcher_key) DO UPDATE SET notices = notices + 1;
END;

CREATE TRIGGER headsup_notice_closed
AFTER UPDATE ON session_watch_cursors
WHEN OLD.notified <> OLD.last_seen AND (NEW.notified <> NEW.last_seen) IS NOT TRUE
BEGIN
  DELETE FROM headsup_open_counts WHERE watcher_key = OLD.watcher_key AND notices = 1;
  UPDATE headsup_open_counts SET notices = notices - 1 WHERE watcher_key = OLD.watcher_key;
END;

CREATE TRIGGER headsup_notice_went_with_its_cursor
AFTER DELETE ON session_watch_cursors WHEN OLD.notified <> OLD.last_seen
BEGIN
  DELETE FROM headsup_open_counts WHERE watcher_key = OLD.watcher_key AND notices = 1;
  UPDATE headsup_open_counts SET notices = notices - 1 WHERE watcher_key = OLD.watcher_key;
END;

DELETE FROM headsup_open_counts;
INSERT INTO headsup_open_counts (watcher_key, notices)
SELECT watcher_key, count(*)
FROM session_watch_cursors
WHERE notified <> last_seen
GROUP BY watcher_key;
