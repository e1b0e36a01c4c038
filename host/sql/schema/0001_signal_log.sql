-- The tables of the protocol: signal log, heads, cursors, upstream links; our own settings, counts
-- and what a gateway said of its own turns.
--
-- Guarantees that the constraints hold by themselves, whoever writes:
-- - Numbers lie between 0 and 2^53 - 1, so that every language reads them exactly.
-- - A sequence is never given twice: AUTOINCREMENT keeps the counter in sqlite_sequence, which
--   survives deletes, VACUUM and reopening.
-- - `last_seen <= notified`; a mark has no positions; a tombstone has no notifying event.
-- Text is UTF-8 and compares byte by byte (BINARY, the default collation). Lengths are in bytes, by
-- a cast that every SQLite with STRICT tables (3.37) knows: anyone with `sqlite3` can read, check
-- and compact the file.
--
-- Words are compared one by one: SQLite builds a table in memory for a list of more than two, at
-- every insert.
--
-- This file is frozen once released: stores remember that it ran. Change a table by a new file.

-- The signal log: one row for each recorded change of a session. Never message content.
CREATE TABLE session_state_events (
  -- The state version of the session once this was recorded.
  sequence     INTEGER PRIMARY KEY AUTOINCREMENT
               CONSTRAINT "sequence range" CHECK (sequence BETWEEN 1 AND 9007199254740991),
  -- Unique within the session while the row is kept.
  dedupe_key   TEXT CONSTRAINT "dedupe_key length" CHECK (length(CAST(dedupe_key AS BLOB)) <= 512),
  session_key  TEXT NOT NULL
               CONSTRAINT "session_key length" CHECK (length(CAST(session_key AS BLOB)) BETWEEN 1 AND 512),
  agent_id     TEXT NOT NULL
               CONSTRAINT "agent_id length" CHECK (length(CAST(agent_id AS BLOB)) BETWEEN 1 AND 64),
  -- The incarnation of the session.
  session_id   TEXT CONSTRAINT "session_id length" CHECK (length(CAST(session_id AS BLOB)) <= 256),
  kind         TEXT NOT NULL CONSTRAINT "kind word" CHECK (
                 kind = 'human_direct_message' OR kind = 'upstream_missing'
                 OR kind = 'goal_changed' OR kind = 'child_spawned' OR kind = 'run_completed'
                 OR kind = 'run_failed' OR kind = 'compacted' OR kind = 'adopted'
                 OR kind = 'created'),
  actor_type   TEXT NOT NULL CONSTRAINT "actor_type word" CHECK (
                 actor_type = 'human' OR actor_type = 'agent' OR actor_type = 'system'),
  actor_id     TEXT CONSTRAINT "actor_id length" CHECK (length(CAST(actor_id AS BLOB)) <= 512),
  run_id       TEXT CONSTRAINT "run_id length" CHECK (length(CAST(run_id AS BLOB)) <= 256),
  -- By the producer's clock, clamped; milliseconds since the Unix epoch.
  occurred_at  INTEGER NOT NULL
               CONSTRAINT "occurred_at range" CHECK (occurred_at BETWEEN 0 AND 9007199254740991),
  summary      TEXT NOT NULL CONSTRAINT "summary length" CHECK (length(CAST(summary AS BLOB)) <= 1024),
  -- A JSON object.
  payload_json TEXT CONSTRAINT "payload_json length" CHECK (length(CAST(payload_json AS BLOB)) <= 4096)
) STRICT;

-- Pages of a session's log. The sequence is the row id, which ends every index entry: rows of one
-- session come out in order.
CREATE INDEX session_state_events_by_session
  ON session_state_events (session_key, agent_id);

CREATE UNIQUE INDEX session_state_events_dedupe
  ON session_state_events (session_key, agent_id, dedupe_key)
  WHERE dedupe_key IS NOT NULL;

