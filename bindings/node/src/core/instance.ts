/** A running core: one instance over a store or over none, and what its calls end as. */
import type { Clock } from '../clock.js';
import type { Exports, Failure, Imports, StorageFailure } from '../contract.js';
import { Effects } from '../effects.js';
import { StoreFailed } from '../storage/failure.js';
import type { Store } from '../storage/store.js';
import type { Core, Raw } from './core.js';

/** More memory than this is given back with the instance, after the call; in bytes. */
const SWOLLEN = 64 * 1024 * 1024;

/** The words about a trap are cut here, in UTF-16 units: part of them is the core's own. */
const WORDS = 1_000;

/** How a call ended. */
export type Answer<T> =
  /** The core answered ok. */
  | { tag: 'ok'; value: T }
  /** The core answered with an error, whose type depends on the export. */
  | { tag: 'refused'; value: unknown }
  /** The core did not answer, or the store failed under it. */
  | { tag: 'failed'; value: Failure };

/** An instance of a core. After a trap it serves no more calls. */
export class Instance {
  readonly #raw: Raw;
  readonly #effects: { current: Effects };
  #trapped = false;

  /** Instantiates a core over a connection, or over none for calls without a transaction. */
  constructor(core: Core, clock: Clock, store?: Store) {
    this.#effects = { current: new Effects() };
    this.#raw = core.instantiate(imports(clock, this.#effects, store));
  }

  /** Whether it has to be given up: it trapped, or has taken much memory. */
  get isSpent(): boolean {
    return this.#trapped || this.#raw.memory() > SWOLLEN;
  }

  /** Calls the core. What `body` itself throws counts as a trap. */
  call<T>(body: (core: Exports) => T): Answer<T> {
    try {
      return { tag: 'ok', value: body(this.#raw.exports) };
    } catch (error) {
      if (isRefusal(error)) return { tag: 'refused', value: error.payload };
      this.#trapped = true;
      return { tag: 'failed', value: { tag: 'trap', val: this.#trapWords(error) } };
    }
  }

  /** What was enqueued and logged since this was last asked. */
  takeEffects(): Effects {
    const effects = this.#effects.current;
    this.#effects.current = new Effects();
    return effects;
  }

  #trapWords(error: unknown): string {
    let words = error instanceof Error ? error.message : String(error);
    const name = error instanceof Error ? innermost(error.stack ?? '') : undefined;
    if (name !== undefined) words += `, in \`${name}\``;
    const said = this.#effects.current.lastError;
    if (said !== undefined) words += `: ${said}`;
    return words.slice(0, WORDS).replace(/\p{Cc}/gu, ' ');
  }
}

/** How jco throws the error side of a result. */
function isRefusal(error: unknown): error is { payload: unknown } {
  return error instanceof Error && Object.hasOwn(error, 'payload') && !(error instanceof StoreFailed);
}

/** The function that trapped, if names were kept: the first that is not panic machinery. */
function innermost(stack: string): string | undefined {
  const names = [...stack.matchAll(/^\s+at (.+) \(wasm:\/\//gm)].map((match) => String(match[1]));
  return names.find((name) => !/panic|begin_unwind/.test(name)) ?? names[0];
}

function imports(clock: Clock, effects: { current: Effects }, store: Store | undefined): Imports {
  // jco leaves the versions out of the names that it looks for, and its types do not.
  const given = {
    'headsup:awareness/storage': store?.storage ?? WITHOUT_STORE,
    'headsup:awareness/settings': store?.settings ?? WITHOUT_STORE,
    'headsup:awareness/queue': {
      enqueue: (openings: Parameters<Effects['enqueue']>[0]) => effects.current.enqueue(openings),
    },
    'headsup:awareness/log': {
      write: (...line: Parameters<Effects['log']>) => effects.current.log(...line),
    },
    'wasi:clocks/wall-clock': {
      now: () => {
        const now = clock.now();
        return { seconds: Math.floor(now / 1_000), nanoseconds: (now % 1_000) * 1_000_000 };
      },
      resolution: () => ({ seconds: 0, nanoseconds: 1_000_000 }),
    },
  };
  return given as unknown as Imports;
}

const NO_TRANSACTION: StorageFailure = {
  fault: 'failed',
  message: 'this call has no transaction; the core may not use storage here',
};

/** Verbs of which every one fails. */
const WITHOUT_STORE: Record<string, () => never> = Object.fromEntries(
  [
    'append',
    'save',
    'cursors',
    'pairs',
    'openCounts',
    'heads',
    'history',
    'reset',
    'delete',
    'prune',
    'restored',
    'upstreamOf',
    'saveUpstream',
    'claim',
    'get',
    'set',
  ].map((verb) => [
    verb,
    () => {
      throw new StoreFailed(NO_TRANSACTION);
    },
  ]),
);
