-- Removes the live cursors that a session holds as watcher. Marks stay: a producer that still
-- names the watcher must not bring back what it ended.
DELETE FROM session_watch_cursors
WHERE watcher_key = :watcher_key AND state = 'live';
