/**
 * What a component imports and exports, compared with the contract by name and version; and, because
 * no runtime compares types here, what jco declares of its interfaces with what it declares of the
 * built-in core's. Integers of different widths look the same there.
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

/** The types that jco generates for each interface of the package, by the interface's name. */
export type Declarations = ReadonlyMap<string, string>;

/**
 * Throws an `Error` that says why these are not the imports and exports of a core. `wit` is the world
 * of the component; of what both have declared, the built-in core's is the contract's.
 */
export function checkInterface(wit: string, declared: Declarations, contract: Declarations): void {
  const imports = listed(wit, 'import');
  const exports = listed(wit, 'export');
  for (const name of imports) checkImport(name);
  for (const name of EXPORTS) checkExport(exports, `${PACKAGE}${name}`);
  const foreign = exports.find((name) => !name.startsWith(PACKAGE));
  if (foreign !== undefined) throw new Error(`it exports ${foreign}, which is not the contract's`);
  for (const [name, text] of contract) compareItems(name, declared.get(name) ?? '', text);
}

/** What a world imports or exports. */
function listed(wit: string, word: 'import' | 'export'): string[] {
  return [...wit.matchAll(new RegExp(`^  ${word} ([^;{]+);`, 'gm'))].map(([, name = '']) => name);
}

function checkImport(name: string): void {
  const [bare, version] = split(name);
  if (bare === WALL_CLOCK.name) return requireCompatible(name, version, WALL_CLOCK.version);
  if (bare.startsWith(PACKAGE) && IMPORTS.includes(bare.slice(PACKAGE.length))) {
    return requireCompatible(name, version, CONTRACT);
  }
  throw new Error(`it imports ${name}; a core may only import what the contract gives it`);
}

function checkExport(exports: string[], wanted: string): void {
  const found = exports.find((name) => split(name)[0] === wanted);
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
function compareItems(name: string, text: string, contract: string): void {
  const [theirs, ours] = [itemsOf(text), itemsOf(contract)];
  const isExport = EXPORTS.includes(name);
  const more = [...theirs].find((item) => !ours.has(item));
  // A function that is added to an exported interface is a minor change.
  if (more !== undefined && !(isExport && more.startsWith('function '))) throw differs(name, more);
  const less = [...ours].find((item) => !theirs.has(item));
  if (less !== undefined && isExport) throw differs(name, less);
}

/** The declarations of an interface, each on one line, in no order. */
function itemsOf(text: string): Set<string> {
  const bare = text.replace(/\/\*[^]*?\*\//g, '');
  const items = bare.split(/^(?:export|declare) /m).slice(1);
  return new Set(items.map((item) => item.replace(/\s+/g, ' ').trim()));
}

function differs(name: string, item: string): Error {
  const words = item.length > 80 ? `${item.slice(0, 80)}…` : item;
  return new Error(`its interface ${name} differs from the contract at \`${words}\``);
}
