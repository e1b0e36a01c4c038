/** Everything behind an open store: the core, the desk, the news, and what is due without a call. */
import type { EventEmitter } from 'node:events';

import { Checks } from './checks.js';
import { Clock } from './clock.js';
import type { Access, Exports, Failure, Urgency } from './contract.js';
import type { Metadata } from './api.js';
import type { Core, Methods } from './core/core.js';
import { type Answer, Instance } from './core/instance.js';
import { Courier } from './courier.js';
import { Desk, type Done } from './desk.js';
import { Effects } from './effects.js';
import { HeadsupError } from './errors.js';
import { fromCore, fromFailure } from './failures.js';
import { Monitor } from './monitor.js';
import type { Settings } from './settings.js';
import { FolderFiles } from './sources/files.js';
import { ROUND, Upkeep } from './upkeep.js';
import { type Finding, type Question, openingId } from './wakes.js';

/** Most batches of one pruning, of 5,000 events each; the rest waits for the next round. */
const PRUNE_BATCHES = 10_000;

/** Everything behind an open store. */
export class Runtime {
  readonly clock: Clock;
  readonly courier: Courier;
  readonly checks: Checks;
  readonly settings: Settings;
  readonly #desk: Desk;
  readonly #upkeep = new Upkeep();
  readonly #monitor: Monitor | undefined;
  #core: Core;
  #idle: Instance | undefined;
  #about: { metadata: Metadata; methods: Methods };
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** Opens the store. Throws what is wrong with it, or with the core. */
  constructor(core: Core, settings: Settings, emitter: EventEmitter) {
    this.settings = settings;
    this.clock = new Clock(settings.manualClock);
    this.#core = core;
    this.#about = this.#introduced(core);
    this.#desk = new Desk(core, this.clock, settings.store);
    this.courier = new Courier(emitter, this.clock, settings.wakes, () => this.#schedule());
    this.checks = new Checks(this, new FolderFiles(settings.sourceFolders), settings.sourceDeadline);
    const monitors = settings.monitorUpstreams && !settings.store.readOnly;
    this.#monitor = monitors ? new Monitor(this) : undefined;
  }

  /** What an open store does before its first call. */
  start(): void {
    if (this.settings.store.readOnly) return;
    if (this.settings.recover) {
      this.#pruneAll('at-start');
      const recovered = this.write((core) => core.maintenance.recover(false));
      if (recovered.tag !== 'ok') {
        this.courier.log('error', `pending notices were not recovered: ${errorOf(recovered).message}`);
      }
    }
    this.#schedule();
    this.#monitor?.start();
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Who the core says it is. */
  get metadata(): Metadata {
    return this.#about.metadata;
  }

  /** What a method does to the store; nothing for methods that do not exist. */
  access(method: string): Access | undefined {
    return this.#about.methods.get(method);
  }

  /** Serves the calls to come with another core. Throws if that cannot even start. */
  switch(core: Core): void {
    this.#about = this.#introduced(core);
    this.#core = core;
    this.#idle = undefined;
    this.#desk.switch(core);
  }

  /** Ends everything. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#monitor?.stop();
    this.checks.stop();
    this.#desk.close();
  }

  /** Runs a call on a snapshot, and delivers what it left behind. */
  read<T>(body: (core: Exports) => T): Answer<T> {
    return this.#concluded(this.#desk.run('read', body));
  }

  /** Runs a call in a transaction that can write, and delivers what it left behind. */
  write<T>(body: (core: Exports) => T): Answer<T> {
    return this.#concluded(this.#desk.run('write', body));
  }

  /** Asks the core outside of any transaction: lines are heard, openings go nowhere. */
  ask<T>(body: (core: Exports) => T, core: Core = this.#core): Answer<T> {
    return this.#concluded(this.#asked(core, body));
  }

  /** Whether any session is adopted. */
  hasLinks(): Answer<boolean> {
    return this.#desk.look((store) => store.hasLinks());
  }

  /** Fires what is due by a manual clock: each timer once, before whoever moved it hears of it. */
  async clockMoved(): Promise<void> {
    this.#fireDue();
    await this.#monitor?.fire();
  }

  /** Prunes if it is due. */
  tidy(): void {
    const now = this.clock.now();
    if (this.#closed || this.settings.store.readOnly || !this.#upkeep.ask(now)) return;
    const next = this.read((core) => core.maintenance.nextPrune());
    if (next.tag !== 'ok') return this.#logUnpruned(next);
    if (Number(next.value) > now) this.#upkeep.quiet(now, Number(next.value));
    else if (this.#pruneAll('if-due')) this.#upkeep.quiet(0, 0);
  }

  /** Prunes batch by batch, so that other writers come in between. Returns whether all is done. */
  #pruneAll(urgency: Urgency): boolean {
    for (let batch = 0; batch < PRUNE_BATCHES; batch += 1) {
      const pruned = this.write((core) => core.maintenance.prune(urgency));
      if (pruned.tag !== 'ok') {
        this.#logUnpruned(pruned);
        return false;
      }
      if (!pruned.value?.more) return true;
    }
    return false;
  }

  #logUnpruned(answer: Answer<unknown>): void {
    const error = errorOf(answer);
    this.courier.log('warn', `nothing was pruned (${error.reason}): ${error.message}`);
  }

  #introduced(core: Core): { metadata: Metadata; methods: Methods } {
    let about: Answer<{ metadata: Metadata; methods: Methods }>;
    try {
      about = this.#asked(core, ({ plugin, wire }) => ({
        metadata: plugin.describe(),
        methods: new Map(wire.methods().map(({ name, access }) => [name, access])),
      })).answer;
    } catch (error) {
      throw new HeadsupError('plugin-refused', `the core cannot be started: ${String(error)}`);
    }
    if (about.tag === 'ok') return about.value;
    throw new HeadsupError('plugin-refused', `the core does not introduce itself: ${errorOf(about).message}`);
  }

  #asked<T>(core: Core, body: (core: Exports) => T): Done<T> {
    const isCurrent = core === this.#core;
    const instance = (isCurrent ? this.#idle : undefined) ?? new Instance(core, this.clock);
    const answer = instance.call(body);
    const effects = instance.takeEffects().rolledBack();
    if (isCurrent) this.#idle = instance.isSpent ? undefined : instance;
    return { answer, effects };
  }

  #concluded<T>({ answer, effects }: { answer: Answer<T>; effects: Effects }): Answer<T> {
    this.courier.deliver(effects);
    return answer;
  }

  /** Fires every timer that is due, each once. */
  #fireDue(): void {
    const { wakes } = this.courier;
    // A listener may have closed the store.
    while (!this.#closed) {
      const question = wakes.due(this.clock.elapsed());
      if (question === undefined) return;
      const finding = this.#look(question);
      if (wakes.answer(question.watcher, finding, this.clock.elapsed())) {
        this.courier.wake(question.watcher);
      }
    }
  }

  /** Looks whether a notice is pending that justifies a wake. */
  #look({ watcher, anyOf }: Question): Finding {
    const pending = this.read((core) => core.notices.pendingOf(watcher));
    if (pending.tag !== 'ok') return 'unknown';
    const counts = pending.value.some(({ notice: { target, since }, wakes }) => {
      return wakes && (anyOf?.has(openingId(target.key, target.agent, since)) ?? true);
    });
    return counts ? 'pending' : 'settled';
  }

  /** Sets the one timer by the machine's clock. It keeps no process from ending. */
  #schedule(): void {
    if (this.#closed || this.clock.isManual) return;
    clearTimeout(this.#timer);
    const next = this.courier.wakes.next();
    const wake = next === undefined ? ROUND : Math.max(next - this.clock.elapsed(), 0);
    const delay = Math.min(wake, this.#upkeep.rest(this.clock.now()));
    this.#timer = setTimeout(() => {
      this.#fireDue();
      this.tidy();
      this.#schedule();
    }, delay).unref();
  }
}

/** The error that an answer which is not ok stands for. */
export function errorOf(answer: Answer<unknown>): HeadsupError {
  if (answer.tag === 'failed') return fromFailure(answer.value);
  return fromCore(answer.value as Parameters<typeof fromCore>[0]);
}

/** What a typed export answered; throws the error that it stands for. */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.tag === 'ok') return answer.value;
  throw errorOf(answer);
}

/** A failure that only this host knows of. */
export function unavailable(why: string): Failure {
  return { tag: 'unavailable', val: why };
}
