/** Finding a file without opening it: opening a pipe or a device may wait for ever. */
import type { BigIntStats } from 'node:fs';
import * as fs from 'node:fs/promises';
import * as path from 'node:path';

import type { Found } from '../contract.js';
import { systemCode } from '../storage/place.js';
import type { Folders } from './folders.js';
import { MISSING, isAbsence, refused, systemWords, unavailable } from './found.js';

/** Most symbolic links that are followed to find out where one leads that leads nowhere. */
const LINKS = 40;

/** A regular file inside an allowed folder, or what there is instead. */
export type Located = { real: string; stats: BigIntStats } | { found: Found };

/** Finds the regular file at this place, or says what there is instead. */
export async function locate(place: string, folders: Folders): Promise<Located> {
  if (!path.isAbsolute(place)) return { found: refused('the path is not absolute') };
  try {
    const real = await fs.realpath(place);
    const refusal = await folders.refusal(real, place);
    if (refusal !== undefined) return { found: refusal };
    const stats = await fs.lstat(real, { bigint: true });
    if (stats.isFile()) return { real, stats };
    // A link took its place since.
    return { found: stats.isSymbolicLink() ? unavailable('it was just replaced') : MISSING };
  } catch (error) {
    return { found: await unreached(place, folders, error) };
  }
}

/** What it means that looking for the file failed. */
async function unreached(place: string, folders: Folders, error: unknown): Promise<Found> {
  const isTooLong = systemCode(error) === 'ENAMETOOLONG';
  if (!isAbsence(error) && !isTooLong) return unavailable(systemWords(error));
  const found = await absent(place, folders).catch((worse: unknown) =>
    unavailable(systemWords(worse)),
  );
  // A name that is too long proves nothing about what is there, but where it would be.
  return isTooLong && found.tag !== 'refused' ? unavailable(systemWords(error)) : found;
}

/**
 * A file is definitively missing if what is missing on the way to it is inside an allowed folder: the
 * project it belonged to may be gone. If the allowed folder itself is, a disk may not be mounted; and
 * the same if the way ends in a symbolic link, because where that leads a disk may not be either.
 */
async function absent(place: string, folders: Folders): Promise<Found> {
  let way = place;
  for (let hop = 0; hop < LINKS; hop += 1) {
    const { reached, beyond } = await reach(way);
    const [first, ...rest] = beyond;
    if (first === undefined) return unavailable('it was just replaced');
    const target = await fs.readlink(path.join(reached, first)).catch(() => undefined);
    if (target === undefined) {
      const found = await folders.absent(way, reached);
      const isBehindLink = found.tag === 'missing' && hop > 0;
      return isBehindLink ? unavailable('a symbolic link leads nowhere') : found;
    }
    // An allowed folder may be a link itself, or lie behind one.
    const away = await folders.away(way);
    if (away !== undefined) return away;
    way = path.resolve(reached, target, ...rest);
  }
  return unavailable('too many symbolic links');
}

/** The deepest place on a way that there is, without symbolic links, and what is left of the way. */
async function reach(way: string): Promise<{ reached: string; beyond: string[] }> {
  const beyond: string[] = [];
  for (let above = way; ; above = path.dirname(above)) {
    try {
      return { reached: await fs.realpath(above), beyond };
    } catch (error) {
      if (!isAbsence(error) && systemCode(error) !== 'ENAMETOOLONG') throw error;
    }
    if (above === path.dirname(above)) throw new Error('nothing of it is there');
    beyond.unshift(path.basename(above));
  }
}
