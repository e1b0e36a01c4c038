/**
 * Which schema a file has: ours, none yet, a newer one, or somebody else's; and bringing it up to
 * date. A file may belong to a gateway, so only our own tables are looked at.
 */
import Database from 'better-sqlite3';

import { Problem } from './failure.js';
import { sql } from './statements.js';

/** All schema files, oldest first; the first one makes version 1. */
const MIGRATIONS = ['0001_signal_log', '0002_broken_order_is_open'];

const MIGRATIONS_TABLE = 'headsup_migrations';

/** The schema version that this build makes and understands. */
export const NEWEST_VERSION = MIGRATIONS.length;

/** One line of a file's shape, as `schema/shape.sql` describes it. */
type Part = [owner: string, kind: string, position: bigint, name: string, detail: string];

/**
 * The schema version of a file: 0 if there is nothing of ours yet. Changes nothing. Throws `too-new`,
 * and `foreign-schema` if something has one of our names and is not what we made.
 */
export function schemaVersion(database: Database.Database): number {
  const shape = shapeOf(database);
  const first = shape[0];
  if (first === undefined) return 0;
  const ofMigrations = (parts: Part[]) => parts.filter(([owner]) => owner === MIGRATIONS_TABLE);
  if (ofMigrations(shape).length === 0) throw foreign(first[1], first[0]);
  // Our migration table first: what it says counts only if it is ours.
  const newest = freshShape(NEWEST_VERSION);
  if (difference(ofMigrations(shape), ofMigrations(newest))) throw foreign('table', MIGRATIONS_TABLE);
  const version = applied(database);
  const other = difference(shape, freshShape(version));
  if (other) throw foreign(other[1], other[0]);
  return version;
}

function shapeOf(database: Database.Database): Part[] {
  const shape = database.prepare(sql('schema/shape')).raw().safeIntegers();
  return shape.all() as Part[];
}

const fresh = new Map<number, Part[]>();

/** The shape that we make, as a fresh store has it; kept, because every opening wants it. */
function freshShape(version: number): Part[] {
  let shape = fresh.get(version);
  if (shape === undefined) {
    const database = new Database(':memory:');
    database.exec(sql('schema/migrations'));
    migrateBetween(database, 0, version);
    shape = shapeOf(database);
    database.close();
    fresh.set(version, shape);
  }
  return shape;
}

/** The first part that only one of two shapes has. */
function difference(one: Part[], other: Part[]): Part | undefined {
  const known = new Map(other.map((part) => [part.join('\0'), part]));
  for (const part of one) {
    if (!known.delete(part.join('\0'))) return part;
  }
  return known.values().next().value;
}

/** How many schema files ran. */
function applied(database: Database.Database): number {
  const ran = database.prepare(sql('schema/applied')).raw().safeIntegers().all() as [bigint, string][];
  if (ran.length > MIGRATIONS.length) {
    const message = `a newer headsup made it (schema ${ran.length}, this one knows ${MIGRATIONS.length}); nothing was changed. Use that version, or a newer one`;
    throw new Problem('too-new', message);
  }
  const ours = ran.every(
    ([version, name], index) => version === BigInt(index + 1) && name === MIGRATIONS[index],
  );
  if (!ours) throw foreign('table', MIGRATIONS_TABLE);
  return ran.length;
}

function foreign(kind: string, name: string): Problem {
  const message = `the ${kind} \`${name}\` is not as headsup makes it, so somebody else made or changed it; nothing was changed. Rename it, or give headsup a file of its own`;
  return new Problem('foreign-schema', message);
}

/** Brings a file from a version to the newest. To be called inside a write transaction. */
export function migrate(database: Database.Database, from: number): void {
  if (from === 0) database.exec(sql('schema/migrations'));
  migrateBetween(database, from, MIGRATIONS.length);
}

function migrateBetween(database: Database.Database, from: number, to: number): void {
  for (const [index, name] of MIGRATIONS.slice(0, to).entries()) {
    if (index < from) continue;
    database.exec(sql(`schema/${name}`));
    database.prepare(sql('schema/record')).run({ version: BigInt(index + 1), name });
  }
}
