/** How a store is opened: every choice with its default. */
import type { LogLine, Notice, Wake } from './api.js';

/** How a store is opened. */
export interface OpenOptions {
  /** The file, made with its folders if it is not there; or `:memory:`, gone when it is closed. */
  path: string;
  /**
   * What a committed call survives: `full`, the default, also a loss of power; `normal` a crash of the
   * process only, at several times the speed.
   */
  durability?: 'full' | 'normal';
  /**
   * How long a call waits for another process to finish writing before it fails with `store-busy`, in
   * ms. Default 5,000. Nothing else runs on this thread meanwhile.
   */
  busyTimeout?: number;
  /**
   * A component from a file in place of the built-in core. Needs the package
   * `@bytecodealliance/jco`, in the version that this package names as its peer. It runs without
   * limits of time and memory.
   */
  plugin?: string;
  /**
   * Where a plugin is kept once it was turned into JavaScript; nobody else may be able to write
   * there. Default: `headsup/node` in the user's cache folder.
   */
  pluginCache?: string;
  /**
   * Time stands here, in ms since the Unix epoch, and moves only by {@link Headsup.setClock}. Default:
   * the machine's clock.
   */
  manualClock?: number;
  /** A watcher is not woken twice within this, in ms. Default 20,000. */
  wakeWindow?: number;
  /**
   * While a notice stays pending, its watcher is woken again this long after the last wake, in ms.
   * Default 900,000, which is 15 minutes; never less than the window.
   */
  wakeReminder?: number;
  /** The longest request that {@link Headsup.call} answers, in bytes. Default 4 MiB. */
  requestLimit?: number;
  /**
   * Whether opening prunes what is due and announces every pending notice. Default true. If that
   * fails it is logged, and the store is open all the same.
   */
  recover?: boolean;
  /** Opens the store to look at it only: calls that write fail with `store-read-only`. Default false. */
  readOnly?: boolean;
  /**
   * Files of adopted sessions are read inside these folders, given as absolute paths, and nowhere
   * else. They need not be there yet. Default: where Claude Code and Codex keep this user's sessions.
   */
  sourceFolders?: readonly string[];
  /** How long one source may take to be read, in ms. Default 45,000. */
  sourceDeadline?: number;
  /**
   * Checks the files of adopted sessions that somebody watches without being asked to: 15 s after
   * opening, then every minute, over all processes of the store together. Default false.
   */
  monitorUpstreams?: boolean;
  /** Listeners that are there before opening announces what is pending; see {@link Headsup.on}. */
  on?: {
    notice?: (notice: Notice) => void;
    wake?: (wake: Wake) => void;
    log?: (line: LogLine) => void;
  };
}
