// Cores from files, swaps, and cores that trap.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Headsup } from 'headsup';

import { Core } from '../dist/core/core.js';
import { checkInterface } from '../dist/core/interface.js';
import { folderOf } from './support/folder.js';

const component = (name) => fileURLToPath(new URL(`../../../target/guest/${name}`, import.meta.url));
const PLUGIN = process.env.HEADSUP_COMPONENT ?? component('headsup.wasm');
const goal = { session: 'agent:main:w', kind: 'goal_changed', actor: { type: 'human' }, change: 'created' };
const pending = '{"jsonrpc":"2.0","id":1,"method":"pending"}';

test('a component from a file serves, and is turned into JavaScript once', async (t) => {
  const pluginCache = join(folderOf(t), 'cache');
  const headsup = await Headsup.open({ path: ':memory:', plugin: PLUGIN, pluginCache });
  assert.equal(headsup.record(goal).stateVersion, 1);
  const [made, ...others] = fs.readdirSync(pluginCache);
  assert.deepEqual(others, []);
  const script = join(pluginCache, made, 'component.js');
  const { mtimeMs } = fs.statSync(script);
  await headsup.swap(PLUGIN);
  assert.equal(headsup.record(goal).stateVersion, 2);
  await headsup.swap();
  assert.equal(headsup.record(goal).stateVersion, 3);
  assert.equal(fs.statSync(script).mtimeMs, mtimeMs);
  headsup.close();
});

test('what is generated reads the environment at no crossing', async (t) => {
  const pluginCache = folderOf(t);
  (await Headsup.open({ path: ':memory:', plugin: PLUGIN, pluginCache })).close();
  const own = new URL('../dist/component/component.js', import.meta.url);
  for (const script of [own, join(pluginCache, fs.readdirSync(pluginCache)[0], 'component.js')]) {
    const text = fs.readFileSync(script, 'utf8');
    // Defined for debugging, and the one place that looks there.
    assert.equal(text.match(/process\??\.env/g)?.length, 1, String(script));
    assert.equal(text.match(/_debugLog\b/g)?.length, 1, String(script));
  }
});

const TEMPLATE = [
  'guest/plugin-template.wasm',
  'tmp/plugins/wasm32-wasip2/release/plugin_template.wasm',
].map((path) => fileURLToPath(new URL(`../../../target/${path}`, import.meta.url))).find((path) => fs.existsSync(path));
const WITHOUT_TEMPLATE = TEMPLATE
  ? false
  : 'headsup: left out: the core of bindings/plugin-template, because it is not built';

test('a core that changes one rule changes it here, too', { skip: WITHOUT_TEMPLATE }, async (t) => {
  const pluginCache = folderOf(t);
  const headsup = await Headsup.open({ path: ':memory:', plugin: TEMPLATE, pluginCache });
  headsup.watch('agent:main:main', 'agent:main:w');
  const noticed = (actor) => {
    headsup.record({ ...goal, actor });
    return headsup.drain('agent:main:main').notices.length;
  };
  assert.equal(noticed({ type: 'agent', id: 'agent:other:main' }), 0);
  assert.equal(noticed({ type: 'human', id: 'ana' }), 1);
  assert.equal(headsup.changesSince('agent:main:w', 0).events.length, 2);
  headsup.close();
});

test('what is no core is refused with the reason, and changes nothing', async (t) => {
  const folder = folderOf(t);
  const garbage = join(folder, 'garbage.wasm');
  fs.writeFileSync(garbage, 'garbage');
  const headsup = await Headsup.open({ path: ':memory:', pluginCache: folder });
  await assert.rejects(headsup.swap(join(folder, 'nothing.wasm')), { reason: 'plugin-refused' });
  await assert.rejects(headsup.swap(garbage), { reason: 'plugin-refused' });
  assert.equal(headsup.record(goal).stateVersion, 1);
  headsup.close();
});

