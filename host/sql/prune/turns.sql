-- Removes what gateways said of their own turns before the cutoff.
DELETE FROM headsup_own_turns
WHERE moved_at < :moved_before;
