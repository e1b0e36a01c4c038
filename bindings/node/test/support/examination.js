// The storage conformance component (wit/conformance.wit), played against this package's own desk,
// store and imports: the code that serves cores.
import { existsSync } from 'node:fs';
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { Clock } from '../../dist/clock.js';
import { Core } from '../../dist/core/core.js';
import { Instance } from '../../dist/core/instance.js';
import { transpile } from '../../dist/core/transpile.js';
import { Desk } from '../../dist/desk.js';

const COMPONENT = fileURLToPath(
  process.env.HEADSUP_EXAMINATION ??
    new URL('../../../../target/guest/headsup-conformance.wasm', import.meta.url),
);

/** Why nothing is examined, if the component was not built. */
export const WITHOUT_COMPONENT = existsSync(COMPONENT)
  ? false
  : 'headsup: left out: the examination of storage, because target/guest/headsup-conformance.wasm is not built';

/** Turns the component into JavaScript in a folder, changed by `edit`, and loads it. */
export async function loadExamination(folder, edit = (script) => script) {
  for (const [name, content] of await transpile(await fs.readFile(COMPONENT))) {
    if (name.startsWith('interfaces/')) continue;
    const isScript = name === 'component.js';
    await fs.writeFile(join(folder, name), isScript ? edit(Buffer.from(content).toString()) : content);
  }
  await fs.writeFile(join(folder, 'package.json'), '{"type":"module"}');
  return Core.load(pathToFileURL(`${folder}/`));
}

/**
 * Plays every case, each on an empty store in a file of its own. `plant` may change what the component
 * imports, and `deliver` what reaches the gateway; `subjects` are those that are examined, all
 * but `except` if none are given. Returns what was found, in words.
 */
export function examine(core, folder, { plant = same, deliver = same, subjects, except } = {}) {
  const cases = new Instance(withRival(core, plant, {}), new Clock()).call((exports) =>
    exports.examination.cases(),
  );
  if (cases.tag !== 'ok') throw new Error(`it cannot say what it examines: ${cases.value.val}`);
  const findings = { broken: [], unexamined: [], cases: cases.value.length };
  for (const [which, plan] of cases.value.entries()) {
    if (subjects && !subjects.includes(plan.subject)) continue;
    if (except?.includes(plan.subject)) continue;
    const path = join(folder, `case-${which}.db`);
    const found = new Game({ core, path, which, plan, plant, deliver }).play();
    for (const { tag, words } of found) findings[tag].push(`${plan.subject}: ${plan.rule}: ${words}`);
  }
  return findings;
}

const same = (given) => given;

/** A core that is given a rival beside its imports, and what was planted in them. */
function withRival(core, plant, rival) {
  return {
    instantiate: (imports) => core.instantiate(plant({ ...imports, 'headsup:awareness/rival': rival })),
  };
}

/** A case on a store of its own. */
class Game {
  #clock = new Clock();
  #found = [];
  #news = { openings: [], lines: [] };
  #given;
  #core;

  constructor(given) {
    this.#given = given;
    this.#core = withRival(given.core, given.plant, {
      run: (step) => this.#playRival(step),
      effort: () => undefined,
    });
  }

  play() {
    let desk = this.#desk();
    for (const [number, step] of this.#given.plan.steps.entries()) {
      if (step.begins === 'when-called') continue;
      if (step.begins === 'reopened') {
        desk.close();
        desk = this.#desk();
      }
      if (!this.#playStep(desk, number, step)) break;
    }
    desk.close();
    return this.#found;
  }

  #desk() {
    const store = { path: this.#given.path, durability: 'normal', busyTimeout: 100, readOnly: false };
    return new Desk(this.#core, this.#clock, store);
  }

  /** In the middle of another step, on a connection and an instance of its own. */
  #playRival(number) {
    const desk = this.#desk();
    const ended = this.#playStep(desk, number, this.#given.plan.steps[number]);
    desk.close();
    if (!ended) throw Object.assign(new Error('it did not end'), { payload: 'it did not end' });
  }

  #playStep(desk, number, step) {
    const news = this.#news;
    this.#news = { openings: [], lines: [] };
    let findings;
    const body = (core) => (findings = core.examination.step(this.#given.which, number, news));
    const done = this.#given.deliver(this.#run(desk, step.transaction, body));
    this.#news.openings.push(...done.effects.openings);
    this.#news.lines.push(...done.effects.lines);
    // A call under which a verb failed is lost, whatever it answered; what it found still counts.
    const isLost = done.answer.tag === 'failed' && findings !== undefined;
    return this.#judge(step, isLost ? { tag: 'ok', value: findings } : done.answer);
  }

  #run(desk, transaction, body) {
    if (transaction !== 'none') return desk.run(transaction === 'writes' ? 'write' : 'read', body);
    const instance = new Instance(this.#core, this.#clock);
    const answer = instance.call(body);
    return { answer, effects: instance.takeEffects().rolledBack() };
  }

  #judge(step, answer) {
    const trapped = answer.tag === 'failed' && answer.value.tag === 'trap';
    if (trapped !== step.traps) {
      this.#broken(trapped ? `it trapped: ${answer.value.val}` : 'it returned, and has to trap');
      return false;
    }
    if (trapped) return true;
    if (answer.tag === 'failed') {
      this.#broken(`the host failed: ${JSON.stringify(answer.value)}`);
      return true;
    }
    for (const { tag, val } of answer.value) {
      const words = tag === 'broken' ? `${val.asked}: must be ${val.must}, was ${val.was}` : val;
      this.#found.push({ tag, words });
    }
    return true;
  }

  #broken(words) {
    this.#found.push({ tag: 'broken', words });
  }
}