test('imports, exports and types that are not the contract\'s are named', () => {
  const names = ['log', 'queue', 'settings', 'sources', 'storage', 'types'];
  const exported = ['maintenance', 'notices', 'plugin', 'reconciliation', 'signals', 'upstreams', 'watches', 'wire'];
  const world = (word) => (name) => `  ${word} headsup:awareness/${name}@0.1.0;`;
  const wit = [...names.map(world('import')), ...exported.map(world('export'))].join('\n');
  const folder = new URL('../dist/component/interfaces/', import.meta.url);
  const read = (name) => fs.readFileSync(new URL(`headsup-awareness-${name}.d.ts`, folder), 'utf8');
  const contract = new Map([...names, ...exported].map((name) => [name, read(name)]));
  checkInterface(wit, contract, contract);

  const log = world('import')('log');
  const refusedWorld = (from, to, words) =>
    assert.throws(() => checkInterface(wit.replace(from, to), contract, contract), words);
  refusedWorld(log, `${log}\n  import wasi:filesystem/types@0.2.6;`, /imports wasi:filesystem/);
  refusedWorld(log, log.replace('0.1.0', '0.2.0'), /log@0\.2\.0/);
  refusedWorld(world('export')('wire'), '', /does not export headsup:awareness\/wire/);
  refusedWorld(log, `${log}\n  export wasi:cli/run@0.2.6;`, /exports wasi:cli\/run/);

  const changed = (name, from, to) => {
    assert.ok(contract.get(name).includes(from), from);
    return new Map([...contract, [name, contract.get(name).replace(from, to)]]);
  };
  const refusedType = (...change) =>
    assert.throws(() => checkInterface(wit, changed(...change), contract), /differs from the contract at/);
  refusedType('storage', 'version: Sequence,', 'version: string,');
  refusedType('storage', 'export function reset', 'export function extra(): void;\nexport function reset');
  refusedType('wire', 'export function methods', 'export function procedures');
  checkInterface(wit, changed('wire', 'export function methods', 'export function more(): void;\nexport function methods'), contract);
  const unused = new Map([...contract, ['queue', '']]);
  checkInterface(wit, unused, contract);
});

/** Has stores opened over a core that misbehaves when it is asked to. */
async function misbehaving(t, misbehave) {
  const core = await Core.builtIn();
  t.mock.method(Core, 'builtIn', async () => ({
    instantiate: (imports) => {
      const { exports, memory } = core.instantiate(imports);
      return { memory, exports: { ...exports, wire: { ...exports.wire, ...misbehave(exports.wire) } } };
    },
  }));
}

test('a core that traps is answered for, undone and replaced', async (t) => {
  let instances = 0;
  await misbehaving(t, (wire) => {
    instances += 1;
    return {
      call: (request) => {
        const response = wire.call(request);
        if (request.includes('trap')) throw new WebAssembly.RuntimeError('unreachable');
        return response;
      },
    };
  });
  const lines = [];
  const news = [];
  const on = { log: (line) => lines.push(line), notice: (notice) => news.push(notice) };
  const headsup = await Headsup.open({ path: ':memory:', manualClock: 0, on });
  headsup.watch('agent:main:main', 'agent:main:w');
  const before = instances;
  assert.deepEqual(headsup.record({ ...goal, dedupeKey: 'trap' }), { outcome: 'failed', reason: 'plugin-trap' });
  assert.match(lines.at(-1).message, /unreachable/);
  assert.deepEqual(news, []);
  assert.equal(headsup.record(goal).stateVersion, 1);
  assert.equal(instances, before + 1);
  assert.throws(() => headsup.unwatch('agent:main:main', 'agent:main:trap'), { reason: 'plugin-trap', code: -32000 });
  const answered = await headsup.call(pending.replace('pending', 'take","params":{"watcher":"agent:main:trap"},"x":"'));
  assert.equal(JSON.parse(answered).error.data.reason, 'unknown-field');
  headsup.close();
});

test('an answer that is no response counts as a trap, and nothing of it is kept', async (t) => {
  const answers = ['[]', '{}\n{}', 'x', undefined, '{"a":'];
  let answer;
  await misbehaving(t, (wire) => ({
    call: (request) => {
      const response = wire.call(request);
      return request.includes('nonsense') ? answer : response;
    },
  }));
  const headsup = await Headsup.open({ path: ':memory:', manualClock: 0 });
  for (answer of answers) {
    assert.equal(headsup.record({ ...goal, dedupeKey: 'nonsense' }).reason, 'plugin-trap', answer);
  }
  assert.deepEqual(headsup.versions([goal.session]), [null]);
  headsup.close();
});

test('a core that cannot even word a failure is helped out', async (t) => {
  await misbehaving(t, () => ({
    call: () => assert.fail('a defect'),
    failed: () => assert.fail('another defect'),
  }));
  const lines = [];
  const headsup = await Headsup.open({ path: ':memory:', on: { log: (line) => lines.push(line) } });
  const { error } = JSON.parse(await headsup.call(pending));
  assert.equal(error.data.reason, 'plugin-trap');
  assert.ok(lines.some(({ message }) => message.includes('no core words a failure')));
  headsup.close();
});
