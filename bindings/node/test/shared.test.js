// One store file, served by hosts in two languages at the same time.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

import { Headsup } from 'headsup';

import { folderOf } from './support/folder.js';
import { COMMAND, Server, WITHOUT_COMMAND, WITHOUT_PYTHON } from './support/server.js';

const options = { skip: WITHOUT_COMMAND };
const PARENT = 'agent:main:main';
const CHILD = 'agent:main:subagent:child';

const goal = (session) => ({
  session,
  kind: 'goal_changed',
  actor: { type: 'human', id: 'ana' },
  change: 'updated',
});

test('what Rust writes Node reads, and the other way round, while both have the file open', options, async (t) => {
  const db = join(folderOf(t), 'shared.db');
  const rust = Server.rust(db);
  assert.deepEqual(await rust.call('watch', { watcher: PARENT, target: CHILD }), { watched: true });
  const node = await Headsup.open({ path: db });

  assert.deepEqual(node.record(goal(CHILD)), { outcome: 'recorded', stateVersion: 1 });
  assert.equal((await rust.call('take', { watcher: PARENT })).notices.length, 1);
  assert.deepEqual(await rust.call('record', goal(CHILD)), { outcome: 'recorded', stateVersion: 2 });
  const [notice] = node.take(PARENT);
  assert.deepEqual(notice, (await rust.call('take', { watcher: PARENT })).notices[0]);
  const delta = await rust.call('status', { session: CHILD, changesSince: 0 });
  assert.deepEqual(node.status(CHILD, { changesSince: 0 }), delta);
  assert.equal(node.acknowledge(PARENT, [notice]).acknowledged, 1);
  const reopened = await rust.call('drain', { watcher: PARENT });
  assert.equal(reopened.notices[0].since, 1);
  assert.deepEqual(node.take(PARENT), []);

  node.close();
  assert.equal(await rust.end(), 0);
});

test('writes of both at once give every number once, and each sees all', options, async (t) => {
  const db = join(folderOf(t), 'shared.db');
  const node = await Headsup.open({ path: db, durability: 'normal' });
  const rust = Server.rust(db);
  await rust.call('pending');
  const each = 200;
  const versions = [];
  for (let turn = 0; turn < each; turn += 1) {
    const theirs = rust.call('record', goal('agent:main:r'));
    // Meanwhile, in this process.
    versions.push(node.record(goal('agent:main:n')).stateVersion);
    versions.push((await theirs).stateVersion);
  }
  const expected = Array.from({ length: 2 * each }, (_, at) => at + 1);
  assert.deepEqual(versions.toSorted((one, other) => one - other), expected);
  for (const session of ['agent:main:r', 'agent:main:n']) {
    const seen = node.changesSince(session, 0);
    const status = await rust.call('status', { session, changesSince: 0 });
    assert.equal(seen.events.length, each);
    assert.deepEqual(seen.events, status.stateChanges.events);
  }
  node.close();
  await rust.end();
});

test('Rust, Node and Python serve one file at once, and each sees all', { skip: WITHOUT_PYTHON }, async (t) => {
  const db = join(folderOf(t), 'shared.db');
  const servers = [Server.rust(db), Server.node(db), Server.python(db)];
  for (const server of servers) await server.call('pending');
  await servers[0].call('watch', { watcher: PARENT, target: CHILD });
  const each = 30;
  const record = async (server) => {
    const versions = [];
    for (let turn = 0; turn < each; turn += 1) {
      const { outcome, stateVersion } = await server.call('record', goal(CHILD));
      assert.equal(outcome, 'recorded');
      versions.push(stateVersion);
    }
    return versions;
  };
  const versions = (await Promise.all(servers.map(record))).flat();
  const expected = Array.from({ length: servers.length * each }, (_, at) => at + 1);
  assert.deepEqual(versions.toSorted((one, other) => one - other), expected);
  const status = { session: CHILD, changesSince: 0 };
  const [rust, ...others] = await Promise.all(servers.map((server) => server.call('status', status)));
  assert.equal(rust.stateChanges.events.length, expected.length);
  for (const other of others) assert.deepEqual(other, rust);
  const [one, two, three] = await Promise.all(
    servers.map((server) => server.call('take', { watcher: PARENT })),
  );
  assert.equal(one.notices.length, 1);
  assert.deepEqual([two, three], [one, one]);
  for (const server of servers) await server.end();
});

test('a store made by either passes the doctor', options, async (t) => {
  const db = join(folderOf(t), 'made-by-node.db');
  const node = await Headsup.open({ path: db });
  node.watch(PARENT, CHILD);
  node.recordMany([goal(CHILD), goal('agent:main:x')]);
  node.unwatch(PARENT, 'agent:main:x');
  node.busy(CHILD, true);
  node.sent(CHILD, 'words');
  node.delete('agent:main:x');
  node.restored();
  node.close();
  const doctor = spawnSync(COMMAND, ['doctor', '--db', db], { encoding: 'utf8' });
  assert.equal(doctor.status, 0, doctor.stdout + doctor.stderr);
});

test('the program in Node answers a conversation line for line as the one in Rust', options, async (t) => {
  const folder = folderOf(t);
  const conversation = [
    '{"jsonrpc":"2.0","id":1,"method":"record","params":{"session":"agent:main:subagent:child","kind":"child_spawned","actor":{"type":"agent","id":"agent:main:main"},"runId":"r1"}}',
    '{"jsonrpc":"2.0","id":2,"method":"record","params":{"session":"agent:main:subagent:child","kind":"human_direct_message","actor":{"type":"human"}}}',
    '[{"jsonrpc":"2.0","id":3,"method":"take","params":{"watcher":"agent:main:main"}},{"jsonrpc":"2.0","method":"pending"}, 1.0 ]',
    '{"jsonrpc":"2.0","id":4,"method":"clock","params":{"now":900000}}',
    '{"jsonrpc":"2.0","id":5,"method":"adopt","params":{"session":"agent:main:w","source":{"kind":"claude-jsonl","path":"/nowhere/x.jsonl"},"catalog":"claude"}}',
    '{"jsonrpc":"2.0","id":6,"method":"checkUpstreams"}',
    '\ufeff{"jsonrpc":"2.0","id":7,"method":"pending"}',
    '{',
    '[]',
    '{"jsonrpc":"2.0","id":8,"method":"nope"}',
    '{"jsonrpc":"2.0","id":"end","method":"tools"}',
  ];
  const heard = async (server) => {
    for (const line of conversation) server.send(line);
    const messages = [];
    do messages.push(await server.next());
    while (messages.at(-1).id !== 'end');
    assert.equal(await server.end(), 0);
    return messages;
  };
  const rust = await heard(Server.rust(join(folder, 'rust.db'), '--manual-clock'));
  const node = await heard(Server.node(join(folder, 'node.db'), '--manual-clock'));
  assert.deepEqual(node, rust);
  assert.ok(rust.length > conversation.length, 'notices and wakes came too');
});
