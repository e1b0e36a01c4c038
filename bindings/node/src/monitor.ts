/**
 * The monitor of adopted sessions: a timer that lets a round of checks run. Which sessions are due in
 * it, over all processes of a store, the core decides.
 */
import { fromFailure } from './failures.js';
import { type Runtime, errorOf } from './runtime.js';

/** After opening, the first look; in ms. */
const FIRST = 15_000;

/** After that, one look this often; in ms. */
const INTERVAL = 60_000;

/** A timer on a clock. */
export class Monitor {
  readonly #runtime: Runtime;
  #due: number;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the last round failed: that is said once. */
  #failing = false;
  #running = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#due = runtime.clock.elapsed() + FIRST;
  }

  /** Looks whenever it is time, by the machine's clock. Keeps no process from ending. */
  start(): void {
    if (this.#runtime.clock.isManual) return;
    const rest = Math.max(this.#due - this.#runtime.clock.elapsed(), 0);
    this.#timer = setTimeout(() => {
      void this.fire().finally(() => {
        if (!this.#runtime.isClosed) this.start();
      });
    }, rest).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Checks what is due, if it is time to look; once, however late it is. */
  async fire(): Promise<void> {
    const now = this.#runtime.clock.elapsed();
    // A clock that went back does not make for a silence as long as the jump.
    this.#due = Math.min(this.#due, now + Math.max(FIRST, INTERVAL));
    if (now < this.#due || this.#running) return;
    this.#due = now + INTERVAL;
    this.#running = true;
    try {
      this.#note(await this.#check());
    } finally {
      this.#running = false;
    }
  }

  /** Checks what is due. Where nothing is adopted nobody takes the write lock to find that out. */
  async #check(): Promise<string | undefined> {
    const adopted = this.#runtime.hasLinks();
    if (adopted.tag !== 'ok') return words(errorOf(adopted));
    if (!adopted.value) return undefined;
    const checked = await this.#runtime.checks.run({ tag: 'due' });
    return checked.tag === 'ok' ? undefined : words(fromFailure(checked.value));
  }

  #note(trouble: string | undefined): void {
    if (trouble !== undefined && !this.#failing && !this.#runtime.isClosed) {
      this.#runtime.courier.log('warn', `no adopted session was checked ${trouble}`);
    }
    this.#failing = trouble !== undefined;
  }
}

function words({ reason, message }: { reason: string; message: string }): string {
  return `(${reason}): ${message}`;
}
