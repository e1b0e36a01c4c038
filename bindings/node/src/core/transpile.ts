/**
 * A component as JavaScript and core modules, by jco. Used when this package is built and, for a
 * plugin from a file, at run time.
 */
import { createRequire } from 'node:module';

/** The one version of jco whose generated code is known and measured; see docs/embedding/node.md. */
export const JCO_VERSION = '1.12.0';

/** Files by name: `component.js`, `component.core.wasm` and so on. */
export type Files = Map<string, Uint8Array>;

/** As much of jco as is used here. */
interface Jco {
  transpile(
    component: Uint8Array,
    options: Record<string, unknown>,
  ): Promise<{ files: Record<string, Uint8Array> }>;
  componentWit(component: Uint8Array): Promise<string>;
}

/** Loads jco. Throws an `Error` that says what to install if it is not there or another version. */
export async function jco(): Promise<Jco> {
  const name = '@bytecodealliance/jco';
  const advice = `install ${name}@${JCO_VERSION} beside headsup`;
  let version: string;
  try {
    const require = createRequire(import.meta.url);
    const entry = require.resolve(name);
    version = versionAbove(require, entry);
  } catch {
    throw new Error(`a component from a file has to be turned into JavaScript first: ${advice}`);
  }
  if (version !== JCO_VERSION) {
    throw new Error(`jco ${version} generates other code than the one that is known: ${advice}`);
  }
  return (await import(name)) as Jco;
}

/** The version of the package that a file belongs to; its exports hide its package.json. */
function versionAbove(require: NodeJS.Require, entry: string): string {
  const folder = entry.slice(0, entry.lastIndexOf('/src/'));
  return (require(`${folder}/package.json`) as { version: string }).version;
}

/**
 * Turns a component into JavaScript that is instantiated synchronously, any number of times, with
 * imports of ours alone.
 */
export async function transpile(component: Uint8Array): Promise<Files> {
  const { files } = await (await jco()).transpile(component, {
    name: 'component',
    instantiation: 'sync',
    nodejsCompat: false,
    base64Cutoff: 0,
  });
  const named = new Map(Object.entries(files));
  const script = named.get('component.js');
  if (script === undefined) throw new Error('jco generated no component.js');
  const text = new TextDecoder().decode(script);
  named.set('component.js', new TextEncoder().encode(keepingByteOrderMarks(text)));
  return named;
}

/**
 * The decoder of the generated code drops U+FEFF at the start of any text that leaves the core, so
 * that a key which begins with it would be stored as another one.
 */
function keepingByteOrderMarks(script: string): string {
  const parts = script.split('new TextDecoder()');
  if (parts.length !== 2) throw new Error('the code that jco generated has another decoder');
  return parts.join("new TextDecoder('utf-8', { ignoreBOM: true })");
}
