/**
 * The store: one SQLite connection that implements the contract's `storage` and `settings`. What each
 * verb guarantees is said once, in `wit/storage.wit` and `wit/settings.wit`. Every verb runs inside a
 * transaction that the host began and that the host ends; the SQL stands in files, this is glue.
 */
import type Database from 'better-sqlite3';

import type { SettingsVerbs, StorageFailure, StorageVerbs } from '../contract.js';
import * as appending from './append.js';
import { Companions, type Kept, takenAway } from './companions.js';
import { Problem, READ_ONLY, StoreFailed, isFailedSync, worded } from './failure.js';
import * as lifecycle from './lifecycle.js';
import { connect, type StoreOptions } from './open.js';
import { IN_MEMORY, absolute } from './place.js';
import * as reads from './reads.js';
import { Statements } from './statements.js';
import * as upstream from './upstream.js';

/** What is open on a connection. */
type Transaction = 'none' | 'read' | 'write';

/** One connection to a store. Verbs throw {@link StoreFailed}, and fail outside a transaction. */
export class Store {
  readonly #database: Database.Database;
  readonly #statements: Statements;
  readonly #place: string;
  readonly #writable: boolean;
  /** Absent in memory. */
  #companions: Companions | undefined;
  #transaction: Transaction = 'none';
  #inDoubt = false;
  #lost: StorageFailure | undefined;

  /** Opens a connection; throws {@link StoreFailed} with what is wrong and what to do. */
  constructor(options: StoreOptions) {
    this.#place = options.path;
    this.#writable = !options.readOnly || options.path === IN_MEMORY;
    try {
      this.#database = connect(options);
    } catch (error) {
      throw worded(error, options.path);
    }
    try {
      this.#statements = new Statements(this.#database);
      if (options.path !== IN_MEMORY) this.#companions = Companions.of(absolute(options.path), this);
    } catch (error) {
      this.#database.close();
      throw worded(error, options.path);
    }
  }

  /** Whether nobody knows what the disk has: a sync failed on this connection, or its log was taken away. */
  get isInDoubt(): boolean {
    return this.#inDoubt;
  }

  /** The first failure of a verb in this transaction, which is lost with it. Asked once. */
  takeLost(): StorageFailure | undefined {
    const lost = this.#lost;
    this.#lost = undefined;
    return lost;
  }

  /**
   * Begins a transaction. One that writes holds the store's one write lock from the start, so that no
   * verb in it ever meets another writer, and waits for the lock as long as the time-out. One that
   * reads takes its snapshot now.
   */
  begin(kind: 'read' | 'write'): void {
    this.#guarded(() => {
      if (kind === 'write') {
        if (!this.#writable) throw new Problem('read-only', READ_ONLY);
        this.#control('BEGIN IMMEDIATE');
        this.#refuseTakenAway();
      } else {
        this.#control('BEGIN DEFERRED');
        this.#statements.row('open/snapshot');
      }
    });
    this.#transaction = kind;
    this.#lost = undefined;
  }

  /**
   * Makes everything since the beginning durable and visible to others. If it throws nothing was, and
   * the transaction is over.
   */
  commit(): void {
    try {
      this.#guarded(() => this.#control('COMMIT'));
      this.#transaction = 'none';
    } catch (error) {
      this.rollback();
      throw error;
    }
  }

  /** Undoes everything since the beginning. Does nothing outside a transaction. */
  rollback(): void {
    this.#transaction = 'none';
    if (!this.#database.open || !this.#database.inTransaction) return;
    try {
      this.#control('ROLLBACK');
    } catch {
      // Fails only where SQLite has rolled back by itself already.
    }
  }

  /** Closes the connection; what was not committed is undone. */
  close(): void {
    this.rollback();
    this.#partWith(this.#companions?.kept ?? 'all');
    this.#companions?.giveUp(this);
    this.#companions = undefined;
    this.#database.close();
  }

  /** Ends the use of a connection whose log was taken away. */
  #refuseTakenAway(): void {
    const kept = this.#companions?.kept ?? 'all';
    if (kept === 'all') return;
    this.rollback();
    this.#partWith(kept);
    this.#inDoubt = true;
    throw takenAway();
  }

  /**
   * Brings what was acknowledged from a log that nobody will find again into the file, while the file is
   * nobody else's. That SQLite does so by itself at closing, over what another process wrote since, cannot be
   * switched off through the binding.
   */
  #partWith(kept: Kept): void {
    if (kept !== 'not-all') return;
    try {
      this.#database.pragma('wal_checkpoint');
    } catch {
      // What fails here cannot be done at all; the store is refused either way.
    }
  }

  /** Whether any session is adopted. Inside a transaction, like the verbs. */
  hasLinks(): boolean {
    return this.#reading(() => upstream.hasLinks(this.#statements));
  }

  /** The verbs of `storage`. */
  readonly storage: StorageVerbs = {
    append: (request) => this.#writing(() => appending.append(this.#statements, request)),
    save: (changes) => this.#writing(() => appending.save(this.#statements, changes)),
    cursors: (query, after, limit) =>
      this.#reading(() => reads.cursors(this.#statements, query, after, limit)),
    pairs: (pairs) => this.#reading(() => reads.pairs(this.#statements, pairs)),
    openCounts: () => this.#reading(() => reads.openCounts(this.#statements)),
    heads: (sessions) => this.#reading(() => reads.heads(this.#statements, sessions)),
    history: (session, after, limit) =>
      this.#reading(() => reads.history(this.#statements, session, after, limit)),
    reset: (watcher) => this.#writing(() => lifecycle.reset(this.#statements, watcher)),
    delete: (session, now) => this.#writing(() => lifecycle.remove(this.#statements, session, now)),
    prune: (request) => this.#writing(() => lifecycle.prune(this.#statements, request)),
    restored: (by) => this.#writing(() => lifecycle.restored(this.#statements, by)),
    upstreamOf: (session) => this.#reading(() => upstream.upstreamOf(this.#statements, session)),
    saveUpstream: (kept, now) =>
      this.#writing(() => upstream.saveUpstream(this.#statements, kept, now)),
    claim: (request) => this.#writing(() => upstream.claim(this.#statements, request)),
  };

  /** The verbs of `settings`. */
  readonly settings: SettingsVerbs = {
    get: (names) => this.#reading(() => reads.settings(this.#statements, names)),
    set: (settings) => this.#writing(() => lifecycle.set(this.#statements, settings)),
  };

  #writing<T>(verb: () => T): T {
    return this.#reading(() => {
      if (this.#transaction === 'read') {
        const message = 'the core called a verb that writes in a call that only reads';
        throw new Problem('failed', message);
      }
      return verb();
    });
  }

  #reading<T>(verb: () => T): T {
    try {
      return this.#guarded(() => {
        if (this.#transaction === 'none' || !this.#database.inTransaction) {
          throw new Problem('failed', 'no transaction is open, or it was lost');
        }
        return verb();
      });
    } catch (error) {
      if (error instanceof StoreFailed) this.#lost ??= error.payload;
      throw error;
    }
  }

  /** Words what goes wrong, and remembers a failed sync. */
  #guarded<T>(step: () => T): T {
    try {
      return step();
    } catch (error) {
      if (isFailedSync(error)) this.#inDoubt = true;
      throw worded(error, this.#place);
    }
  }

  #control(sql: string): void {
    this.#statements.control(sql);
  }
}
