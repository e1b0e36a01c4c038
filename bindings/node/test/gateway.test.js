// The example gateway, run as its users run it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const GATEWAY = fileURLToPath(new URL('../examples/gateway.js', import.meta.url));

test('a human writes into the child, and the next turn of the parent catches up', async (t) => {
  const gateway = spawn(process.execPath, [GATEWAY, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => gateway.kill('SIGKILL'));
  const lines = createInterface({ input: gateway.stdout })[Symbol.asyncIterator]();
  const next = async () => (await lines.next()).value;
  const [, address] = /listening on (\S+)/.exec(await next());
  const send = async (method, path, body) => {
    const response = await fetch(`${address}${path}`, { method, body: body && JSON.stringify(body) });
    return [response.status, await response.json()];
  };

  const nothing = [200, { prompt: [], caughtUp: [] }];
  assert.deepEqual(await send('POST', '/parent/turns'), nothing);
  const message = { from: 'ana', text: 'forget that, do this' };
  assert.deepEqual(await send('POST', '/child/messages', message), [200, { outcome: 'recorded', stateVersion: 2 }]);
  assert.match(await next(), /^notice for agent:main:main: Session "agent:main:subagent:child" was changed/);
  assert.equal(await next(), 'wake agent:main:main');
  await send('POST', '/child/messages', message);
  const [, turn] = await send('POST', '/parent/turns');
  assert.equal(turn.prompt.length, 1);
  assert.equal(turn.caughtUp[0].events.length, 2);
  assert.ok(!JSON.stringify(turn).includes('forget that'), 'no content is kept');
  // The notice stood for the first message; one more opened for the second.
  const [, second] = await send('POST', '/parent/turns');
  assert.equal(second.caughtUp[0].events.length, 1);
  assert.deepEqual(await send('POST', '/parent/turns'), nothing);

  const [status, refused] = await send('POST', '/child/messages', { from: 'two words' });
  assert.deepEqual([status, refused.field], [400, 'actor.id']);
  assert.equal((await send('GET', '/nowhere'))[0], 404);
  gateway.kill('SIGTERM');
  const [code] = await once(gateway, 'exit');
  assert.equal(code, 0);
});