-- The durable head of each session. It survives the pruning of its log.
CREATE TABLE session_state_heads (
  session_key      TEXT NOT NULL
                   CONSTRAINT "session_key length" CHECK (length(CAST(session_key AS BLOB)) BETWEEN 1 AND 512),
  agent_id         TEXT NOT NULL
                   CONSTRAINT "agent_id length" CHECK (length(CAST(agent_id AS BLOB)) BETWEEN 1 AND 64),
  -- The state version. 0 marks the tombstone of a deleted session.
  version          INTEGER NOT NULL
                   CONSTRAINT "version range" CHECK (version BETWEEN 0 AND 9007199254740991),
  -- The highest sequence of this session that was pruned or deleted; 0 if none was.
  watermark        INTEGER NOT NULL
                   CONSTRAINT "watermark range" CHECK (watermark BETWEEN 0 AND 9007199254740991),
  -- The newest notifying event; NULL while there is none.
  notifying_newest INTEGER,
  -- The id of its actor; NULL for an actor without an id.
  notifying_actor  TEXT
                   CONSTRAINT "notifying_actor length" CHECK (length(CAST(notifying_actor AS BLOB)) <= 512),
  -- The newest notifying event by any other actor; 0 if there is none.
  notifying_other  INTEGER,
  -- When the head last moved, by the local clock; milliseconds since the Unix epoch.
  moved_at         INTEGER NOT NULL
                   CONSTRAINT "moved_at range" CHECK (moved_at BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (session_key, agent_id),
  CONSTRAINT "notifying order" CHECK (
    CASE WHEN notifying_newest IS NULL
      THEN notifying_other IS NULL AND notifying_actor IS NULL
      ELSE notifying_other IS NOT NULL
       AND 0 <= notifying_other
       AND notifying_other < notifying_newest
       AND notifying_newest <= version
    END)
) STRICT, WITHOUT ROWID;

-- Who watches whom: live cursors, and the marks that an unwatch leaves.
CREATE TABLE session_watch_cursors (
  watcher_key     TEXT NOT NULL
                  CONSTRAINT "watcher_key length" CHECK (length(CAST(watcher_key AS BLOB)) BETWEEN 1 AND 512),
  target_key      TEXT NOT NULL
                  CONSTRAINT "target_key length" CHECK (length(CAST(target_key AS BLOB)) BETWEEN 1 AND 512),
  target_agent_id TEXT NOT NULL
                  CONSTRAINT "target_agent_id length"
                  CHECK (length(CAST(target_agent_id AS BLOB)) BETWEEN 1 AND 64),
  state           TEXT NOT NULL CONSTRAINT "state word" CHECK (state IN ('live', 'unwatched')),
  -- Where a live watch came from; NULL for a mark.
  provenance      TEXT
                  CONSTRAINT "provenance word"
                  CHECK (provenance = 'spawn' OR provenance = 'explicit' OR provenance = 'ambient'),
  -- The version the watcher has acknowledged; NULL for a mark.
  last_seen       INTEGER,
  -- The version the open notice stands for, or last_seen when none is open; NULL for a mark.
  notified        INTEGER,
  -- When the cursor last moved, by the local clock; milliseconds since the Unix epoch.
  moved_at        INTEGER NOT NULL
                  CONSTRAINT "moved_at range" CHECK (moved_at BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (watcher_key, target_key, target_agent_id),
  CONSTRAINT "watching itself" CHECK (watcher_key <> target_key),
  CONSTRAINT "cursor order" CHECK (
    CASE state WHEN 'live'
      THEN provenance IS NOT NULL AND last_seen IS NOT NULL AND notified IS NOT NULL
       AND 0 <= last_seen
       AND last_seen <= notified
       AND notified <= 9007199254740991
      ELSE provenance IS NULL AND last_seen IS NULL AND notified IS NULL
    END)
) STRICT, WITHOUT ROWID;

-- The cursors on a target, live ones together and by watcher: lists them, and answers "does
-- anybody watch?" with one probe.
CREATE INDEX session_watch_cursors_by_target
  ON session_watch_cursors (target_key, target_agent_id, state, watcher_key);

-- The cursors on a target without an open notice, which a notifying event has to open. Those that
-- are pending already are not in it, so recording costs nothing for them.
CREATE INDEX session_watch_cursors_settled
  ON session_watch_cursors (target_key, target_agent_id, watcher_key)
  WHERE notified = last_seen;

-- The open notices, by watcher.
CREATE INDEX session_watch_cursors_open
  ON session_watch_cursors (watcher_key, target_key, target_agent_id)
  WHERE notified > last_seen;

-- How many open notices each watcher has, kept by the triggers below: whoever asks who has notices
-- pending reads a row a watcher, not a row a notice.
CREATE TABLE headsup_open_counts (
  watcher_key TEXT NOT NULL PRIMARY KEY,
  notices     INTEGER NOT NULL CONSTRAINT "notices range" CHECK (notices > 0)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER headsup_notice_opened_with_its_cursor
AFTER INSERT ON session_watch_cursors WHEN NEW.notified > NEW.last_seen
BEGIN
  INSERT INTO headsup_open_counts VALUES (NEW.watcher_key, 1)
    ON CONFLICT (watcher_key) DO UPDATE SET notices = notices + 1;
END;

CREATE TRIGGER headsup_notice_opened
AFTER UPDATE ON session_watch_cursors
WHEN NEW.notified > NEW.last_seen AND (OLD.notified > OLD.last_seen) IS NOT TRUE
BEGIN
  INSERT INTO headsup_open_counts VALUES (NEW.watcher_key, 1)
    ON CONFLICT (watcher_key) DO UPDATE SET notices = notices + 1;
END;

CREATE TRIGGER headsup_notice_closed
AFTER UPDATE ON session_watch_cursors
WHEN OLD.notified > OLD.last_seen AND (NEW.notified > NEW.last_seen) IS NOT TRUE
BEGIN
  DELETE FROM headsup_open_counts WHERE watcher_key = OLD.watcher_key AND notices = 1;
  UPDATE headsup_open_counts SET notices = notices - 1 WHERE watcher_key = OLD.watcher_key;
END;

CREATE TRIGGER headsup_notice_went_with_its_cursor
AFTER DELETE ON session_watch_cursors WHEN OLD.notified > OLD.last_seen
BEGIN
  DELETE FROM headsup_open_counts WHERE watcher_key = OLD.watcher_key AND notices = 1;
  UPDATE headsup_open_counts SET notices = notices - 1 WHERE watcher_key = OLD.watcher_key;
END;

-- The sources of adopted sessions (protocol section 9).
CREATE TABLE session_upstream_links (
  session_key   TEXT NOT NULL
                CONSTRAINT "session_key length" CHECK (length(CAST(session_key AS BLOB)) BETWEEN 1 AND 512),
  agent_id      TEXT NOT NULL
                CONSTRAINT "agent_id length" CHECK (length(CAST(agent_id AS BLOB)) BETWEEN 1 AND 64),
  -- The kind of source, such as 'claude-jsonl'.
  source_kind   TEXT NOT NULL
                CONSTRAINT "source_kind length" CHECK (length(CAST(source_kind AS BLOB)) BETWEEN 1 AND 64),
  -- Where the source is: an absolute path, or the id of a node.
  source_place  TEXT NOT NULL
                CONSTRAINT "source_place length" CHECK (length(CAST(source_place AS BLOB)) BETWEEN 1 AND 4096),
  -- The thread on the node; NULL for a file.
  source_thread TEXT
                CONSTRAINT "source_thread length" CHECK (length(CAST(source_thread AS BLOB)) BETWEEN 1 AND 256),
  catalog       TEXT NOT NULL
                CONSTRAINT "catalog length" CHECK (length(CAST(catalog AS BLOB)) BETWEEN 1 AND 256),
  -- Rises with each adoption of another source.
  generation    INTEGER NOT NULL
                CONSTRAINT "generation range" CHECK (generation BETWEEN 1 AND 9007199254740991),
  -- Rises with each change of the link but a claim: a check that was planned on an older one writes
  -- nothing.
  revision      INTEGER NOT NULL
                CONSTRAINT "revision range" CHECK (revision BETWEEN 1 AND 9007199254740991),
  -- Checks in a row that definitively found nothing.
  misses        INTEGER NOT NULL
                CONSTRAINT "misses range" CHECK (misses BETWEEN 0 AND 1000),
  -- When the link was last claimed; NULL before the first time. Times are in milliseconds since the
  -- Unix epoch, by the local clock.
  checked_at    INTEGER
                CONSTRAINT "checked_at range" CHECK (checked_at BETWEEN 0 AND 9007199254740991),
  -- Until when some process checks the source; 0 for nobody.
  claimed_until INTEGER NOT NULL
                CONSTRAINT "claimed_until range"
                CHECK (claimed_until BETWEEN 0 AND 9007199254740991),
  -- How far the source was read, and what tells whether it is still the same. A JSON object. Last,
  -- because it may be long: looking for links to claim reads what stands before it.
  state_json    TEXT NOT NULL
                CONSTRAINT "state_json length" CHECK (length(CAST(state_json AS BLOB)) <= 65536),
  PRIMARY KEY (session_key, agent_id)
) STRICT, WITHOUT ROWID;

-- What a gateway said of its own turns in a session, adopted or not: never their text.
CREATE TABLE headsup_own_turns (
  session_key   TEXT NOT NULL
                CONSTRAINT "session_key length" CHECK (length(CAST(session_key AS BLOB)) BETWEEN 1 AND 512),
  agent_id      TEXT NOT NULL
                CONSTRAINT "agent_id length" CHECK (length(CAST(agent_id AS BLOB)) BETWEEN 1 AND 64),
  -- Hashes of the last texts that the gateway sent; empty if there are none.
  sent          TEXT NOT NULL
                CONSTRAINT "sent length" CHECK (length(CAST(sent AS BLOB)) <= 1000),
  -- Until when a turn counts as running, in milliseconds since the Unix epoch; 0 if none runs.
  running_until INTEGER NOT NULL
                CONSTRAINT "running_until range"
                CHECK (running_until BETWEEN 0 AND 9007199254740991),
  -- When this was last saved, by the local clock; milliseconds since the Unix epoch.
  moved_at      INTEGER NOT NULL
                CONSTRAINT "moved_at range" CHECK (moved_at BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (session_key, agent_id)
) STRICT, WITHOUT ROWID;

-- Named values that all processes of a store share: the core's (contract `settings`), and the
-- host's own, which no core can reach.
CREATE TABLE headsup_settings (
  owner TEXT NOT NULL CONSTRAINT "owner word" CHECK (owner IN ('core', 'host')),
  name  TEXT NOT NULL CONSTRAINT "name length" CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 64),
  value TEXT NOT NULL CONSTRAINT "value length" CHECK (length(CAST(value AS BLOB)) <= 4096),
  PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;

-- The counter stands from the start, so that a restored store can raise it before its first row.
INSERT INTO sqlite_sequence (name, seq) VALUES ('session_state_events', 0);
