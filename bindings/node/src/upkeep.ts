/**
 * When pruning has to be thought of: pure, over times in ms by the clock. Whether a prune is due is
 * asked of the store only when it can be, so that calls in between cost nothing and nobody takes the
 * write lock only to ask.
 */

/**
 * The store is looked after at least this often, however the clock moves, and after a failure not
 * before this has passed; in ms.
 */
export const ROUND = 60_000;

/** What is known of the next prune. */
export class Upkeep {
  #from = 0;
  #until = 0;

  /** How long there is nothing to do, a round at most. */
  rest(now: number): number {
    return this.#isQuiet(now) ? Math.min(this.#until - now, ROUND) : ROUND;
  }

  /** Whether it has to be asked if a prune is due. It is not asked again for a round. */
  ask(now: number): boolean {
    if (this.#isQuiet(now)) return false;
    this.quiet(now, now + ROUND);
    return true;
  }

  /** Between these times none is due. */
  quiet(from: number, until: number): void {
    this.#from = from;
    this.#until = until;
  }

  #isQuiet(now: number): boolean {
    return this.#from <= now && now < this.#until;
  }
}
