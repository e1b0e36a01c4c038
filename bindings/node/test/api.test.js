// The typed API: each method, the events, and what goes wrong.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Headsup, HeadsupError } from 'headsup';

const PARENT = 'agent:main:main';
const CHILD = 'agent:main:subagent:child';
const ana = { type: 'human', id: 'ana' };
const message = { session: CHILD, kind: 'human_direct_message', actor: ana, channel: 'telegram' };

const open = (options) => Headsup.open({ path: ':memory:', manualClock: 0, ...options });

test('a parent hears of a human in its child, catches up, and acknowledges', async () => {
  const headsup = await open();
  const news = [];
  for (const event of ['notice', 'wake']) headsup.on(event, (value) => news.push([event, value]));
  const spawned = { session: CHILD, kind: 'child_spawned', actor: { type: 'agent', id: PARENT }, runId: 'r1' };
  assert.deepEqual(headsup.record(spawned), { outcome: 'recorded', stateVersion: 1 });
  assert.deepEqual(headsup.record(message), { outcome: 'recorded', stateVersion: 2 });
  assert.deepEqual(news.map(([event]) => event), ['notice', 'wake']);
  const [notice] = headsup.take(PARENT);
  assert.deepEqual(news[0][1], { watcher: PARENT, ...notice });
  assert.deepEqual(headsup.pending(), [{ watcher: PARENT, notices: 1 }]);
  const delta = headsup.changesSince(notice.target, notice.since);
  assert.equal(delta.stateVersion, 2);
  assert.deepEqual(delta.events[0].payload, { channel: 'telegram' });
  assert.deepEqual(headsup.acknowledge(PARENT, [notice]), { acknowledged: 1, reopened: [] });
  assert.deepEqual(headsup.drain(PARENT), { notices: [], reopened: [] });
  headsup.close();
});

test('every method of docs/api.md is there', async () => {
  const headsup = await open();
  assert.equal(headsup.metadata.name, 'headsup');
  assert.deepEqual(headsup.watch(PARENT, CHILD, { ambient: true }), { watched: true });
  assert.deepEqual(headsup.watch('global', PARENT), { watched: false, reason: 'not-agent-qualified' });
  assert.equal(headsup.watches({ watcher: PARENT })[0].provenance, 'ambient');
  assert.equal(headsup.watches({ target: CHILD })[0].watcher, PARENT);
  assert.deepEqual(headsup.recordMany([message, message]).map(({ stateVersion }) => stateVersion), [1, 2]);
  assert.deepEqual(headsup.status(CHILD), { stateVersion: 2 });
  assert.deepEqual(headsup.versions([CHILD, { key: 'global', agent: 'main' }]), [2, null]);
  assert.equal(headsup.changesSince(CHILD, 0, { limit: 1 }).truncated, true);
  assert.equal(headsup.unwatch(PARENT, CHILD), true);
  assert.deepEqual(headsup.reset(PARENT), { cursors: 0, events: 0 });
  assert.deepEqual(headsup.delete(CHILD), { cursors: 0, events: 2 });
  assert.deepEqual(headsup.recover(), { pending: 0, pruned: 0 });
  const source = { kind: 'claude-node', node: 'mac-1', thread: 't-1' };
  assert.deepEqual(await headsup.adopt({ session: CHILD, source, catalog: 'claude' }), { adopted: true, stateVersion: 3 });
  headsup.sent(CHILD, 'Please run the tests.');
  headsup.busy(CHILD, true);
  headsup.busy(CHILD, false);
  headsup.watch(PARENT, CHILD);
  const [plan] = headsup.planUpstreams();
  assert.equal(headsup.feedUpstream(plan, { items: [] }).finding, 'quiet');
  assert.deepEqual(await headsup.checkUpstreams(), { checked: 0, activity: 0, missing: 0, failed: 0 });
  assert.ok(headsup.tools().some(({ name }) => name === 'session_status'));
  assert.equal(headsup.callTool('sessions_list', {}, PARENT).isError, false);
  assert.equal(headsup.callTool('session_status', { sessionKey: 'global' }, PARENT).isError, true);
  assert.deepEqual(await headsup.setClock(5), { now: 5 });
  assert.equal(headsup.now, 5);
  headsup.setPolicy({ ...headsup.policy(), historyDays: 7 });
  assert.equal(headsup.policy().historyDays, 7);
  assert.ok(headsup.restored() > 2 ** 32);
  headsup.tidy();
  headsup.close();
});

