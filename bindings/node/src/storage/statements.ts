/**
 * The SQL: the files of `host/sql/`, which the build copies beside this code, under their own names.
 * Every host of headsup runs the same text.
 */
import { readFileSync } from 'node:fs';

import type Database from 'better-sqlite3';

/** A value as SQLite binds it. Integers are always bigints: a number would be bound as a float. */
export type Value = string | bigint | null;

/** Values by the names that the statement's text gives them. */
export type Values = Record<string, Value>;

/** One row, by column; the file says which. Integers come as bigints. */
export type SqlRow = readonly unknown[];

const folder = new URL('../sql/', import.meta.url);
const texts = new Map<string, string>();

/** The text of a file, such as `append/insert`, without the comment that opens it. */
export function sql(name: string): string {
  let text = texts.get(name);
  if (text === undefined) {
    const file = readFileSync(new URL(`${name}.sql`, folder), 'utf8');
    text = file.replace(/^(?:--[^\n]*\n)+/, '');
    texts.set(name, text);
  }
  return text;
}

const NOTHING: Values = {};

type Statement = Database.Statement<[Values], unknown>;

/** The statements of one connection, each prepared once. */
export class Statements {
  readonly #database: Database.Database;
  readonly #prepared = new Map<string, Statement>();

  constructor(database: Database.Database) {
    this.#database = database;
  }

  /** Changes rows; returns how many. */
  run(name: string, values: Values = NOTHING): number {
    return this.#statement(name).run(values).changes;
  }

  /** Inserts one row; returns its row id. */
  insert(name: string, values: Values): bigint {
    return BigInt(this.#statement(name).run(values).lastInsertRowid);
  }

  /** The first row, if there is one. */
  row(name: string, values: Values = NOTHING): SqlRow | undefined {
    return this.#statement(name).get(values) as SqlRow | undefined;
  }

  /** All rows. */
  rows(name: string, values: Values = NOTHING): SqlRow[] {
    return this.#statement(name).all(values) as SqlRow[];
  }

  /** Begins or ends a transaction. */
  control(text: string): void {
    let statement = this.#prepared.get(text);
    if (statement === undefined) {
      statement = this.#database.prepare<[Values], unknown>(text);
      this.#prepared.set(text, statement);
    }
    statement.run(NOTHING);
  }

  #statement(name: string): Statement {
    let statement = this.#prepared.get(name);
    if (statement === undefined) {
      statement = this.#database.prepare<[Values], unknown>(sql(name));
      if (statement.reader) statement.raw();
      this.#prepared.set(name, statement);
    }
    return statement;
  }
}
