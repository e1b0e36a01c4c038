// A real core that misbehaves when a request names `hostile:<word>`: tests/hostile.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Headsup } from 'headsup';

import { folderOf } from './support/folder.js';

const HOSTILE = fileURLToPath(
  new URL('../../../target/tmp/hostile/wasm32-wasip2/guest/hostile.wasm', import.meta.url),
);
const options = {
  skip: existsSync(HOSTILE)
    ? false
    : 'headsup: left out: cores that misbehave, because tests/hostile is not built; scripts/test-node builds it',
};
const WATCHER = 'agent:main:main';
const created = (session) => ({ session, kind: 'created', actor: { type: 'human' } });

/** A store in a file, served by the misbehaving core. */
async function opened(t) {
  const folder = folderOf(t);
  const lines = [];
  const news = [];
  const headsup = await Headsup.open({
    path: join(folder, 'hostile.db'),
    plugin: HOSTILE,
    pluginCache: join(folder, 'cache'),
    on: { log: ({ message }) => lines.push(message), notice: (notice) => news.push(notice) },
  });
  t.after(() => headsup.close());
  return { headsup, lines, news };
}

for (const word of ['panic', 'recurse', 'stack']) {
  test(`a trap undoes the call, and the next one is served: ${word}`, options, async (t) => {
    const { headsup, lines } = await opened(t);
    const session = `agent:main:hostile:${word}`;
    headsup.record(created('agent:main:worker'));
    assert.deepEqual(headsup.record(created(session)), { outcome: 'failed', reason: 'plugin-trap' });
    assert.throws(() => headsup.watch(WATCHER, session), { reason: 'plugin-trap', code: -32000 });
    assert.deepEqual(headsup.record(created('agent:main:worker')), { outcome: 'recorded', stateVersion: 2 });
    assert.deepEqual(headsup.watches({ watcher: WATCHER }), []);
    if (word === 'panic') {
      assert.ok(lines.some((line) => line.includes('asked to panic, and did')), lines.join('\n'));
      assert.ok(lines.some((line) => line.includes('`') && line.includes('explode')), 'the function is named');
    }
  });
}

test('what a failing call opened is not announced', options, async (t) => {
  const { headsup, news } = await opened(t);
  const session = 'agent:main:hostile:panic';
  await headsup.swap();
  headsup.watch(WATCHER, session);
  await headsup.swap(HOSTILE);
  headsup.record({ session, kind: 'goal_changed', actor: { type: 'human' }, change: 'updated' });
  assert.deepEqual(news, []);
  await headsup.swap();
  assert.deepEqual(headsup.take(WATCHER), []);
});

test('a core that talks too much is heard within bounds', options, async (t) => {
  const { headsup, lines } = await opened(t);
  headsup.record(created('agent:main:hostile:log-flood'));
  assert.ok(lines.length > 100 && lines.length < 110, `${lines.length} lines`);
  assert.ok(lines.every((line) => Buffer.byteLength(line) <= 4_096 && !line.includes('\n')));
  assert.ok(lines.some((line) => line.includes('more lines of the core were dropped')));
});

for (const word of ['lie-cursor', 'lie-number']) {
  test(`rows that break the protocol are refused by the store: ${word}`, options, async (t) => {
    const { headsup } = await opened(t);
    assert.equal(headsup.record(created(`agent:main:hostile:${word}`)).outcome, 'failed');
    await headsup.swap();
    assert.deepEqual(headsup.versions([`agent:main:hostile:${word}`]), [null]);
    assert.equal(headsup.record(created('agent:main:worker')).stateVersion, 1);
  });
}