test('methods of the API and of the surface are the same', async () => {
  const headsup = await open();
  const api = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8');
  const methods = [...api.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  assert.ok(methods.length > 20);
  for (const method of methods) {
    const name = method === 'clock' ? 'setClock' : method;
    assert.equal(typeof headsup[name], 'function', name);
  }
  headsup.close();
});

test('bad input throws an error with reason, field and code, and changes nothing', async () => {
  const headsup = await open();
  const refused = (call, reason, field) =>
    assert.throws(call, (error) => {
      assert.ok(error instanceof HeadsupError, String(error));
      assert.deepEqual([error.reason, error.field, error.code], [reason, field, -32602]);
      assert.ok(error.message.includes(field), error.message);
      return true;
    });
  refused(() => headsup.record({ ...message, session: 'global' }), 'agent-required', 'session.agent');
  refused(() => headsup.record({ ...message, turns: Number.NaN }), 'wrong-type', 'turns');
  refused(() => headsup.record({ ...message, text: 'content' }), 'unknown-field', 'text');
  refused(() => headsup.recordMany([message, { ...message, kind: 'x' }]), 'unknown-kind', 'signals[1].kind');
  refused(() => headsup.changesSince(CHILD, -1), 'invalid-version', 'changesSince');
  refused(() => headsup.changesSince(CHILD, undefined), 'invalid-version', 'changesSince');
  refused(() => headsup.changesSince(CHILD, 0.5), 'invalid-version', 'changesSince');
  refused(() => headsup.take(undefined), 'missing-field', 'watcher');
  refused(() => headsup.setPolicy({ ...headsup.policy(), noticeTemplate: 'x' }), 'invalid-template', 'noticeTemplate');
  const policy = headsup.policy();
  refused(() => headsup.setPolicy(undefined), 'wrong-type', 'policy');
  refused(() => headsup.setPolicy({ ...policy, days: 1 }), 'unknown-field', 'days');
  refused(() => headsup.setPolicy({ historyDays: 7 }), 'missing-field', 'noticeTemplate');
  for (const [value, reason] of [['7', 'wrong-type'], [null, 'wrong-type'], [0, 'out-of-range'], [1.5, 'out-of-range'], [-1, 'out-of-range'], [2 ** 32, 'out-of-range']]) {
    refused(() => headsup.setPolicy({ ...policy, historyDays: value }), reason, 'historyDays');
  }
  assert.deepEqual(headsup.policy(), policy);
  const missing = { session: CHILD, source: { kind: 'claude-jsonl', path: 'relative' }, catalog: 'claude' };
  await assert.rejects(headsup.adopt(missing), { reason: 'invalid-path', field: 'source.path' });
  assert.deepEqual(headsup.versions([CHILD]), [null]);
  headsup.close();
});

test('a key keeps a byte order mark that it begins with', async () => {
  const headsup = await open();
  const marked = { key: '\ufeffbare', agent: 'main' };
  headsup.record({ session: marked, kind: 'created', actor: { type: 'system' } });
  assert.deepEqual(headsup.versions([marked, { key: 'bare', agent: 'main' }]), [1, null]);
  headsup.close();
});

test('raw requests are answered whatever they are', async () => {
  const headsup = await open({ requestLimit: 1_000 });
  const call = async (request) => JSON.parse((await headsup.call(request)) ?? 'null');
  assert.equal((await call('{')).error.data.reason, 'malformed-json');
  assert.equal((await call('[]')).error.data.reason, 'invalid-request');
  assert.equal((await call(`"${'x'.repeat(1_000)}"`)).error.data.reason, 'too-long');
  assert.equal(await call('{"jsonrpc":"2.0","method":"pending"}'), null);
  assert.deepEqual(await call('{"jsonrpc":"2.0","id":9,"method":"pending"}'), {
    jsonrpc: '2.0',
    id: 9,
    result: { watchers: [] },
  });
  headsup.close();
});

test('a wake comes by itself at the end of the window, by the machine\'s clock', async () => {
  const headsup = await Headsup.open({ path: ':memory:', wakeWindow: 30, wakeReminder: 60_000 });
  headsup.watch(PARENT, 'agent:main:a');
  headsup.watch(PARENT, 'agent:main:b');
  const wakes = [];
  const second = new Promise((resolve) => {
    headsup.on('wake', (wake) => {
      wakes.push(wake);
      if (wakes.length === 2) resolve();
    });
  });
  // Timers of a store keep no process alive, and nothing else does here.
  const alive = setTimeout(() => {}, 60_000);
  for (const session of ['agent:main:a', 'agent:main:b']) headsup.record({ ...message, session });
  await second;
  clearTimeout(alive);
  assert.deepEqual(wakes, [{ watcher: PARENT }, { watcher: PARENT }]);
  headsup.close();
});

test('a listener may call the store, and what it throws does not reach the call', () => {
  const script = `
    import { Headsup } from 'headsup';
    const headsup = await Headsup.open({ path: ':memory:', manualClock: 0 });
    headsup.on('notice', ({ watcher }) => {
      console.log(headsup.drain(watcher).notices.length);
      throw new Error('a defect of the listener');
    });
    headsup.watch('${PARENT}', '${CHILD}');
    console.log(headsup.record(${JSON.stringify(message)}).outcome);`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { encoding: 'utf8', cwd: new URL('..', import.meta.url) },
  );
  assert.equal(stdout, '1\nrecorded\n');
  assert.match(stderr, /a defect of the listener/);
  assert.equal(status, 1);
});

