/**
 * When a watcher is woken: a pure state machine over times, without clock, timer or store.
 *
 * The first opening wakes at once. Openings in the window after a wake share one more wake at the end
 * of that window, sent only if one of them is still pending. While a notice that may wake stays
 * pending, its watcher is woken again a reminder's time after the last wake. So no watcher is woken
 * twice within a window, whatever happens.
 *
 * All of it can be lost at any moment without harm: it decides when to look, not what is pending.
 */
import { byBytes } from './order.js';

/** If it could not be found out what is pending, it is tried again after this, in ms. */
const RETRY = 1_000;

/** Watchers that are remembered; beyond, one whose window is over is forgotten. */
const WATCHERS = 100_000;

/** Openings remembered in one window; beyond, any pending notice justifies the wake. */
const OPENINGS = 256;

/** Timers that moved are kept until they come up, but not many more than there are watchers. */
const SLACK = 1_024;

/** Before any time. */
const NEVER = -1;

/** How often watchers are woken, in ms. */
export interface Intervals {
  /** A watcher is not woken twice within this. */
  window: number;
  /** A watcher with a pending notice is woken again after this. */
  reminder: number;
}

/** What a due timer needs to know before it may wake. */
export interface Question {
  watcher: string;
  /** Which notices justify the wake; absent: any that may wake. */
  anyOf: ReadonlySet<string> | undefined;
}

/** Whether one of them is pending and may wake, none is, or it could not be found out. */
export type Finding = 'pending' | 'settled' | 'unknown';

/** A notice, as far as its identity goes. */
export function openingId(key: string, agent: string, since: bigint): string {
  return `${key}\0${agent}\0${since}`;
}

interface Watcher {
  woken: number;
  /** What came in since the last wake: nothing, these, or more than are remembered. */
  openings: Set<string> | 'many' | undefined;
  timer: number;
}

/** All watchers that were woken within a reminder's time, and those that have to be again. */
export class Wakes {
  readonly #intervals: Intervals;
  readonly #watchers = new Map<string, Watcher>();
  readonly #timers = new Timers();
  #now = 0;

  constructor(intervals: Intervals) {
    this.#intervals = intervals;
  }

  /** A notice opened that may wake its watcher. Returns whether to wake it now. */
  opened(watcher: string, opening: string, now: number): boolean {
    this.#advance(now);
    const known = this.#watchers.get(watcher);
    if (known !== undefined && now < known.woken + this.#intervals.window) {
      remember(known, opening);
      this.#setTimer(watcher, known, known.woken + this.#intervals.window);
      return false;
    }
    if (known === undefined && !this.#makeRoom()) return false;
    this.#woken(watcher, now);
    return true;
  }

  /** The next timer that is due, if there is one. Each has to be {@link answer}ed. */
  due(now: number): Question | undefined {
    this.#advance(now);
    const first = this.#first();
    if (first === undefined || first.due > now) return undefined;
    const openings = this.#watchers.get(first.watcher)?.openings;
    return { watcher: first.watcher, anyOf: openings instanceof Set ? new Set(openings) : undefined };
  }

  /** What is pending for the watcher of a due timer. Returns whether to wake it now. */
  answer(watcher: string, finding: Finding, now: number): boolean {
    this.#advance(now);
    const known = this.#watchers.get(watcher);
    if (known === undefined || known.timer > now) return false;
    switch (finding) {
      case 'pending':
        this.#woken(watcher, now);
        return true;
      case 'unknown':
        this.#setTimer(watcher, known, now + RETRY);
        return false;
      case 'settled':
        if (known.openings === undefined) {
          this.#watchers.delete(watcher);
        } else {
          known.openings = undefined;
          this.#setTimer(watcher, known, known.woken + this.#intervals.reminder);
        }
        return false;
    }
  }

  /** When the next timer is due. */
  next(): number | undefined {
    return this.#first()?.due;
  }

  /**
   * Follows the clock. If it went back, whoever was woken "later than now" counts as woken now, so
   * that neither a storm of wakes follows nor a silence as long as the jump.
   */
  #advance(now: number): void {
    if (now < this.#now) {
      for (const [watcher, known] of this.#watchers) {
        const back = Math.max(known.woken - now, 0);
        known.woken -= back;
        const due = Math.min(Math.max(known.timer - back, 0), now + this.#intervals.reminder);
        if (due !== known.timer) this.#setTimer(watcher, known, due);
      }
    }
    this.#now = now;
  }

  #woken(watcher: string, now: number): void {
    const due = now + this.#intervals.reminder;
    const known: Watcher = { woken: now, openings: undefined, timer: NEVER };
    this.#watchers.set(watcher, known);
    this.#setTimer(watcher, known, due);
  }

  #setTimer(watcher: string, known: Watcher, due: number): void {
    if (known.timer === due) return;
    known.timer = due;
    this.#timers.add({ due, watcher });
    if (this.#timers.size > 4 * this.#watchers.size + SLACK) this.#rebuildTimers();
  }

  /** Leaves out those that moved or went. */
  #rebuildTimers(): void {
    this.#timers.clear();
    for (const [watcher, { timer }] of this.#watchers) this.#timers.add({ due: timer, watcher });
  }

  /** The first timer that still stands; those that moved or went are dropped on the way. */
  #first(): Timer | undefined {
    for (;;) {
      const first = this.#timers.first;
      if (first === undefined) return undefined;
      if (this.#watchers.get(first.watcher)?.timer === first.due) return first;
      this.#timers.removeFirst();
    }
  }

  /**
   * Forgets a watcher whose window is over, if there are too many. Returns false if nobody may be
   * forgotten: without its window a watcher could be woken twice within it.
   */
  #makeRoom(): boolean {
    if (this.#watchers.size < WATCHERS) return true;
    for (const [watcher, known] of this.#watchers) {
      if (known.woken + this.#intervals.window <= this.#now) {
        this.#watchers.delete(watcher);
        return true;
      }
    }
    return false;
  }
}

function remember(known: Watcher, opening: string): void {
  if (known.openings === undefined) known.openings = new Set([opening]);
  else if (known.openings === 'many') return;
  else if (known.openings.size < OPENINGS) known.openings.add(opening);
  else known.openings = 'many';
}

interface Timer {
  due: number;
  watcher: string;
}

function order(one: Timer, other: Timer): number {
  return one.due - other.due || byBytes(one.watcher, other.watcher);
}

/** A heap: the soonest first, those of one moment by watcher. */
class Timers {
  readonly #heap: Timer[] = [];

  get first(): Timer | undefined {
    return this.#heap[0];
  }

  get size(): number {
    return this.#heap.length;
  }

  clear(): void {
    this.#heap.length = 0;
  }

  add(timer: Timer): void {
    const heap = this.#heap;
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || order(parent, timer) <= 0) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = timer;
  }

  removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      const [left, right] = [heap[below], heap[below + 1]];
      if (left === undefined) break;
      const child = right !== undefined && order(right, left) < 0 ? ((below += 1), right) : left;
      if (order(last, child) <= 0) break;
      heap[at] = child;
      at = below;
    }
    heap[at] = last;
  }
}
