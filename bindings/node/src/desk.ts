/** Where calls meet the store: one call is one transaction. */
import type { Clock } from './clock.js';
import type { Core } from './core/core.js';
import { type Answer, Instance } from './core/instance.js';
import type { Exports, StorageFailure } from './contract.js';
import { Effects } from './effects.js';
import { CLOSED } from './errors.js';
import { StoreFailed, worded } from './storage/failure.js';
import type { StoreOptions } from './storage/open.js';
import { IN_MEMORY, Identity, absolute } from './storage/place.js';
import { Store } from './storage/store.js';

/** How a call ended, and what it left behind. */
export interface Done<T> {
  answer: Answer<T>;
  effects: Effects;
}

/** The connection and the instance over it. Either may be missing, after a failure, until the next call. */
export class Desk {
  readonly #options: StoreOptions;
  readonly #clock: Clock;
  #core: Core;
  #store: Store | undefined;
  #instance: Instance | undefined;
  /** Why nothing is read or written any more: a sync failed, or the log was taken away. */
  #distrusted: StorageFailure | undefined;
  /** The file that was opened first. */
  readonly #file: Identity | undefined;
  #closed = false;

  /** Opens the store. Throws {@link StoreFailed} with what is wrong with it. */
  constructor(core: Core, clock: Clock, options: StoreOptions) {
    this.#core = core;
    this.#clock = clock;
    this.#store = new Store(options);
    if (options.path === IN_MEMORY) {
      this.#options = options;
      return;
    }
    // From the folder that the process is in now, wherever it goes later.
    this.#options = { ...options, path: absolute(options.path) };
    try {
      this.#file = new Identity(this.#options.path);
    } catch (error) {
      this.#store.close();
      throw worded(error, options.path);
    }
  }

  /** Serves the calls to come with another core. */
  switch(core: Core): void {
    this.#core = core;
    this.#instance = undefined;
  }

  /** Closes the connection for good: what still runs, such as an adoption whose file is being read, writes nothing. */
  close(): void {
    this.#closed = true;
    this.#drop();
  }

  /** Closes the connection; the next call opens another. */
  #drop(): void {
    this.#store?.close();
    this.#store = undefined;
    this.#instance = undefined;
  }

  /**
   * Runs one call in a transaction of its own: committed if the core answers ok, undone if it answers
   * with an error, if it traps, or if the store failed under it.
   */
  run<T>(kind: 'read' | 'write', body: (core: Exports) => T): Done<T> {
    let store: Store;
    let instance: Instance;
    try {
      store = this.#ready();
    } catch (error) {
      return { answer: failedStore(error), effects: new Effects() };
    }
    try {
      instance = this.#instance ??= new Instance(this.#core, this.#clock, store);
    } catch (error) {
      return { answer: unstarted(error), effects: new Effects() };
    }
    try {
      store.begin(kind);
    } catch (error) {
      return { answer: this.#left(store, error), effects: new Effects() };
    }
    const answer = this.#ended(store, instance.call(body));
    const effects = instance.takeEffects();
    if (instance.isSpent) this.#instance = undefined;
    return { answer, effects: answer.tag === 'ok' ? effects : effects.rolledBack() };
  }

  /** Looks into the store, past the core. */
  look<T>(look: (store: Store) => T): Answer<T> {
    let store: Store | undefined;
    try {
      store = this.#ready();
      store.begin('read');
      const value = look(store);
      store.rollback();
      return { tag: 'ok', value };
    } catch (error) {
      store?.rollback();
      return store === undefined ? failedStore(error) : this.#left(store, error);
    }
  }

  /** The connection, if the store may be worked on. Throws {@link StoreFailed} if it may not. */
  #ready(): Store {
    if (this.#closed) throw new StoreFailed({ fault: 'failed', message: CLOSED });
    if (this.#distrusted !== undefined) throw new StoreFailed(this.#distrusted);
    this.#file?.refuseAnother();
    return (this.#store ??= new Store(this.#options));
  }

  /** Ends the transaction of a call as its answer says. */
  #ended<T>(store: Store, answer: Answer<T>): Answer<T> {
    // If storage failed under the core, the transaction is lost even if the core says ok.
    const lost = store.takeLost();
    if (answer.tag !== 'ok' || lost !== undefined) {
      store.rollback();
      if (lost !== undefined) this.#leave(store, lost);
      if (answer.tag !== 'ok' || lost === undefined) return answer;
      return { tag: 'failed', value: { tag: 'storage', val: lost } };
    }
    try {
      store.commit();
      return answer;
    } catch (error) {
      return this.#left(store, error);
    }
  }

  #left<T>(store: Store, error: unknown): Answer<T> {
    if (error instanceof StoreFailed) this.#leave(store, error.payload);
    return failedStore(error);
  }

  /**
   * A connection that failed in any other way than being busy is closed: the next call opens the file
   * anew, and works once the fault is gone. After a failed sync nothing does: the system may say of
   * the next one that all is well, although what the first should have saved is lost.
   */
  #leave(store: Store, failure: StorageFailure): void {
    if (store.isInDoubt) this.#distrusted ??= failure;
    if (failure.fault === 'busy' || this.#options.path === IN_MEMORY) return;
    this.#drop();
  }
}

function failedStore<T>(error: unknown): Answer<T> {
  if (!(error instanceof StoreFailed)) throw error;
  return { tag: 'failed', value: { tag: 'storage', val: error.payload } };
}

/** A core that cannot even start. */
function unstarted<T>(error: unknown): Answer<T> {
  const words = error instanceof Error ? error.message : String(error);
  return { tag: 'failed', value: { tag: 'trap', val: `it cannot be started: ${words}` } };
}
