/**
 * What can go wrong with a store, and the words for it: which fault it is, what happened and what
 * to do. Messages name tables, columns and files, never the content of a row.
 */
import Database from 'better-sqlite3';

import type { StorageFailure, StorageFault } from '../contract.js';

/** A failure that the store found out by itself. */
export class Problem extends Error {
  /** What kind of failure, for programs. */
  readonly fault: StorageFault;

  constructor(fault: StorageFault, message: string) {
    super(message);
    this.name = 'Problem';
    this.fault = fault;
  }

  /** A row that breaks the protocol: the table and what is wrong, without its content. */
  static row(table: string, what: string): Problem {
    const advice = 'which headsup never writes; run `headsup doctor` on it';
    return new Problem('corrupt', `a row of ${table} has ${what}, ${advice}`);
  }
}

/** The failure of a store in the contract's terms, as something that can be thrown. */
export class StoreFailed extends Error {
  /** What the core is handed; the name is what jco looks for. */
  readonly payload: StorageFailure;

  constructor(payload: StorageFailure) {
    super(payload.message);
    this.name = 'StoreFailed';
    this.payload = payload;
  }
}

/** Words whatever a verb threw. `place` says which store it is. */
export function worded(error: unknown, place: string): StoreFailed {
  if (error instanceof StoreFailed) return error;
  const { fault, message } = classified(error);
  return new StoreFailed({ fault, message: `store ${place}: ${message}` });
}

/** Which fault an error is. */
export function faultOf(error: unknown): StorageFault {
  return error instanceof StoreFailed ? error.payload.fault : classified(error).fault;
}

/** The code that SQLite gave, such as `SQLITE_BUSY`; nothing for errors of another kind. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Database.SqliteError ? error.code : undefined;
}

/**
 * Whether the system could not bring to the disk what was written: what the disk has is then
 * unknown, and a later success says nothing of what this one lost.
 */
export function isFailedSync(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'SQLITE_IOERR_FSYNC' || code === 'SQLITE_IOERR_DIR_FSYNC';
}

function classified(error: unknown): StorageFailure {
  if (error instanceof Problem) return { fault: error.fault, message: error.message };
  const code = codeOf(error);
  if (code !== undefined) return byCode(code, (error as Error).message);
  const words = error instanceof Error ? error.message : String(error);
  return { fault: 'failed', message: `${words}; this is a defect of the host` };
}

/** Words by primary code; `rest` tells the extended ones apart. */
function byCode(code: string, detail: string): StorageFailure {
  if (DAMAGED.has(code)) return damaged();
  const [, primary = ''] = code.split('_');
  switch (primary) {
    case 'BUSY':
    case 'LOCKED':
      return {
        fault: 'busy',
        message:
          'another process holds the write lock for longer than the time-out; try again, or raise the time-out',
      };
    case 'FULL':
      return full();
    case 'NOTADB':
      return { fault: 'corrupt', message: NOT_A_DATABASE };
    case 'CORRUPT':
      return damaged();
    case 'IOERR':
      return inputOutput(code, detail);
    case 'READONLY':
      return { fault: 'read-only', message: READ_ONLY };
    case 'CANTOPEN':
    case 'PERM':
      return {
        fault: 'failed',
        message:
          'the file cannot be opened; check that it is a file, that its folder exists, and the permissions of both',
      };
    case 'CONSTRAINT':
      return { fault: 'failed', message: `the store refuses a value that the core gave (${detail})` };
    case 'NOMEM':
      return { fault: 'failed', message: 'out of memory' };
    default:
      return { fault: 'failed', message: `SQLite says: ${detail}` };
  }
}

const DAMAGED = new Set(['SQLITE_IOERR_SHORT_READ', 'SQLITE_IOERR_CORRUPTFS']);

function inputOutput(code: string, detail: string): StorageFailure {
  // Memory that processes share is a file, too, and this is how SQLite says that it cannot grow.
  if (code === 'SQLITE_IOERR_SHMSIZE') return full();
  if (code === 'SQLITE_IOERR_FSYNC' || code === 'SQLITE_IOERR_DIR_FSYNC') {
    return {
      fault: 'failed',
      message:
        'a sync failed, so that nobody knows what the disk has; check the disk, then open the store again (restart the process). Until then it refuses all work',
    };
  }
  return {
    fault: 'failed',
    message: `the operating system could not read or write it (${detail}); check the disk and its quota`,
  };
}

function full(): StorageFailure {
  return {
    fault: 'full',
    message: "the disk, or the file's size limit, is full; free some space and try again",
  };
}

function damaged(): StorageFailure {
  return {
    fault: 'corrupt',
    message:
      'the file is damaged; put a backup in its place, and mark it with `headsup restored`',
  };
}

/** What to say of a file that holds something else. */
export const NOT_A_DATABASE =
  'the file is not a SQLite database (or is encrypted); nothing was changed. Give another path, or move the file away';

/** What to say of a file that may not be written. */
export const READ_ONLY =
  'the file or its folder may not be written; change the permissions, or give another path';
