/** The folders that sources may be read from. */
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';

import type { Found } from '../contract.js';
import { MISSING, isAbsence, refused, systemWords, unavailable } from './found.js';

/**
 * Where the tools of this user keep their sessions: `$CLAUDE_CONFIG_DIR`, or `.claude` in the home
 * folder; `$CODEX_HOME`, or `.codex` there.
 */
export function userFolders(): string[] {
  const { CLAUDE_CONFIG_DIR: claude, CODEX_HOME: codex } = process.env;
  return [claude || path.join(os.homedir(), '.claude'), codex || path.join(os.homedir(), '.codex')];
}

/** The allowed folders of one read. */
export class Folders {
  readonly #given: readonly string[];

  constructor(given: readonly string[]) {
    this.#given = given;
  }

  /**
   * What it means that a path without symbolic links lies in none of them; nothing if it lies in one.
   *
   * Those that the path was written with are looked up first: another one, on a disk that hangs, is
   * then no concern of it.
   */
  async refusal(real: string, place: string): Promise<Found | undefined> {
    const near = this.#given.filter((folder) => isInside(place, folder));
    const far = this.#given.filter((folder) => !near.includes(folder));
    let trouble: string | undefined;
    for (const folder of [...near, ...far]) {
      try {
        if (isInside(real, await root(folder))) return undefined;
      } catch (error) {
        if (!isAbsence(error)) trouble = `the folder ${folder}: ${systemWords(error)}`;
      }
    }
    return trouble === undefined ? this.#outside() : unavailable(trouble);
  }

  /**
   * What it means that nothing of a name is there, where `reached` is the deepest folder on the way
   * that is.
   */
  async absent(place: string, reached: string): Promise<Found> {
    const refusal = await this.refusal(reached, place);
    if (refusal?.tag === 'refused') return (await this.away(place)) ?? refusal;
    if (refusal !== undefined) return refusal;
    // Something else in the place of an allowed folder is as if that was not there.
    const isFolder = (await fs.stat(reached)).isDirectory();
    if (!isFolder && (await this.#isOne(reached))) return unavailable(`${reached} is no folder`);
    return MISSING;
  }

  /** What it means that an allowed folder which the place is in, as it is written, is not there. */
  async away(place: string): Promise<Found | undefined> {
    for (const folder of this.#given.filter((given) => isInside(place, given))) {
      const found = await root(folder).catch(() => undefined);
      if (found === undefined) return unavailable(`the folder ${folder} is not there`);
    }
    return undefined;
  }

  async #isOne(real: string): Promise<boolean> {
    const roots = await Promise.all(
      this.#given.map((folder) => root(folder).catch(() => undefined)),
    );
    return roots.includes(real);
  }

  #outside(): Found {
    const words = 'it lies, or a symbolic link leads, outside the folders that are allowed';
    return refused(this.#given.length === 0 ? words : `${words}: ${this.#given.join(', ')}`);
  }
}

/** Whether a path is this folder or something in it, name by name. */
function isInside(place: string, folder: string): boolean {
  const way = path.relative(folder, place);
  return way === '' || (way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way));
}

/** An allowed folder without symbolic links. */
async function root(folder: string): Promise<string> {
  // A relative path would depend on where the process was started.
  if (path.isAbsolute(folder)) return fs.realpath(folder);
  throw Object.assign(new Error('it is not absolute'), { code: 'ENOTDIR' });
}
