/**
 * Rows into the contract's records, in the column order that the SQL files state. A number out of
 * range or a word that is none of ours means that somebody else wrote the row.
 */
import type { Cursor, Head, Positions, Row } from '../contract.js';
import { Problem } from './failure.js';
import type { SqlRow, Value } from './statements.js';

/** The largest number that every language holds exactly. */
export const LARGEST = 2n ** 53n - 1n;

/** Columns of a cursor in a row. */
export const CURSOR_COLUMNS = 8;

const LARGEST_STORED = 2n ** 63n - 1n;
const EVENTS = 'session_state_events';
const HEADS = 'session_state_heads';
const CURSORS = 'session_watch_cursors';

/**
 * A number as SQLite keeps it. Those that cross the contract fit; a larger one is cut to a value
 * that every column's range refuses.
 */
export function stored(number: bigint): bigint {
  return number > LARGEST_STORED ? LARGEST_STORED : number;
}

/** An optional text as SQLite keeps it. */
export function optional(text: string | undefined): Value {
  return text ?? null;
}

/** A number that every language holds exactly. */
export function number(row: SqlRow, column: number, table: string): bigint {
  const value = row[column];
  if (typeof value !== 'bigint') throw ofAnotherType(column);
  if (value < 0n || value > LARGEST) throw Problem.row(table, 'a number out of range');
  return value;
}

/** The same of a column that may be NULL. */
export function optionalNumber(row: SqlRow, column: number, table: string): bigint | undefined {
  return row[column] === null ? undefined : number(row, column, table);
}

/** A count of the contract: 32 bits. */
export function count(row: SqlRow, column: number, table: string): number {
  const value = number(row, column, table);
  if (value > 0xffff_ffffn) throw Problem.row(table, 'a number out of range');
  return Number(value);
}

/** A text. */
export function text(row: SqlRow, column: number): string {
  const value = row[column];
  if (typeof value !== 'string') throw ofAnotherType(column);
  return value;
}

/** A text of a column that may be NULL. */
export function optionalText(row: SqlRow, column: number): string | undefined {
  return row[column] === null ? undefined : text(row, column);
}

function ofAnotherType(column: number): Problem {
  const message = `column ${column} of a row has a type that headsup never writes; run \`headsup doctor\` on it`;
  return new Problem('corrupt', message);
}

/** A head whose first column is `first`. */
export function head(row: SqlRow, first: number): Head {
  const found: Head = {
    version: number(row, first, HEADS),
    watermark: number(row, first + 1, HEADS),
    movedAt: number(row, first + 5, HEADS),
  };
  const newest = optionalNumber(row, first + 2, HEADS);
  if (newest === undefined) return found;
  const other = number(row, first + 4, HEADS);
  if (other >= newest || newest > found.version) {
    throw Problem.row(HEADS, 'notifying events out of order');
  }
  const actor = optionalText(row, first + 3);
  found.notifying = actor === undefined ? { newest, other } : { newest, other, actor };
  return found;
}

/** A head that an outer join may have left out. */
export function optionalHead(row: SqlRow, first: number): Head | undefined {
  return row[first] === null ? undefined : head(row, first);
}

/** A cursor whose first column is the row's first. */
export function cursor(row: SqlRow): Cursor {
  return {
    pair: { watcher: text(row, 0), target: { key: text(row, 1), agent: text(row, 2) } },
    state: cursorState(row),
    movedAt: number(row, 7, CURSORS),
  };
}

/** A cursor that an outer join may have left out. */
export function optionalCursor(row: SqlRow): Cursor | undefined {
  return row[0] === null ? undefined : cursor(row);
}

function cursorState(row: SqlRow): Cursor['state'] {
  switch (row[3]) {
    case 'live':
      return { tag: 'live', val: positions(row) };
    case 'unwatched':
      return { tag: 'unwatched' };
    default:
      throw Problem.row(CURSORS, 'a state of another name');
  }
}

function positions(row: SqlRow): Positions {
  const provenance = row[4];
  if (provenance !== 'spawn' && provenance !== 'explicit' && provenance !== 'ambient') {
    throw Problem.row(CURSORS, 'a provenance of another name');
  }
  const lastSeen = number(row, 5, CURSORS);
  const notified = number(row, 6, CURSORS);
  if (lastSeen > notified) throw Problem.row(CURSORS, 'last_seen after notified');
  return { lastSeen, notified, provenance };
}

/** A row of the log. */
export function event(row: SqlRow): Row {
  return {
    sequence: number(row, 0, EVENTS),
    entry: {
      session: { key: text(row, 1), agent: text(row, 2) },
      kind: text(row, 3),
      actorType: text(row, 4),
      occurredAt: number(row, 6, EVENTS),
      summary: text(row, 7),
      ...given('actorId', optionalText(row, 5)),
      ...given('sessionId', optionalText(row, 8)),
      ...given('runId', optionalText(row, 9)),
      ...given('payload', optionalText(row, 10)),
      ...given('dedupeKey', optionalText(row, 11)),
    },
  };
}

/** A member that is there only if it has a value. */
export function given<Name extends string, T>(
  name: Name,
  value: T | undefined,
): { [member in Name]?: T } {
  return value === undefined ? {} : ({ [name]: value } as { [member in Name]?: T });
}
