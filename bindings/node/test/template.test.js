// The core of bindings/plugin-template, in which one rule is another: the file that every host loads.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Headsup } from 'headsup';

import { folderOf } from './support/folder.js';

const TEMPLATE = fileURLToPath(new URL('../../../target/guest/plugin-template.wasm', import.meta.url));
const skip = fs.existsSync(TEMPLATE) ? false : 'headsup: left out: a core with rules of its own, because it is not built';
const [MAIN, OPS, WORKER] = ['agent:main:main', 'agent:ops:main', 'agent:main:worker'];
const goal = (actor) => ({ session: WORKER, kind: 'goal_changed', actor, change: 'updated' });

test('a goal that a main agent changes tells nobody, by either surface, and a human\'s does', { skip }, async (t) => {
  const pluginCache = join(folderOf(t), 'cache');
  const headsup = await Headsup.open({ path: ':memory:', plugin: TEMPLATE, pluginCache });
  headsup.watch(OPS, WORKER);
  headsup.record(goal({ type: 'agent', id: MAIN }));
  await headsup.call(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'record', params: goal({ type: 'agent', id: MAIN }) }));
  assert.deepEqual(headsup.take(OPS), []);
  headsup.record(goal({ type: 'human' }));
  assert.deepEqual(headsup.take(OPS).map(({ upTo }) => upTo), [3]);
  await headsup.swap();
  headsup.drain(OPS);
  headsup.record(goal({ type: 'agent', id: MAIN }));
  assert.equal(headsup.take(OPS).length, 1);
  headsup.close();
});
