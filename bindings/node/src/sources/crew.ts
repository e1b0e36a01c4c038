/**
 * Reads sources: a few at once, each for as long as the deadline. One that hangs is left alone; it
 * stops neither the others nor the next check, and is not begun again before it ended.
 */
import type { FileRead, Found } from '../contract.js';
import type { FolderFiles } from './files.js';
import { unavailable } from './found.js';

/** So many reads of one round run at once; the system's own pool has as many threads. */
const ABREAST = 4;

/** Reads over one {@link FolderFiles}. */
export class Crew {
  readonly #files: FolderFiles;
  readonly #deadline: number;
  /** The places of reads beyond their deadline that have not ended. */
  readonly #hanging = new Set<string>();
  #stopped = false;

  /** Each read may take so long, in ms. */
  constructor(files: FolderFiles, deadline: number) {
    this.#files = files;
    this.#deadline = deadline;
  }

  /** Reads both ends of a file. */
  readEnds(path: string): Promise<Found> {
    return this.#within(path, () => this.#files.readEnds(path));
  }

  /** Reads on in all of these and hands over what was found, with its number, as it is found. */
  async readOn(reads: FileRead[], each: (number: number, found: Found) => void): Promise<void> {
    const queue = reads.entries();
    const work = async () => {
      for (const [number, read] of queue) {
        if (this.#stopped) return;
        each(number, await this.#within(read.places.join('\0'), () => this.#files.readOn(read)));
      }
    };
    await Promise.all(Array.from({ length: ABREAST }, work));
  }

  /** Begins no more reads. */
  stop(): void {
    this.#stopped = true;
  }

  async #within(place: string, read: () => Promise<Found>): Promise<Found> {
    if (this.#hanging.has(place)) return unavailable('an earlier read of it has not ended');
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<Found>((resolve) => {
      timer = setTimeout(() => {
        this.#hanging.add(place);
        resolve(unavailable(`it took longer than ${this.#deadline} ms to read`));
      }, this.#deadline);
    });
    const ended = read()
      .catch((error: unknown) => unavailable(String(error)))
      .finally(() => {
        clearTimeout(timer);
        this.#hanging.delete(place);
      });
    return Promise.race([ended, late]);
  }
}
