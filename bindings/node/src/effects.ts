/**
 * What a call wants done outside the store. It is collected while the call runs, within bounds, and
 * delivered only after the call's transaction committed.
 */
import type { Level, Opening } from './contract.js';

/** Most openings of one call, in UTF-16 units of their texts. */
const OPENING_UNITS = 32 * 1024 * 1024;

/** What an opening takes beside its texts, in the same unit. */
const OPENING_COST = 64;

/** Most lines of the log that one call may write. */
const LINES = 100;

/** A line of the log is cut here, in bytes. */
const LINE_BYTES = 4_096;

/** A line for the operator. */
export interface Line {
  level: Level;
  message: string;
}

/** What one call enqueued and logged. */
export class Effects {
  #openings: Opening[] = [];
  readonly #lines: Line[] = [];
  #units = 0;
  #droppedOpenings = 0;
  #droppedLines = 0;

  /**
   * Keeps openings while there is room. Dropping the rest loses no notice: queues are hints, and the
   * cursors keep what is pending.
   */
  enqueue(openings: Opening[]): void {
    for (const opening of openings) {
      const { watcher, notice } = opening;
      const { target, text } = notice;
      const size =
        OPENING_COST + watcher.length + target.key.length + target.agent.length + text.length;
      if (this.#units + size > OPENING_UNITS) {
        this.#droppedOpenings += 1;
      } else {
        this.#units += size;
        this.#openings.push(opening);
      }
    }
  }

  /** Keeps a line, cut to its bound and without line breaks. */
  log(level: Level, message: string): void {
    if (this.#lines.length >= LINES) {
      this.#droppedLines += 1;
      return;
    }
    this.#lines.push({ level, message: cut(message).replace(/\p{Cc}/gu, ' ') });
  }

  /** What the core said last at level error: a panic reports itself so. */
  get lastError(): string | undefined {
    return this.#lines.findLast(({ level }) => level === 'error')?.message;
  }

  /** Forgets the openings: the transaction did not commit. Lines stay, as they are outside it. */
  rolledBack(): this {
    this.#openings = [];
    this.#droppedOpenings = 0;
    return this;
  }

  /** The openings, in order. */
  get openings(): readonly Opening[] {
    return this.#openings;
  }

  /** The lines, with one more for whatever the bounds dropped. */
  get lines(): readonly Line[] {
    const lines = [...this.#lines];
    if (this.#droppedLines > 0) {
      const message = `${this.#droppedLines} more lines of the core were dropped`;
      lines.push({ level: 'warn', message });
    }
    if (this.#droppedOpenings > 0) {
      const message = `${this.#droppedOpenings} openings were too many to announce at once; their notices stay pending`;
      lines.push({ level: 'warn', message });
    }
    return lines;
  }
}

/** Cut at a whole character. */
function cut(message: string): string {
  if (message.length * 3 <= LINE_BYTES) return message;
  const { read } = new TextEncoder().encodeInto(message, new Uint8Array(LINE_BYTES));
  return message.slice(0, read);
}
