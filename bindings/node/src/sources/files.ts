/**
 * Reading what the core plans for adopted sessions: files inside the folders that are allowed. What the
 * bytes mean is the core's business; here it is only told apart whether a file is there, is
 * definitively not there, could not be read this time, or may not be read at all. Nothing of a file's
 * content reaches an error, the log or the store.
 */
import { type BigIntStats, constants } from 'node:fs';
import * as fs from 'node:fs/promises';

import type { FileFound, FileRead, Found } from '../contract.js';
import { systemCode } from '../storage/place.js';
import { Folders, userFolders } from './folders.js';
import { MISSING, isAbsence, systemWords, unavailable } from './found.js';
import { locate } from './locate.js';
import { type Extent, readWindow } from './window.js';

/** A file that is replaced whenever it is looked at is given up after so many looks. */
const LOOKS = 3;

/** A second, in ns. */
const SECOND = 1_000_000_000n;

/** The longest step of a file system that keeps no fractions of seconds, in ns. */
const COARSE_STEP = 2n * SECOND;

/** Longer than the step of any system's timer, in ns. */
const TIMER_STEP = SECOND / 20n;

/** Never a link, and without waiting should it be a pipe by now. Flags that a system lacks are 0. */
const OPEN_FLAGS =
  constants.O_RDONLY |
  (constants.O_NONBLOCK ?? 0) |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NOCTTY ?? 0);

/** Files of this machine that lie inside allowed folders, which are looked up at each read. */
export class FolderFiles {
  readonly #given: readonly string[] | undefined;

  /** Files inside these folders; of this user's tools if none are given. */
  constructor(folders: readonly string[] | undefined) {
    this.#given = folders;
  }

  /** Reads on in a file, for a check. */
  async readOn(read: FileRead): Promise<Found> {
    const folders = this.#folders();
    const extent = { start: Number(read.start), atMost: read.atMost };
    for (const [number, place] of read.places.entries()) {
      const found = await readPlace(place, extent, read.stamp, folders);
      // Where the file may have moved to need not be a folder that is allowed.
      const isNotThere = found.tag === 'missing' || (found.tag === 'refused' && number > 0);
      if (!isNotThere) return found;
    }
    return MISSING;
  }

  /** Reads both ends of the file at this absolute path, for an adoption. */
  readEnds(path: string): Promise<Found> {
    return readPlace(path, 'ends', undefined, this.#folders());
  }

  #folders(): Folders {
    return new Folders(this.#given ?? userFolders());
  }
}

/** Reads the file at one place, again from the start if it was replaced meanwhile. */
async function readPlace(
  place: string,
  extent: Extent,
  stamp: string | undefined,
  folders: Folders,
): Promise<Found> {
  for (let look = 0; look < LOOKS; look += 1) {
    const located = await locate(place, folders);
    if ('found' in located) return located.found;
    if (stamp !== undefined && stamp === stampOf(located.stats)) return { tag: 'unchanged' };
    try {
      const file = await readLocated(place, located, extent);
      if (file !== undefined) return { tag: 'file', val: file };
    } catch (error) {
      return unavailable(systemWords(error));
    }
  }
  return unavailable('it was replaced whenever it was looked at');
}

/** Opens what was located and reads it; nothing if it is no longer what was located. */
async function readLocated(
  place: string,
  { real, stats: located }: { real: string; stats: BigIntStats },
  extent: Extent,
): Promise<FileFound | undefined> {
  let file: fs.FileHandle;
  try {
    file = await fs.open(real, OPEN_FLAGS);
  } catch (error) {
    if (isAbsence(error) || systemCode(error) === 'ELOOP') return undefined;
    throw error;
  }
  try {
    const stats = await file.stat({ bigint: true });
    // The way there is looked at again: a folder on it may have become a link that leads outside.
    const way = await fs.realpath(place).catch(() => undefined);
    const same = stats.isFile() && stats.dev === located.dev && stats.ino === located.ino;
    if (!same || way !== real) return undefined;
    const stamp = steadyStamp(stats, BigInt(Date.now()) * 1_000_000n);
    const { head, start, bytes } = await readWindow(file, extent, Number(stats.size));
    return {
      identity: identityOf(stats),
      ...(stamp === undefined ? {} : { stamp }),
      size: stats.size,
      modifiedAt: stats.mtimeMs < 0n ? 0n : stats.mtimeMs,
      head,
      start: BigInt(start),
      bytes,
    };
  } finally {
    await file.close();
  }
}

/** What tells one file from another in its place: the same words as headsup's host in Rust has. */
function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  const number = `${dev.toString(16)}-${ino.toString(16)}`;
  return birthtimeNs > 0n ? `${number}-${birthtimeNs.toString(16)}` : number;
}

/** What changes whenever the file does. */
function stampOf(stats: BigIntStats): string {
  const parts = [stats.size, stats.mtimeNs, stats.ctimeNs].map((part) => part.toString(16));
  return [identityOf(stats), ...parts].join('-');
}

/**
 * The stamp of a file that rests: one that is written to once more will have another. Nothing for one
 * that changed only just before `now`, in ns, because the times of files move in steps: those of the
 * system's timer, or seconds where the file system keeps no fractions.
 */
function steadyStamp(stats: BigIntStats, now: bigint): string | undefined {
  const changed = stats.ctimeNs > stats.mtimeNs ? stats.ctimeNs : stats.mtimeNs;
  const step = changed % SECOND === 0n ? COARSE_STEP : TIMER_STEP;
  return changed + step <= now ? stampOf(stats) : undefined;
}
