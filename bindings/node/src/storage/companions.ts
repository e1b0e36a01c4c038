/**
 * What SQLite keeps beside a file that is open: its log and its shared memory. Nobody may take them away
 * meanwhile, and SQLite does not look whether somebody did.
 */
import * as fs from 'node:fs';

import { Problem } from './failure.js';
import { Identity } from './place.js';

/**
 * What became of them: they are where they were, as far as can be told; one is gone, and nobody has put a log
 * or shared memory of their own in its place; a process that opened the store since has.
 */
export type Kept = 'all' | 'not-all' | 'usurped';

/**
 * Those of every file that this thread has open. SQLite has one of each for all connections of a process to a
 * file: one that is opened later would work with the old shared memory, whatever lies beside the file by then.
 */
const open = new Map<string, Companions>();

/** The files beside a store, as they were when it was opened. */
export class Companions {
  readonly #log: string;
  readonly #shared: string;
  readonly #known: [Identity | undefined, Identity | undefined];
  /** The stores that have them; weakly, because one that nobody holds any more is closed without a word. */
  #holders: WeakRef<object>[] = [];

  private constructor(file: string) {
    this.#log = `${file}-wal`;
    this.#shared = `${file}-shm`;
    this.#known = [identityAt(this.#log), identityAt(this.#shared)];
  }

  /** Those of a file that this store has open and has read, so that they are there. */
  static of(file: string, holder: object): Companions {
    // SQLite names them after the file that links lead to.
    const real = fs.realpathSync.native(file);
    const { key } = new Identity(real);
    let companions = open.get(key);
    if (!companions?.isHeld) open.set(key, (companions = new Companions(real)));
    companions.#holders.push(new WeakRef(holder));
    return companions;
  }

  /** Throws a {@link Problem} where they were taken from stores that this thread has open by the same file. */
  static refuseOpening(file: string): void {
    const key = identityAt(file)?.key;
    const known = key === undefined ? undefined : open.get(key);
    if (known?.isHeld && known.kept !== 'all') throw takenAway();
  }

  /** This store has them no more. Before it is closed: the next one makes new ones. */
  giveUp(holder: object): void {
    this.#holders = this.#holders.filter((ref) => ref.deref() !== holder);
  }

  /** Whether any store has them. */
  get isHeld(): boolean {
    return this.#holders.some((ref) => ref.deref() !== undefined);
  }

  /** Looks for them. */
  get kept(): Kept {
    const [log, shared] = this.#known;
    const logKept = log?.isThere ?? true;
    const sharedKept = shared?.isThere ?? true;
    if (logKept && sharedKept) return 'all';
    const usurped = (!logKept && hasBytes(this.#log)) || (!sharedKept && fs.existsSync(this.#shared));
    return usurped ? 'usurped' : 'not-all';
  }
}

/** Commits would go to a log that nobody would find again, or past the locks of other processes. */
export function takenAway(): Problem {
  const message =
    'its -wal or its -shm was removed or replaced while it was open; end every process that has it open ' +
    'and start again';
  return new Problem('failed', message);
}

function identityAt(file: string): Identity | undefined {
  try {
    return new Identity(file);
  } catch {
    return undefined;
  }
}

function hasBytes(file: string): boolean {
  try {
    return fs.statSync(file).size > 0;
  } catch {
    return false;
  }
}
