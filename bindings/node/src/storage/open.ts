/**
 * Opening a connection: to write, to look at a store only, and in memory. A file that is not ours to
 * use is refused before anything is written to it.
 */
import * as fs from 'node:fs';

import Database from 'better-sqlite3';

import { Companions } from './companions.js';
import { Problem, READ_ONLY, codeOf, faultOf } from './failure.js';
import {
  IN_MEMORY,
  absolute,
  makeFolder,
  refuseMissing,
  refuseReadOnly,
  refuseWhatIsNoDatabase,
  removeEmpty,
} from './place.js';
import { NEWEST_VERSION, migrate, schemaVersion } from './schema.js';

/** Where a store is and how it behaves. */
export interface StoreOptions {
  /** The file, or `:memory:`. */
  path: string;
  /** When a commit counts as done. */
  durability: 'full' | 'normal';
  /** How long to wait for a lock that another process holds, in ms. */
  busyTimeout: number;
  /** Nothing is created, migrated or written. No effect in memory. */
  readOnly: boolean;
}

/** Older ones can corrupt a file in WAL mode. */
const OLDEST_SQLITE = [3, 51, 3];

/**
 * 16 MB of commits beside the file before they are brought into it: each time costs two syncs and
 * every page that changed.
 */
const CHECKPOINT_PAGES = 4_000;

/** How long to wait before trying again to switch a new file to WAL, in ms. */
const WAL_RETRY = 10;

/** Opens a connection. Throws a {@link Problem} or what SQLite says. */
export function connect(options: StoreOptions): Database.Database {
  refuseOldSqlite();
  if (options.path === IN_MEMORY) return inMemory();
  const file = absolute(options.path);
  Companions.refuseOpening(file);
  return options.readOnly ? toLookAt(file, options) : madeOrOpened(file, options);
}

function inMemory(): Database.Database {
  const database = new Database(IN_MEMORY);
  configure(database);
  bringUpToDate(database, 0);
  return database;
}

/** A full disk leaves no empty file where there was none. */
function madeOrOpened(file: string, options: StoreOptions): Database.Database {
  const isNew = !fs.existsSync(file);
  try {
    return toWrite(file, options);
  } catch (error) {
    if (isNew && faultOf(error) === 'full') removeEmpty(file);
    throw error;
  }
}

function toWrite(file: string, options: StoreOptions): Database.Database {
  makeFolder(file);
  refuseWhatIsNoDatabase(file);
  refuseReadOnly(file);
  return closedOnFailure(opened(file, options), (database) => {
    configure(database);
    // Looks before it touches: the journal mode is a property of the file.
    refuseOtherEncodings(database);
    const version = foundVersion(database);
    useWal(database, options.busyTimeout);
    database.pragma(`synchronous = ${options.durability === 'full' ? 'FULL' : 'NORMAL'}`);
    database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    bringUpToDate(database, version);
  });
}

/** A file that is not there and cannot be made means that its folder may not be written. */
function opened(file: string, options: StoreOptions): Database.Database {
  try {
    return new Database(file, { timeout: options.busyTimeout });
  } catch (error) {
    if (codeOf(error)?.startsWith('SQLITE_CANTOPEN') && !fs.existsSync(file)) {
      throw new Problem('read-only', READ_ONLY);
    }
    throw error;
  }
}

function toLookAt(file: string, options: StoreOptions): Database.Database {
  refuseMissing(file);
  refuseWhatIsNoDatabase(file);
  const database = new Database(file, {
    readonly: true,
    fileMustExist: true,
    timeout: options.busyTimeout,
  });
  return closedOnFailure(database, () => {
    configure(database);
    refuseOtherEncodings(database);
    const found = foundVersion(database);
    if (found === NEWEST_VERSION) return;
    throw new Problem(
      'failed',
      found === 0
        ? "the file holds nothing of headsup's; check the path"
        : 'an older headsup made it; open it once to write',
    );
  });
}

function closedOnFailure(
  database: Database.Database,
  prepare: (database: Database.Database) => void,
): Database.Database {
  try {
    prepare(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** What every connection needs and what changes nothing in the file. */
function configure(database: Database.Database): void {
  database.defaultSafeIntegers(true);
  // The schema of a shared file is not ours to trust.
  database.pragma('trusted_schema = OFF');
  database.pragma('cell_size_check = ON');
  // Sorting while pruning must not need a place to write beside the store.
  database.pragma('temp_store = MEMORY');
}

/** The version of SQLite that this process has. */
export function sqliteVersion(): string {
  const database = new Database(IN_MEMORY);
  const version = String(database.prepare('SELECT sqlite_version()').pluck().get());
  database.close();
  return version;
}

/** Throws if a version of SQLite, such as `3.53.2`, is too old to share a file. */
export function refuseOldSqlite(version: string = sqliteVersion()): void {
  const found = version.split('.').map(Number);
  for (const [at, least] of OLDEST_SQLITE.entries()) {
    const part = found[at] ?? 0;
    if (part > least) return;
    if (part < least) {
      throw new Problem(
        'failed',
        `SQLite ${version} can damage a file in WAL mode; 3.51.3 or newer is needed`,
      );
    }
  }
}

/** Keys compare byte by byte only where text is UTF-8. */
function refuseOtherEncodings(database: Database.Database): void {
  if (database.pragma('encoding', { simple: true }) === 'UTF-8') return;
  const message = 'the file keeps its text as UTF-16; give headsup a file of its own';
  throw new Problem('foreign-schema', message);
}

/** The schema version, looked up in one snapshot: another process may be migrating. */
function foundVersion(database: Database.Database): number {
  database.exec('BEGIN');
  try {
    return schemaVersion(database);
  } finally {
    if (database.inTransaction) database.exec('ROLLBACK');
  }
}

/**
 * Switches the file to WAL, which lets readers and the writer run beside each other. The switch needs
 * the file for itself for a moment and does not wait for that by itself.
 */
function useWal(database: Database.Database, patience: number): void {
  const start = performance.now();
  for (;;) {
    try {
      if (database.pragma('journal_mode = WAL', { simple: true }) === 'wal') return;
      const message = 'its file system does not support WAL; put it on a local disk';
      throw new Problem('failed', message);
    } catch (error) {
      const isBusy = codeOf(error)?.startsWith('SQLITE_BUSY') ?? false;
      if (!isBusy || performance.now() - start >= patience) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_RETRY);
    }
  }
}

function bringUpToDate(database: Database.Database, found: number): void {
  if (found >= NEWEST_VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  try {
    // Looks again under the lock: another process may have been faster.
    migrate(database, schemaVersion(database));
    database.exec('COMMIT');
  } finally {
    if (database.inTransaction) database.exec('ROLLBACK');
  }
}
