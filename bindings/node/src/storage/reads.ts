/** The verbs that only read: `cursors`, `pairs`, `open-counts`, `heads`, `history`, and `get` of the settings. */
import type { CursorQuery, Head, LogPage, Pair, PairState, PendingCount, Session, Watched } from '../contract.js';
import { byBytes } from '../order.js';
import { Problem } from './failure.js';
import {
  CURSOR_COLUMNS,
  LARGEST,
  count,
  cursor,
  event,
  given,
  head,
  optionalCursor,
  optionalHead,
  stored,
  text,
} from './rows.js';
import type { SqlRow, Statements, Values } from './statements.js';

/** `storage.cursors`. */
export function cursors(
  statements: Statements,
  query: CursorQuery,
  after: Pair | undefined,
  limit: number,
): Watched[] {
  switch (query.tag) {
    case 'of-watcher':
      return ofOneWatcher(statements, 'cursors/of_watcher', query.val, after, limit);
    case 'open-of':
      return ofOneWatcher(statements, 'cursors/open_of', query.val, after, limit);
    case 'on-target':
      return onTarget(statements, query.val, after, limit);
    case 'open':
      return allOpen(statements, after, limit);
  }
}

function ofOneWatcher(
  statements: Statements,
  name: string,
  watcher: string,
  after: Pair | undefined,
  limit: number,
): Watched[] {
  // The list goes by watcher first: this watcher's cursors are all after an earlier watcher's and
  // all before a later one's.
  const order = after === undefined ? -1 : byBytes(after.watcher, watcher);
  if (order > 0) return [];
  const target = after !== undefined && order === 0 ? after.target : { key: '', agent: '' };
  return watched(statements, name, {
    watcher_key: watcher,
    after_target_key: target.key,
    after_target_agent_id: target.agent,
    limit: BigInt(limit),
  });
}

function onTarget(
  statements: Statements,
  target: Session,
  after: Pair | undefined,
  limit: number,
): Watched[] {
  const found: Watched[] = [];
  // Where `after` names a target before this one, its watcher's cursor on this one comes first.
  if (after !== undefined && limit > 0 && isBefore(after.target, target)) {
    const { cursor: first, head: known } = pairState(statements, after.watcher, target);
    if (first?.state.tag === 'live') found.push({ cursor: first, ...given('head', known) });
  }
  const rest = watched(statements, 'cursors/on_target', {
    target_key: target.key,
    target_agent_id: target.agent,
    after_watcher_key: after?.watcher ?? '',
    limit: BigInt(limit - found.length),
  });
  return found.concat(rest);
}

function isBefore(one: Session, other: Session): boolean {
  return (byBytes(one.key, other.key) || byBytes(one.agent, other.agent)) < 0;
}

function allOpen(statements: Statements, after: Pair | undefined, limit: number): Watched[] {
  return watched(statements, 'cursors/open', {
    after_watcher_key: after?.watcher ?? '',
    after_target_key: after?.target.key ?? '',
    after_target_agent_id: after?.target.agent ?? '',
    limit: BigInt(limit),
  });
}

function watched(statements: Statements, name: string, values: Values): Watched[] {
  return statements.rows(name, values).map((row) => ({
    cursor: cursor(row),
    ...given('head', optionalHead(row, CURSOR_COLUMNS)),
  }));
}

/** `storage.pairs`. */
export function pairs(statements: Statements, asked: Pair[]): PairState[] {
  return asked.map(({ watcher, target }) => pairState(statements, watcher, target));
}

function pairState(statements: Statements, watcher: string, target: Session): PairState {
  const row = statements.row('pairs', {
    watcher_key: watcher,
    target_key: target.key,
    target_agent_id: target.agent,
  });
  if (row === undefined) return {};
  return {
    ...given('cursor', optionalCursor(row)),
    ...given('head', optionalHead(row, CURSOR_COLUMNS)),
  };
}

/** `storage.open-counts`. */
export function openCounts(statements: Statements): PendingCount[] {
  const counted = (row: SqlRow) => ({
    watcher: text(row, 0),
    notices: count(row, 1, 'headsup_open_counts'),
  });
  return statements.rows('open_counts').map(counted);
}

/** `storage.heads`. */
export function heads(statements: Statements, sessions: Session[]): (Head | undefined)[] {
  return sessions.map((session) => sessionHead(statements, session));
}

function sessionHead(statements: Statements, session: Session): Head | undefined {
  const row = statements.row('heads', { session_key: session.key, agent_id: session.agent });
  return row && head(row, 0);
}

/** `storage.history`. */
export function history(
  statements: Statements,
  session: Session,
  after: bigint,
  limit: number,
): LogPage {
  const rows = statements.rows('history/rows', {
    session_key: session.key,
    agent_id: session.agent,
    after: stored(after),
    limit: BigInt(limit),
  });
  return {
    ...given('head', sessionHead(statements, session)),
    restoredAt: restoredAt(statements),
    rows: rows.map(event),
  };
}

function restoredAt(statements: Statements): bigint {
  const row = statements.row('history/restored_at');
  if (row === undefined) return 0n;
  const value = text(row, 0);
  const position = /^\+?\d{1,19}$/.test(value) ? BigInt(value) : LARGEST + 1n;
  if (position > LARGEST) {
    throw Problem.row('headsup_settings', 'a restored-at that is no sequence');
  }
  return position;
}

/** `settings.get`. */
export function settings(statements: Statements, names: string[]): (string | undefined)[] {
  return names.map((name) => {
    const row = statements.row('settings/get', { name });
    return row && text(row, 0);
  });
}
