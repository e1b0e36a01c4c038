// Processes that are killed: what was answered is kept, and what is pending is announced again.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { Headsup } from 'headsup';

import { folderOf } from './support/folder.js';
import { Server } from './support/server.js';

const WATCHER = 'agent:main:main';
const TARGET = 'agent:main:worker';
const signal = (number) => ({
  session: TARGET,
  kind: 'goal_changed',
  actor: { type: 'human' },
  change: 'updated',
  dedupeKey: `n${number}`,
});

test('a killed process loses nothing that it answered, and recovery announces what is pending', async (t) => {
  const db = join(folderOf(t), 'killed.db');
  let answered = 0;
  for (let round = 0; round < 3; round += 1) {
    const server = Server.node(db);
    if (round === 0) await server.call('watch', { watcher: WATCHER, target: TARGET });
    else {
      await server.call('pending');
      assert.deepEqual(server.news.map(({ method }) => method), ['notice', 'wake']);
    }
    // Requests are in flight when it dies: some are answered, some are not.
    const calls = Array.from({ length: 40 }, (_, at) => signal(round * 40 + at)).map((params, id) =>
      server.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'record', params })),
    );
    for (let seen = 0; seen < calls.length / 2; ) {
      const message = await server.next();
      if (!('id' in message)) continue;
      assert.equal(message.result.outcome, 'recorded');
      seen += 1;
      answered = message.result.stateVersion;
    }
    await server.kill();
  }
  const headsup = await Headsup.open({ path: db });
  const { events, stateVersion } = headsup.changesSince(TARGET, 0);
  assert.ok(stateVersion >= answered, `${stateVersion} is kept, ${answered} was answered`);
  assert.deepEqual(events.map(({ sequence }) => sequence), events.map((_, at) => at + 1));
  assert.equal(headsup.take(WATCHER).length, 1);
  headsup.close();
});
