-- Removes the cursors of a session as watcher that are in one state. Watchers are agent-qualified,
-- so the key alone names one.
DELETE FROM session_watch_cursors
WHERE watcher_key = :session_key AND state = :state;
