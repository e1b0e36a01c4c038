/**
 * What a component imports and exports, compared with the contract by name and version; and, because
 * no runtime compares types here, its own interfaces item by item with the ones that this package was
 * built with.
 */

const PACKAGE = 'headsup:awareness/';
const CONTRACT = '0.1.0';
const IMPORTS = ['types', 'sources', 'storage', 'settings', 'queue', 'log'];
const WALL_CLOCK = { name: 'wasi:clocks/wall-clock', version: '0.2.6' };
const EXPORTS = [
  'signals',
  'watches',
  'notices',
  'reconciliation',
  'upstreams',
  'maintenance',
  'wire',
  'plugin',
];

/** The outside of a component. */
interface Surface {
  imports: string[];
  exports: string[];
  /** The items of each interface of our package, as WIT without comments. */
  interfaces: Map<string, Set<string>>;
}

/** Throws an `Error` that says why these are not the imports and exports of a core. */
export function checkInterface(wit: string, builtIn: string): void {
  const surface = surfaceOf(wit);
  for (const name of surface.imports) checkImport(name);
  for (const name of EXPORTS) checkExport(surface, `${PACKAGE}${name}`);
  const foreign = surface.exports.find((name) => !name.startsWith(PACKAGE));
  if (foreign !== undefined) throw new Error(`it exports ${foreign}, which is not the contract's`);
  compareItems(surface, surfaceOf(builtIn));
}

function checkImport(name: string): void {
  const [bare, version] = split(name);
  if (bare === WALL_CLOCK.name) return requireCompatible(name, version, WALL_CLOCK.version);
  if (bare.startsWith(PACKAGE) && IMPORTS.includes(bare.slice(PACKAGE.length))) {
    return requireCompatible(name, version, CONTRACT);
  }
  throw new Error(`it imports ${name}; a core may only import what the contract gives it`);
}

function checkExport(surface: Surface, wanted: string): void {
  const found = surface.exports.find((name) => split(name)[0] === wanted);
  if (found === undefined) throw new Error(`it does not export ${wanted}`);
  requireCompatible(found, split(found)[1], CONTRACT);
}

/** Versions are compatible when their majors are equal, and while those are 0, their minors. */
function requireCompatible(name: string, version: string, offered: string): void {
  const series = (text: string) => {
    const numbers = /^(\d+)\.(\d+)\.\d+(?:\+.*)?$/.exec(text);
    return numbers && (numbers[1] === '0' ? `0.${numbers[2]}` : numbers[1]);
  };
  if (series(version) !== null && series(version) === series(offered)) return;
  throw new Error(`it has ${name}, and this host has ${split(name)[0]}@${offered}`);
}

/** `package:name/interface` and its version. */
function split(name: string): [bare: string, version: string] {
  const at = name.indexOf('@');
  return at < 0 ? [name, ''] : [name.slice(0, at), name.slice(at + 1)];
}

/** Whatever both have is the same; whatever we call is there; nothing is imported that we lack. */
function compareItems(surface: Surface, ours: Surface): void {
  for (const [name, items] of ours.interfaces) {
    const theirs = surface.interfaces.get(name);
    const isExport = EXPORTS.includes(name);
    const more = [...(theirs ?? [])].find((item) => !items.has(item));
    const less = [...items].find((item) => !theirs?.has(item));
    // A function that is added to an exported interface is a minor change.
    if (more !== undefined && !(isExport && isFunction(more))) throw differs(name, more);
    if (less !== undefined && isExport) throw differs(name, less);
  }
}

function isFunction(item: string): boolean {
  return /^[%\w-]+: func\(/.test(item);
}

function differs(name: string, item: string): Error {
  const words = item.length > 80 ? `${item.slice(0, 80)}…` : item;
  return new Error(`its interface ${name} differs from the contract at \`${words}\``);
}

function surfaceOf(wit: string): Surface {
  const text = wit.replace(/\/\/[^\n]*/g, '').replace(/@since\([^)]*\)/g, '');
  const world = /world root \{([^]*?)\n\}/.exec(text)?.[1] ?? '';
  const listed = (word: string) =>
    [...world.matchAll(new RegExp(`\\b${word} ([^;{]+);`, 'g'))].map((match) => String(match[1]).trim());
  const interfaces = new Map<string, Set<string>>();
  const ours = text.slice(Math.max(0, text.indexOf(`package ${PACKAGE.slice(0, -1)}@`)));
  for (const [, name = '', body = ''] of ours.matchAll(/\n  interface ([\w-]+) \{([^]*?)\n  \}/g)) {
    interfaces.set(name, new Set(itemsOf(body)));
  }
  return { imports: listed('import'), exports: listed('export'), interfaces };
}

/** The items of an interface, each on one line and with single spaces. */
function itemsOf(body: string): string[] {
  const items: string[] = [];
  let item = '';
  let depth = 0;
  for (const character of body) {
    if (character === '{') depth += 1;
    if (character === '}') depth -= 1;
    item += character;
    if (depth === 0 && (character === ';' || character === '}')) {
      items.push(item.replace(/\s+/g, ' ').trim());
      item = '';
    }
  }
  // What is used from where names the version of the package, which was compared already.
  return items.filter((text) => !text.startsWith('use ') && text !== ';');
}
