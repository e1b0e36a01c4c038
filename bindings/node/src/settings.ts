/** The choices of whoever opens a store, checked and with every default filled in. */
import { isAbsolute } from 'node:path';

import type { OpenOptions } from './options.js';
import type { StoreOptions } from './storage/open.js';
import type { Intervals } from './wakes.js';

/** The same with every default filled in. */
export interface Settings {
  store: StoreOptions;
  manualClock: number | undefined;
  wakes: Intervals;
  requestLimit: number;
  recover: boolean;
  sourceFolders: readonly string[] | undefined;
  sourceDeadline: number;
  monitorUpstreams: boolean;
}

const NAMES: Record<keyof OpenOptions, true> = {
  path: true,
  durability: true,
  busyTimeout: true,
  plugin: true,
  pluginCache: true,
  manualClock: true,
  wakeWindow: true,
  wakeReminder: true,
  requestLimit: true,
  recover: true,
  readOnly: true,
  sourceFolders: true,
  sourceDeadline: true,
  monitorUpstreams: true,
  on: true,
};

/** Longest time-out that timers and SQLite take, in ms. */
const LONGEST = 2 ** 31 - 1;

/** Fills in defaults. Throws a `TypeError` or `RangeError` that names the option. */
export function settingsOf(options: OpenOptions): Settings {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError('give options: `path`, at least');
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(NAMES, name)) throw new TypeError(`${name}: there is no such option`);
    if (options[name as keyof OpenOptions] === null) throw new TypeError(`${name}: leave it out, or give a value`);
  }
  checkListeners(options.on);
  for (const name of ['plugin', 'pluginCache'] as const) {
    if (!['string', 'undefined'].includes(typeof options[name])) throw new TypeError(`${name}: give a path`);
  }
  const { path, durability = 'full' } = options;
  if (typeof path !== 'string') throw new TypeError('path: give the path of a file, or `:memory:`');
  // The binding would cut white space off.
  if (path.trim() !== path || path === '') {
    throw new TypeError('path: it is empty, or begins or ends with white space; give another path');
  }
  if (/[\0\p{Surrogate}]/u.test(path)) {
    throw new TypeError('path: it has a null, or half of a surrogate pair; give another path');
  }
  if (durability !== 'full' && durability !== 'normal') {
    throw new TypeError('durability: give `full` or `normal`');
  }
  const window = whole('wakeWindow', options.wakeWindow ?? 20_000, 0, LONGEST);
  const reminder = whole('wakeReminder', options.wakeReminder ?? 900_000, 1, LONGEST);
  const { manualClock } = options;
  return {
    store: {
      path,
      durability,
      busyTimeout: whole('busyTimeout', options.busyTimeout ?? 5_000, 0, LONGEST),
      readOnly: choice('readOnly', options.readOnly, false),
    },
    manualClock:
      manualClock === undefined
        ? undefined
        : whole('manualClock', manualClock, 0, Number.MAX_SAFE_INTEGER),
    wakes: { window, reminder: Math.max(reminder, window) },
    requestLimit: whole('requestLimit', options.requestLimit ?? 4 << 20, 0, 1 << 29),
    recover: choice('recover', options.recover, true),
    sourceFolders: folders(options.sourceFolders),
    sourceDeadline: whole('sourceDeadline', options.sourceDeadline ?? 45_000, 1, LONGEST),
    monitorUpstreams: choice('monitorUpstreams', options.monitorUpstreams, false),
  };
}

/** A listener under another name would never hear anything. */
function checkListeners(on: object = {}): void {
  if (typeof on !== 'object') throw new TypeError('on: give an object of functions');
  for (const [name, listener] of Object.entries(on)) {
    if (!['notice', 'wake', 'log'].includes(name)) throw new TypeError(`on.${name}: there is no such event`);
    if (!['function', 'undefined'].includes(typeof listener)) throw new TypeError(`on.${name}: give a function`);
  }
}

function choice(name: string, value: boolean | undefined, otherwise: boolean): boolean {
  if (value === undefined) return otherwise;
  if (typeof value === 'boolean') return value;
  throw new TypeError(`${name}: give true or false`);
}

function folders(given: readonly string[] | undefined): readonly string[] | undefined {
  if (given === undefined) return undefined;
  const fits = Array.isArray(given) && given.every((one) => typeof one === 'string' && isAbsolute(one));
  if (fits) return given;
  throw new TypeError('sourceFolders: give a list of absolute paths');
}

function whole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`${name}: give a whole number from ${least} to ${most}`);
}