test('a closed store throws, and closing twice is fine', async () => {
  const headsup = await open();
  await headsup[Symbol.asyncDispose]();
  headsup[Symbol.dispose]();
  for (const call of [() => headsup.pending(), () => headsup.now, () => headsup.tidy()]) {
    assert.throws(call, { reason: 'closed' });
  }
  await assert.rejects(headsup.call('{}'), { reason: 'closed' });
});

test('an option that is not one is named', async () => {
  for (const [options, words] of [
    [{ durabilty: 'full' }, /durabilty/],
    [{ durability: 'fast' }, /durability/],
    [{ busyTimeout: -1 }, /busyTimeout/],
    [{ path: 7 }, /path/],
    [{ manualClock: 1.5 }, /manualClock/],
    [{ path: '\ud800.db' }, /path/],
    [{ path: 'a\0b' }, /path/],
    [{ plugin: 7 }, /plugin/],
    [{ pluginCache: 7 }, /pluginCache/],
    [{ on: { notices: () => {} } }, /on\.notices/],
    [{ on: { notice: 7 } }, /on\.notice/],
    [{ on: 7 }, /on: /],
    ...['on', 'path', 'plugin', 'busyTimeout', 'readOnly', 'sourceFolders', 'manualClock'].map(
      (name) => [{ [name]: null }, new RegExp(`${name}: leave it out`)],
    ),
    [{ path: '' }, /path/],
    [{ path: ' x.db' }, /path/],
    [{ readOnly: 'no' }, /readOnly/],
    [{ recover: 0 }, /recover/],
    [{ monitorUpstreams: 1 }, /monitorUpstreams/],
    [{ sourceFolders: '/folder' }, /sourceFolders/],
    [{ sourceFolders: ['relative'] }, /sourceFolders/],
  ]) {
    await assert.rejects(open(options), (error) => {
      assert.ok(error instanceof TypeError || error instanceof RangeError, String(error));
      assert.match(error.message, words);
      return true;
    });
  }
});
