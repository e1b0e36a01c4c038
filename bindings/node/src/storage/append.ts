/** The verbs that record: `append` and `save`. */
import { byBytes } from '../order.js';
import type { AppendOutcome, AppendRequest, Changes, Cursor, Entry, Head, HeadChange } from '../contract.js';
import { Problem } from './failure.js';
import { LARGEST, cursor, given, number, optional, optionalHead, stored } from './rows.js';
import type { Statements } from './statements.js';

const EVENTS = 'session_state_events';

/** `storage.append`. */
export function append(statements: Statements, request: AppendRequest): AppendOutcome {
  const { entry } = request;
  const duplicate = duplicateOf(statements, entry);
  if (duplicate !== undefined) return { tag: 'duplicate', val: duplicate };
  const target = targetOf(statements, request);
  if (target.isUnwatched) return { tag: 'unwatched' };
  const sequence = insert(statements, entry);
  const cursors = cursorsAskedFor(statements, request, target.hasSettled);
  return { tag: 'appended', val: { sequence, cursors, ...given('head', target.head) } };
}

/** The session that a row is appended to, before it is. */
interface Target {
  /** Nobody watches it, although somebody has to. */
  isUnwatched: boolean;
  /** There are settled cursors on it, and they are asked for. */
  hasSettled: boolean;
  head: Head | undefined;
}

function targetOf(statements: Statements, request: AppendRequest): Target {
  const row = statements.row('append/target', {
    only_if_watched: flag(request.onlyIfWatched),
    session_key: request.entry.session.key,
    agent_id: request.entry.session.agent,
    settled: flag(request.settled),
  });
  if (row === undefined) {
    return { isUnwatched: request.onlyIfWatched, hasSettled: false, head: undefined };
  }
  return { isUnwatched: row[0] === 0n, hasSettled: row[1] === 1n, head: optionalHead(row, 2) };
}

function flag(value: boolean): bigint {
  return value ? 1n : 0n;
}

function duplicateOf(statements: Statements, entry: Entry): bigint | undefined {
  if (entry.dedupeKey === undefined) return undefined;
  const row = statements.row('append/duplicate', {
    session_key: entry.session.key,
    agent_id: entry.session.agent,
    dedupe_key: entry.dedupeKey,
  });
  return row && number(row, 0, EVENTS);
}

function insert(statements: Statements, entry: Entry): bigint {
  try {
    return statements.insert('append/insert', {
      dedupe_key: optional(entry.dedupeKey),
      session_key: entry.session.key,
      agent_id: entry.session.agent,
      session_id: optional(entry.sessionId),
      kind: entry.kind,
      actor_type: entry.actorType,
      actor_id: optional(entry.actorId),
      run_id: optional(entry.runId),
      occurred_at: stored(entry.occurredAt),
      summary: entry.summary,
      payload_json: optional(entry.payload),
    });
  } catch (error) {
    if (!seriesIsOver(statements)) throw error;
    const message =
      'its series of sequences has come to its end, 2^53 - 1; bring back a backup, or start a new store';
    throw new Problem('failed', message);
  }
}

/** Whether no number is left to give: SQLite would speak of a full disk. */
function seriesIsOver(statements: Statements): boolean {
  try {
    const given = statements.row('append/counter')?.[0];
    return typeof given === 'bigint' && given >= LARGEST;
  } catch {
    return false;
  }
}

/** Settled and named cursors, each once: a named watcher may be a settled one. */
function cursorsAskedFor(
  statements: Statements,
  request: AppendRequest,
  hasSettled: boolean,
): Cursor[] {
  const { session } = request.entry;
  const ofSession = { session_key: session.key, agent_id: session.agent };
  const found = hasSettled ? statements.rows('append/settled', ofSession).map(cursor) : [];
  if (request.named.length === 0) return found;
  const byWatcher = new Map(found.map((known) => [known.pair.watcher, known]));
  for (const watcher of request.named) {
    if (byWatcher.has(watcher)) continue;
    const row = statements.row('append/named', { watcher_key: watcher, ...ofSession });
    if (row !== undefined) byWatcher.set(watcher, cursor(row));
  }
  return [...byWatcher.values()].sort((one, other) =>
    byBytes(one.pair.watcher, other.pair.watcher),
  );
}

/** `storage.save`. */
export function save(statements: Statements, changes: Changes): void {
  for (const change of changes.heads) saveHead(statements, change);
  for (const changed of changes.cursors) {
    if (!moveLiveCursor(statements, changed)) putCursor(statements, changed);
  }
}

function saveHead(statements: Statements, { session, head }: HeadChange): void {
  const { notifying } = head;
  const values = {
    version: stored(head.version),
    watermark: stored(head.watermark),
    notifying_newest: notifying ? stored(notifying.newest) : null,
    notifying_actor: optional(notifying?.actor),
    notifying_other: notifying ? stored(notifying.other) : null,
    moved_at: stored(head.movedAt),
    session_key: session.key,
    agent_id: session.agent,
  };
  if (statements.run('save/head', values) === 0) statements.run('save/first_head', values);
}

/** Whether there was a live cursor, which is now as given. */
function moveLiveCursor(statements: Statements, { pair, state, movedAt }: Cursor): boolean {
  if (state.tag !== 'live') return false;
  const moved = statements.run('save/move_cursor', {
    provenance: state.val.provenance,
    last_seen: stored(state.val.lastSeen),
    notified: stored(state.val.notified),
    moved_at: stored(movedAt),
    watcher_key: pair.watcher,
    target_key: pair.target.key,
    target_agent_id: pair.target.agent,
  });
  return moved > 0;
}

function putCursor(statements: Statements, { pair, state, movedAt }: Cursor): void {
  const positions = state.tag === 'live' ? state.val : undefined;
  statements.run('save/put_cursor', {
    watcher_key: pair.watcher,
    target_key: pair.target.key,
    target_agent_id: pair.target.agent,
    state: state.tag,
    provenance: positions ? positions.provenance : null,
    last_seen: positions ? stored(positions.lastSeen) : null,
    notified: positions ? stored(positions.notified) : null,
    moved_at: stored(movedAt),
  });
}
