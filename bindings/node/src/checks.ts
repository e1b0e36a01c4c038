/**
 * A round of checks of adopted sessions: plan, read while no transaction is open, feed. What is read
 * and what it means is the core's business.
 */
import type { Check, Failure, FileRead, Found, Plan, Selection, Session, Tally } from './contract.js';
import type { HeadsupError } from './errors.js';
import { type Runtime, errorOf } from './runtime.js';
import { Crew } from './sources/crew.js';
import type { FolderFiles } from './sources/files.js';

/** Most sources in trouble that are remembered; beyond, they are logged once more. */
const TROUBLES = 10_000;

/** What a round came to, or why nothing was planned. */
export type Checked = { tag: 'ok'; value: Tally } | { tag: 'failed'; value: Failure };

/** What reads sources, and what is known of them. */
export class Checks {
  readonly #runtime: Runtime;
  readonly #crew: Crew;
  /** Sessions whose source could not be read when it was last tried. */
  readonly #troubled = new Set<string>();

  /** Reads by these means, each source for so long at most, in ms. */
  constructor(runtime: Runtime, files: FolderFiles, deadline: number) {
    this.#runtime = runtime;
    this.#crew = new Crew(files, deadline);
  }

  /** Reads both ends of a file that is to be adopted. */
  readEnds(path: string): Promise<Found> {
    return this.#crew.readEnds(path);
  }

  /** Ends what runs, without waiting for sources that hang. */
  stop(): void {
    this.#crew.stop();
  }

  /**
   * Checks these links, and counts: every link that was planned as checked; those that were not there,
   * for the first or the last time, as missing; those that could not be read, or whose finding could
   * not be written, as failed.
   */
  async run(selection: Selection): Promise<Checked> {
    const planned = this.#plan(selection);
    if (planned.tag === 'failed') return planned;
    const round = new Round(this.#runtime, planned.plans.length);
    await this.#readAndFeed(round, planned.plans);
    const again: Plan[] = [];
    for (const session of round.again.splice(0)) {
      const one = this.#plan({ tag: 'one', val: session });
      if (one.tag === 'failed') round.lose(session, errorOf(one));
      else again.push(...one.plans);
    }
    await this.#readAndFeed(round, again);
    round.report();
    return { tag: 'ok', value: round.tally };
  }

  /** What to read; nothing if the store was closed. */
  #plan(
    selection: Selection,
  ): { tag: 'ok'; plans: Plan[] } | { tag: 'failed'; value: Failure } {
    if (this.#runtime.isClosed) return { tag: 'ok', plans: [] };
    const planned = this.#runtime.write((core) => core.upstreams.planChecks(selection, 'file'));
    if (planned.tag === 'ok') return { tag: 'ok', plans: planned.value };
    if (planned.tag === 'failed') return planned;
    const error = errorOf(planned);
    return { tag: 'failed', value: { tag: 'trap', val: `it does not plan checks: ${error.message}` } };
  }

  async #readAndFeed(round: Round, plans: Plan[]): Promise<void> {
    const files = plans.filter((plan): plan is Plan & { file: FileRead } => plan.file !== undefined);
    // Not for a reader of files: nothing that our core plans.
    round.tally.failed += plans.length - files.length;
    await this.#crew.readOn(
      files.map(({ file }) => file),
      (number, found) => {
        const plan = files[number];
        if (plan !== undefined && !this.#runtime.isClosed) this.#takeIn(round, plan, found);
      },
    );
  }

  #takeIn(round: Round, { session, revision }: Plan, found: Found): void {
    const trouble = found.tag === 'unavailable' || found.tag === 'refused' ? found.val : undefined;
    if (this.#note(session, trouble !== undefined)) {
      const { courier } = this.#runtime;
      if (trouble === undefined) courier.log('info', `the source of ${session.key} can be read again`);
      else courier.log('warn', `the source of ${session.key} cannot be read: ${trouble}`);
    }
    if (found.tag === 'unchanged') return;
    const fed = this.#runtime.write((core) => core.upstreams.feed(session, revision, found));
    if (fed.tag === 'ok') round.count(session, fed.value);
    else round.lose(session, errorOf(fed));
  }

  /** Remembers whether a source can be read. Returns whether that is news. */
  #note(session: Session, troubled: boolean): boolean {
    const name = `${session.key}\0${session.agent}`;
    if (!troubled) return this.#troubled.delete(name);
    if (this.#troubled.size >= TROUBLES) this.#troubled.clear();
    const isNews = !this.#troubled.has(name);
    this.#troubled.add(name);
    return isNews;
  }
}

/** A round that runs. */
class Round {
  readonly tally: Tally;
  /** Those whose source was replaced: their new files are read in this round. */
  readonly again: Session[] = [];
  readonly #runtime: Runtime;
  /** How many findings the core or the store did not take in, and the first of them in words. */
  #lost = 0;
  #first = '';

  constructor(runtime: Runtime, checked: number) {
    this.#runtime = runtime;
    this.tally = { checked, activity: 0, missing: 0, failed: 0 };
  }

  count(session: Session, { finding }: Check): void {
    switch (finding) {
      case 'activity':
        this.tally.activity += 1;
        break;
      case 'missed':
      case 'missing':
        this.tally.missing += 1;
        break;
      case 'unavailable':
        this.tally.failed += 1;
        break;
      case 'again':
        this.again.push(session);
        break;
      case 'quiet':
      case 'superseded':
        break;
    }
  }

  lose(session: Session, error: HeadsupError): void {
    this.tally.failed += 1;
    if (this.#lost === 0) this.#first = `${session.key} (${error.reason}): ${error.message}`;
    this.#lost += 1;
  }

  /** One line, however many findings were lost: most often all for the same reason. */
  report(): void {
    if (this.#lost === 0 || this.#runtime.isClosed) return;
    const line = `${this.#lost} checks of adopted sessions were lost, first that of ${this.#first}`;
    this.#runtime.courier.log('warn', line);
  }
}
