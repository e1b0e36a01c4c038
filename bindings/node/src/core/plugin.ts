/** A core from a file: checked against the contract, turned into JavaScript once, and kept by its hash. */
import { createHash, randomUUID } from 'node:crypto';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { pathToFileURL } from 'node:url';

import { HeadsupError } from '../errors.js';
import { Core } from './core.js';
import { type Declarations, checkInterface } from './interface.js';
import { type Files, JCO_VERSION, jco, transpile } from './transpile.js';

/** Rises when what is generated for the same component and jco changes. */
const FORMAT = 1;

/**
 * Loads a component from a file. `cache` is the folder for what is generated, which is code that
 * this process will run: nobody else may be able to write there.
 */
export async function loadPlugin(file: string, cache: string = defaultCache()): Promise<Core> {
  try {
    const component = await fs.readFile(file);
    const hash = createHash('sha256').update(component).digest('hex');
    const folder = path.join(cache, `${hash}-jco-${JCO_VERSION}-${FORMAT}`);
    if (!(await exists(folder))) await generate(component, folder);
    return await Core.load(pathToFileURL(`${folder}${path.sep}`));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HeadsupError('plugin-refused', `the plugin ${file} cannot be loaded: ${why}`);
  }
}

/** Appears whole: another process may generate the same at the same time. */
async function generate(component: Uint8Array, folder: string): Promise<void> {
  const wit = await (await jco()).componentWit(component);
  const files = await transpile(component);
  checkInterface(wit, declarationsOf(files), await builtInDeclarations());
  const unfinished = `${folder}.${randomUUID()}`;
  await fs.mkdir(unfinished, { recursive: true, mode: 0o700 });
  for (const [name, content] of files) {
    if (/^component\.(js|core\d*\.wasm)$/.test(name)) {
      await fs.writeFile(path.join(unfinished, name), content, { mode: 0o600 });
    }
  }
  await fs.writeFile(path.join(unfinished, 'package.json'), '{"type":"module"}');
  try {
    await fs.rename(unfinished, folder);
  } catch (error) {
    await fs.rm(unfinished, { recursive: true, force: true });
    if (!(await exists(folder))) throw error;
  }
}

const DECLARATION = /(?:^|\/)headsup-awareness-([\w-]+)\.d\.ts$/;

function declarationsOf(files: Files): Declarations {
  const declared = new Map<string, string>();
  for (const [name, content] of files) {
    const [, bare] = DECLARATION.exec(name) ?? [];
    if (bare !== undefined) declared.set(bare, new TextDecoder().decode(content));
  }
  return declared;
}

async function builtInDeclarations(): Promise<Declarations> {
  const folder = new URL('../component/interfaces/', import.meta.url);
  const names = await fs.readdir(folder);
  const read = async (name: string): Promise<[string, Uint8Array]> => [
    name,
    await fs.readFile(new URL(name, folder)),
  ];
  return declarationsOf(new Map(await Promise.all(names.map(read))));
}

async function exists(folder: string): Promise<boolean> {
  return fs.access(folder).then(
    () => true,
    () => false,
  );
}

function defaultCache(): string {
  const { XDG_CACHE_HOME: given } = process.env;
  const base = given && path.isAbsolute(given) ? given : path.join(os.homedir(), '.cache');
  return path.join(base, 'headsup', 'node');
}
