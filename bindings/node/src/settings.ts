/** The choices of whoever opens a store, checked and with every default filled in. */
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
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(NAMES, name)) throw new TypeError(`${name}: there is no such option`);
  }
  const { path, durability = 'full' } = options;
  if (typeof path !== 'string') throw new TypeError('path: give the path of a file, or `:memory:`');
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
      readOnly: options.readOnly ?? false,
    },
    manualClock:
      manualClock === undefined
        ? undefined
        : whole('manualClock', manualClock, 0, Number.MAX_SAFE_INTEGER),
    wakes: { window, reminder: Math.max(reminder, window) },
    requestLimit: whole('requestLimit', options.requestLimit ?? 4 << 20, 0, 1 << 29),
    recover: options.recover ?? true,
    sourceFolders: options.sourceFolders,
    sourceDeadline: whole('sourceDeadline', options.sourceDeadline ?? 45_000, 1, LONGEST),
    monitorUpstreams: options.monitorUpstreams ?? false,
  };
}

function whole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`${name}: give a whole number from ${least} to ${most}`);
}
