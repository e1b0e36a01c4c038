/** The verbs that remove and mark: `reset`, `delete`, `prune`, `restored`, and `set` of the settings. */
import type { PruneRequest, Pruning, Removal, Session, Setting } from '../contract.js';
import { Problem } from './failure.js';
import { LARGEST, number, optionalNumber, stored } from './rows.js';
import type { Statements } from './statements.js';

const EVENTS = 'session_state_events';

/** `storage.reset`. */
export function reset(statements: Statements, watcher: string): number {
  return statements.run('reset', { watcher_key: watcher });
}

/** `storage.delete`. */
export function remove(statements: Statements, session: Session, now: bigint): Removal {
  const ofSession = { session_key: session.key, agent_id: session.agent };
  const events = statements.run('delete/events', ofSession);
  const cursors = removeCursors(statements, session, 'live');
  removeCursors(statements, session, 'unwatched');
  statements.run('delete/link', ofSession);
  statements.run('delete/turns', ofSession);
  statements.run('delete/tombstone', { ...ofSession, now: stored(now) });
  return { cursors, events };
}

function removeCursors(statements: Statements, session: Session, state: string): number {
  const key = { session_key: session.key, state };
  return (
    statements.run('delete/cursors_on_it', { ...key, agent_id: session.agent }) +
    statements.run('delete/cursors_it_holds', key)
  );
}

/** `storage.prune`. */
export function prune(statements: Statements, request: PruneRequest): Pruning {
  const { events, more } = pruneLog(statements, request);
  let cursors = 0;
  if (request.movedBefore !== undefined) {
    // Cursors first: a tombstone's last move still counts for the cursors on it.
    const cutoff = { moved_before: stored(request.movedBefore) };
    cursors = statements.run('prune/cursors', cutoff);
    statements.run('prune/tombstones', cutoff);
    statements.run('prune/turns', cutoff);
  }
  return { events, cursors, more };
}

/** One batch of the log: how many rows went, and whether more are due. */
function pruneLog(
  statements: Statements,
  request: PruneRequest,
): { events: number; more: boolean } {
  const { occurredBefore, keepRows, atMost } = request;
  const kept = statements.row('prune/surplus', { keep_rows: BigInt(keepRows) });
  const due = {
    occurred_before: occurredBefore === undefined ? null : stored(occurredBefore),
    surplus: kept === undefined ? null : number(kept, 0, EVENTS),
  };
  const cut = statements.row('prune/batch', { ...due, at_most: BigInt(atMost) });
  const last = cut && optionalNumber(cut, 0, EVENTS);
  const batch = { ...due, last: last ?? 0n };
  let events = 0;
  if (last !== undefined) {
    statements.run('prune/watermarks', batch);
    events = statements.run('prune/events', batch);
  }
  // A batch that was not cut has no rest.
  const wasCut = cut !== undefined && number(cut, 1, EVENTS) === BigInt(atMost);
  return { events, more: wasCut && statements.row('prune/more', batch) !== undefined };
}

/** `storage.restored`. */
export function restored(statements: Statements, by: bigint): bigint {
  const row = statements.row('restored/position');
  const position = (row ? number(row, 0, EVENTS) : 0n) + by;
  if (position > LARGEST) {
    throw new Problem('failed', 'its series of sequences would pass 2^53 - 1');
  }
  for (const name of ['counter', 'first_counter', 'heads', 'mark']) {
    statements.run(`restored/${name}`, { position });
  }
  return position;
}

/** `settings.set`. */
export function set(statements: Statements, settings: Setting[]): void {
  for (const { name, value } of settings) statements.run('settings/set', { name, value });
}
