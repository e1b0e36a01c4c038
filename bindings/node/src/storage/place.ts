/**
 * What is at the path of a store and beside it, before SQLite looks: SQLite takes much for a database
 * that is none.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';

import type { StorageFault } from '../contract.js';
import { NOT_A_DATABASE, Problem, READ_ONLY, worded } from './failure.js';

/** The bytes of one page of the smallest size: no database has fewer. */
const SMALLEST_FILE = 512;

/** The path that means "in memory, gone at the end". */
export const IN_MEMORY = ':memory:';

/**
 * The path that SQLite is given, from the folder that the process is in now. `..` is left to the system: above
 * a link it is another folder than the text says.
 */
export function absolute(given: string): string {
  return path.isAbsolute(given) ? given : process.cwd() + path.sep + given;
}

/**
 * Refuses what cannot hold a database. Only asks what it is and how long: opening and closing the
 * file here would drop locks that this process holds on it.
 */
export function refuseWhatIsNoDatabase(file: string): void {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory()) {
    throw new Problem('failed', 'it is a folder; give the path of a file in it');
  }
  if (!found.isFile()) {
    throw new Problem('failed', 'it is a device, a pipe or a socket; give the path of a file');
  }
  // SQLite takes a file of one byte for an empty one and would write over it.
  if (found.size >= 1 && found.size < SMALLEST_FILE) throw new Problem('corrupt', NOT_A_DATABASE);
}

/** Which file is at a path, by whatever name. */
export class Identity {
  readonly #file: string;
  readonly #device: bigint;
  readonly #number: bigint;

  /** That of the file there now. Throws what the system says. */
  constructor(file: string) {
    const found = fs.statSync(file, { bigint: true });
    this.#file = file;
    this.#device = found.dev;
    this.#number = found.ino;
  }

  /** The same for the same file, by whatever name. */
  get key(): string {
    return `${this.#device} ${this.#number}`;
  }

  /**
   * Whether it is still there, as far as can be told: a folder that may not be entered any more says nothing
   * about the file.
   */
  get isThere(): boolean {
    try {
      const found = fs.statSync(this.#file, { bigint: true });
      return found.dev === this.#device && found.ino === this.#number;
    } catch (error) {
      return !['ENOENT', 'ENOTDIR'].includes(systemCode(error));
    }
  }

  /**
   * Throws {@link StoreFailed} if the path leads to another file by now, or to none: what is written to the
   * one that is open would be lost with it.
   */
  refuseAnother(): void {
    if (this.isThere) return;
    const message =
      'the file was removed or replaced while it was open, and what is written to the old one would be ' +
      'lost; put that one back, or end every process that has it open and start again';
    throw worded(new Problem('failed', message), this.#file);
  }
}

/** Refuses a store to look at that is not there. */
export function refuseMissing(file: string): void {
  if (fs.existsSync(file)) return;
  throw new Problem('failed', 'there is no store here; check the path');
}

/** Refuses a file that is there and may not be written: SQLite would open it all the same. */
export function refuseReadOnly(file: string): void {
  try {
    fs.accessSync(file, fs.constants.R_OK | fs.constants.W_OK);
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(systemCode(error))) {
      throw new Problem('read-only', READ_ONLY);
    }
    if (systemCode(error) !== 'ENOENT') throw new Problem('failed', unreachable(file, error));
  }
}

/** Makes the folders that a new store needs. */
export function makeFolder(file: string): void {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
  } catch (error) {
    const message = fileAbove(file)
      ? unreachable(file, error)
      : `its folder could not be made (${words(error)}); make it, or give another path`;
    throw new Problem(FAULTS[systemCode(error)] ?? 'failed', message);
  }
}

const FAULTS: Record<string, StorageFault> = {
  EACCES: 'read-only',
  EPERM: 'read-only',
  EROFS: 'read-only',
  ENOSPC: 'full',
  EDQUOT: 'full',
};

function unreachable(file: string, error: unknown): string {
  const above = fileAbove(file);
  if (above !== undefined) return `${above} is a file and no folder; give another path`;
  if (systemCode(error) === 'EACCES') {
    return 'a folder above it may not be entered; change its permissions, or give another path';
  }
  return `it cannot be found (${words(error)}); check the path`;
}

/** What stands where a folder should be. */
function fileAbove(file: string): string | undefined {
  for (let above = path.dirname(file); ; above = path.dirname(above)) {
    if (isFile(above)) return above;
    if (above === path.dirname(above)) return undefined;
  }
}

function isFile(name: string): boolean {
  try {
    return fs.statSync(name).isFile();
  } catch {
    return false;
  }
}

/** Takes an empty file away that a failed opening made, with what SQLite put beside it. */
export function removeEmpty(file: string): void {
  const found = fs.statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size > 0) return;
  for (const suffix of ['-wal', '-shm', '-journal', '']) {
    // What is not there need not go, and what cannot go does no harm.
    try {
      fs.unlinkSync(file + suffix);
    } catch {}
  }
}

/** The system's word for an error, such as `ENOENT`. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
