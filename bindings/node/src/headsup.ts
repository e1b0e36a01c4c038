/** The API that a gateway uses: one method for each method of docs/api.md. */
import { EventEmitter } from 'node:events';

import type {
  Adoption,
  Feed,
  Findings,
  LogLine,
  Metadata,
  Notice,
  Outcome,
  PendingNotice,
  Plan,
  Policy,
  Receipt,
  Removal,
  Session,
  Signal,
  Status,
  Tally,
  Tool,
  ToolResult,
  Wake,
  Watch,
  WatchAnswer,
  Changes,
} from './api.js';
import { Core } from './core/core.js';
import { loadPlugin } from './core/plugin.js';
import { CLOSED, HeadsupError } from './errors.js';
import { type ErrorMember, fromResponse, fromStorage } from './failures.js';
import type { OpenOptions } from './options.js';
import { policyOf } from './policy.js';
import { Runtime, valueOf } from './runtime.js';
import { settingsOf } from './settings.js';
import { StoreFailed } from './storage/failure.js';
import { type Response, answer, answerHost, answerNow, failed, lastWords } from './wire.js';

/** What is announced, by event. */
export interface HeadsupEvents {
  /** A notice opened, or recovery found it pending. */
  notice: [notice: Notice];
  /** A watcher should run: it has a notice pending. At most once in 20 s for each watcher. */
  wake: [wake: Wake];
  /** Something for the operator: what recording could not do, or what the core has to say. */
  log: [line: LogLine];
}

/**
 * Session state awareness over one store: signals go in, notices and exact deltas come out.
 *
 * Every method is one transaction: it is committed when the method returns, and has changed nothing
 * when it throws. Except where it says so, a method throws {@link HeadsupError} for bad input and for
 * a store or core that failed, and returns on the same tick: the thread waits for the disk meanwhile.
 *
 * News is emitted after the commit and before the method returns; later wakes come by themselves. A
 * listener may call the same object. What a listener throws does not reach the call; it comes up as
 * an uncaught exception.
 */
export class Headsup extends EventEmitter<HeadsupEvents> {
  readonly #runtime: Runtime;
  readonly #pluginCache: string | undefined;

  private constructor(core: Core, options: OpenOptions) {
    super();
    const { on = {} } = options;
    if (on.notice) this.on('notice', on.notice);
    if (on.wake) this.on('wake', on.wake);
    if (on.log) this.on('log', on.log);
    this.#pluginCache = options.pluginCache;
    try {
      this.#runtime = new Runtime(core, settingsOf(options), this);
    } catch (error) {
      throw error instanceof StoreFailed ? fromStorage(error.payload) : error;
    }
    this.#runtime.start();
  }

  /**
   * Opens a store: makes it if it is not there, prunes what is due, and announces what is pending.
   * Several processes may open the same file, and hosts in other languages too. Rejects with a
   * {@link HeadsupError} that says what is wrong with the store or the plugin, and what to do.
   */
  static async open(options: OpenOptions): Promise<Headsup> {
    settingsOf(options);
    return new Headsup(await coreOf(options.plugin, options.pluginCache), options);
  }

  /** Who the core says it is. */
  get metadata(): Metadata {
    return this.#open().metadata;
  }

  /** The time as the core sees it, in ms since the Unix epoch. */
  get now(): number {
    return this.#open().clock.now();
  }

