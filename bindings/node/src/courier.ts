/**
 * Delivery: what a committed call opened and logged goes to the listeners before that call returns.
 * Nothing is kept here, so nothing can fill up or be lost: pending notices are always listed from the
 * cursors.
 */
import type { EventEmitter } from 'node:events';

import type { Clock } from './clock.js';
import type { Level, Opening } from './contract.js';
import type { Effects } from './effects.js';
import { type Intervals, Wakes, openingId } from './wakes.js';

/** Where effects go, and who is woken when. */
export class Courier {
  readonly wakes: Wakes;
  readonly #emitter: EventEmitter;
  readonly #clock: Clock;
  readonly #changed: () => void;

  /** `changed` is called whenever another timer became the first. */
  constructor(emitter: EventEmitter, clock: Clock, intervals: Intervals, changed: () => void) {
    this.wakes = new Wakes(intervals);
    this.#emitter = emitter;
    this.#clock = clock;
    this.#changed = changed;
  }

  /** In the order of the call: log lines, then notices, each followed by the wake it causes. */
  deliver(effects: Effects): void {
    for (const { level, message } of effects.lines) this.log(level, message);
    for (const opening of effects.openings) this.#open(opening);
  }

  /** A watcher should run. */
  wake(watcher: string): void {
    this.#tell('wake', { watcher });
  }

  /** A line for the operator. */
  log(level: Level, message: string): void {
    this.#tell('log', { level, message });
  }

  #open({ watcher, notice, delivery }: Opening): void {
    const { target, since, upTo, text } = notice;
    if (delivery !== 'wake') {
      this.#tell('notice', {
        watcher,
        target: target.key,
        agent: target.agent,
        since: Number(since),
        upTo: Number(upTo),
        text,
      });
    }
    if (delivery === 'announce') return;
    const before = this.wakes.next();
    const id = openingId(target.key, target.agent, since);
    const now = this.wakes.opened(watcher, id, this.#clock.elapsed());
    if (this.wakes.next() !== before) this.#changed();
    if (now) this.wake(watcher);
  }

  /** What a listener throws is no concern of the call, and comes up as an uncaught exception. */
  #tell(event: string, news: object): void {
    try {
      this.#emitter.emit(event, news);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
