/** The time of day, as the core sees it: the machine's, or a manual one for replays and tests. */

/** The latest time there is, in ms since the Unix epoch: 2^53 - 1. */
export const LATEST = Number.MAX_SAFE_INTEGER;

/** Where the time comes from. Times are whole ms since the Unix epoch, from 0 to {@link LATEST}. */
export class Clock {
  #manual: number | undefined;

  /** The machine's clock, or one that stands at `start` until it is moved. */
  constructor(start?: number) {
    this.#manual = start === undefined ? undefined : within(start);
  }

  /** Whether it can be moved. */
  get isManual(): boolean {
    return this.#manual !== undefined;
  }

  /** The time now. */
  now(): number {
    // Before 1970 counts as 1970: the protocol knows no negative time.
    return this.#manual ?? within(Date.now());
  }

  /** What timers run by: a manual clock itself, else ms that no change of the machine's clock moves. */
  elapsed(): number {
    return this.#manual ?? Math.floor(performance.now());
  }

  /** Moves a manual clock, forwards or back. Returns whether this is one. */
  set(now: number): boolean {
    if (this.#manual === undefined) return false;
    this.#manual = within(now);
    return true;
  }
}

function within(time: number): number {
  return Math.min(Math.max(Math.floor(time), 0), LATEST);
}