  /**
   * Answers one JSON-RPC 2.0 request, which is one JSON object and not a batch; with nothing if it has
   * no id. Whatever the request is, this resolves: bad input, a failing store and a failing core are
   * responses too.
   */
  async call(request: string): Promise<string | undefined> {
    return answer(this.#open(), request);
  }

  /**
   * Records a signal. Best effort: whatever is wrong with the store or the core is an outcome, which
   * was logged, so that recording never fails the turn that caused it. Throws for bad input alone.
   */
  record(signal: Signal): Outcome {
    return this.#ask('record', signal);
  }

  /**
   * Records at most 1,000 signals in one transaction, in order, all or none; the outcomes in the same
   * order. Best effort, as {@link record}.
   */
  recordMany(signals: readonly Signal[]): Outcome[] {
    return this.#ask<{ outcomes: Outcome[] }>('recordMany', { signals }).outcomes;
  }

  /**
   * Starts watching a session at its current version: earlier history never notifies. An ambient watch
   * never wakes. Answers `watched: false`, with the reason, for watchers that cannot hold a cursor.
   */
  watch(watcher: string, target: Session, options: { ambient?: boolean } = {}): WatchAnswer {
    return this.#ask('watch', { watcher, target, ...options });
  }

  /** Ends a watch for good, until it is watched again. Returns whether a live watch ended. */
  unwatch(watcher: string, target: Session): boolean {
    return this.#ask<{ removed: boolean }>('unwatch', { watcher, target }).removed;
  }

  /** The live watches of a watcher, by target key, or on a target, by watcher. */
  watches(of: { watcher: string } | { target: Session }): Watch[] {
    return this.#ask<{ watches: Watch[] }>('watches', of).watches;
  }

  /**
   * The pending notices of a watcher, by `upTo`. Shows them and changes nothing: acknowledge them once
   * a turn really carries them.
   */
  take(watcher: string): PendingNotice[] {
    return this.#ask<{ notices: PendingNotice[] }>('take', { watcher }).notices;
  }

  /**
   * Acknowledges taken notices, at most 1,000. Late and repeated ones are not counted. What changed
   * since a notice was taken opens a new one.
   */
  acknowledge(
    watcher: string,
    notices: readonly Receipt[],
  ): { acknowledged: number; reopened: PendingNotice[] } {
    return this.#ask('acknowledge', { watcher, notices });
  }

  /** Takes and acknowledges in one transaction. What reopened stays pending. */
  drain(watcher: string): { notices: PendingNotice[]; reopened: PendingNotice[] } {
    return this.#ask('drain', { watcher });
  }

  /** Who has how many notices pending, by watcher. */
  pending(): { watcher: string; notices: number }[] {
    return this.#ask<{ watchers: { watcher: string; notices: number }[] }>('pending').watchers;
  }

  /**
   * The state version of a session and, where a version is given, what changed after it: at most
   * `limit` events, 1 to 200, which is also the default.
   */
  status(session: Session, options: { changesSince?: number; limit?: number } = {}): Status {
    return this.#ask('status', { session, ...options });
  }

  /** What changed in a session after a version, from 0 to 2^53 - 1, from one snapshot. */
  changesSince(
    session: Session,
    version: number,
    options: { limit?: number } = {},
  ): Changes & { stateVersion: number } {
    // A version that is missing is an error to the core, and not a question for no delta.
    const params = { session, changesSince: version ?? null, ...options };
    const { stateVersion, stateChanges } = this.#ask<Required<Status>>('status', params);
    return { stateVersion, ...stateChanges };
  }

  /** The state versions of at most 1,000 sessions, in the order asked; null where there is none. */
  versions(sessions: readonly Session[]): (number | null)[] {
    return this.#ask<{ versions: (number | null)[] }>('versions', { sessions }).versions;
  }

  /** The session starts over: what it watched is forgotten. */
  reset(session: Session): Removal {
    return this.#ask('reset', { session });
  }

  /** The session goes, and everything on it. */
  delete(session: Session): Removal {
    return this.#ask('delete', { session });
  }

  /** Prunes whatever is due, then announces every pending notice. Takes as long as there is to do. */
  recover(): { pending: number; pruned: number } {
    return this.#ask('recover');
  }

  /**
   * Adopts a session from another tool's catalog, from the source's present end on. A file is read
   * before this resolves, inside the folders that are allowed.
   */
  adopt(adoption: Adoption): Promise<{ adopted: boolean; stateVersion: number }> {
    return this.#askHost('adopt', adoption);
  }

  /** The gateway itself sends this text to the session. Say it before it goes out; only a hash is kept. */
  sent(session: Session, text: string): void {
    this.#ask('sent', { session, text });
  }

  /** A turn of the session runs, or no longer does: while one runs its source is not checked. */
  busy(session: Session, running: boolean): void {
    this.#ask('busy', { session, running });
  }

  /** Checks every watched link whose source is a file, now. */
  checkUpstreams(): Promise<Tally> {
    return this.#askHost('checkUpstreams');
  }

  /** What the gateway itself has to read now: threads on nodes. Claims them for 59 s. */
  planUpstreams(): Plan[] {
    return this.#ask<{ plans: Plan[] }>('planUpstreams').plans;
  }

  /** What the gateway found for a plan. */
  feedUpstream(plan: Plan, findings: Findings): Feed {
    return this.#ask('feedUpstream', { plan, ...findings });
  }

  /** The tools to give to agents. */
  tools(): Tool[] {
    return this.#ask<{ tools: Tool[] }>('tools').tools;
  }

  /** Runs a tool for an agent; `caller` is the session whose agent calls. */
  callTool(name: string, args: Record<string, unknown>, caller: Session): ToolResult {
    return this.#ask('callTool', { name, arguments: args, caller });
  }

  /**
   * Moves a manual clock, in ms since the Unix epoch; each timer that is due fires once before this
   * resolves. Rejects with `unavailable` where the clock is the machine's. The method `clock`.
   */
  setClock(now: number): Promise<{ now: number }> {
    return this.#askHost('clock', { now });
  }

  /** The retention and the notice template in force; they live in the store. */
  policy(): Policy {
    return valueOf(this.#open().read((core) => core.maintenance.currentPolicy()));
  }

  /** Changes the policy for every process that shares the store. */
  setPolicy(policy: Policy): void {
    const whole = policyOf(policy);
    valueOf(this.#open().write((core) => core.maintenance.setPolicy(whole)));
  }

  /**
   * Marks the store as restored from a backup: every version from before answers with a gap. Returns
   * the new position of the series of sequences.
   */
  restored(): number {
    return Number(valueOf(this.#open().write((core) => core.maintenance.restored())));
  }

  /**
   * Where the clock is manual: prunes if an hour has passed since the last prune by any process. Cheap
   * when called too often; call it after a response was sent. With the machine's clock it happens by
   * itself.
   */
  tidy(): void {
    const runtime = this.#open();
    if (runtime.clock.isManual) runtime.tidy();
  }

  /**
   * Serves all calls to come with another core: a component from a file, or the built-in one without
   * a path. It is checked against the contract's types; whether it follows the protocol is for
   * `headsup plugin check` to say. Rejects with `plugin-refused`, and nothing has changed then.
   */
  async swap(plugin?: string): Promise<void> {
    const core = await coreOf(plugin, this.#pluginCache);
    this.#open().switch(core);
  }

  /** Closes the store. Every later call throws. Closing twice is fine. */
  close(): void {
    if (!this.#runtime.isClosed) this.#runtime.close();
  }

  /** The same, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** The same, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** @internal For what answers lines. */
  get runtime(): Runtime {
    return this.#open();
  }

  #open(): Runtime {
    if (!this.#runtime.isClosed) return this.#runtime;
    throw new HeadsupError('closed', CLOSED);
  }

  #ask<T>(method: string, params?: object): T {
    const runtime = this.#open();
    const request = requestOf(method, params);
    const answered = answerNow(runtime, method, request);
    if (!('failure' in answered)) return resultOf(answered);
    const { failure } = answered;
    return resultOf(failed(runtime, request, failure) ?? lastWords(runtime, failure));
  }

  async #askHost<T>(method: string, params?: object): Promise<T> {
    const response = await answerHost(this.#open(), requestOf(method, params));
    try {
      return resultOf(response);
    } catch (error) {
      // Closed meanwhile: that is why.
      this.#open();
      throw error;
    }
  }
}

function coreOf(plugin: string | undefined, cache: string | undefined): Promise<Core> {
  return plugin === undefined ? Core.builtIn() : loadPlugin(plugin, cache);
}

function requestOf(method: string, params: object | undefined): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}

function resultOf<T>({ value }: Response): T {
  const { result, error } = value as { result?: T; error?: ErrorMember };
  if (error !== undefined) throw fromResponse(error);
  return result as T;
}
