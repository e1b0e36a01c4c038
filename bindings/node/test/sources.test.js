// Adopted sessions whose source is a file: what is read, where, and what it is told apart from.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Headsup } from 'headsup';

import { folderOf } from './support/folder.js';
import { Server, WITHOUT_COMMAND } from './support/server.js';

const SESSION = 'agent:main:worker';
const WATCHER = 'agent:main:main';
const row = (text, at = '2026-01-01T00:00:00.000Z') =>
  `${JSON.stringify({ type: 'user', timestamp: at, message: { role: 'user', content: text } })}\n`;

/** An open store that may read a folder, and an adopted, watched session in it. */
async function adopted(t, options) {
  const folder = folderOf(t);
  const transcript = join(folder, 'session.jsonl');
  fs.writeFileSync(transcript, row('history'));
  const headsup = await Headsup.open({ path: ':memory:', sourceFolders: [folder], ...options });
  t.after(() => headsup.close());
  const adoption = { session: SESSION, source: { kind: 'claude-jsonl', path: transcript }, catalog: 'claude' };
  assert.equal((await headsup.adopt(adoption)).adopted, true);
  headsup.watch(WATCHER, SESSION);
  return { folder, transcript, headsup, adoption };
}

test('what people type at the source opens a notice; history and own texts do not', async (t) => {
  const { headsup, transcript, adoption } = await adopted(t);
  assert.deepEqual(await headsup.checkUpstreams(), { checked: 1, activity: 0, missing: 0, failed: 0 });
  headsup.sent(SESSION, 'Please run the tests.');
  fs.appendFileSync(transcript, row('Please run the tests.'));
  assert.equal((await headsup.checkUpstreams()).activity, 0);
  fs.appendFileSync(transcript, row('no, stop') + row('do this instead') + '{"type":"user"');
  assert.equal((await headsup.checkUpstreams()).activity, 1);
  const [notice] = headsup.take(WATCHER);
  const { events } = headsup.changesSince(notice.target, notice.since);
  assert.deepEqual(events.at(-1).payload, { channel: 'claude', turns: 2 });
  assert.equal((await headsup.adopt(adoption)).adopted, false);
});

test('a file that was replaced is read from its start, and reports what is new in it', async (t) => {
  const { headsup, transcript } = await adopted(t);
  fs.rmSync(transcript);
  fs.writeFileSync(transcript, row('new turn', '2026-02-01T00:00:00.000Z'));
  assert.equal((await headsup.checkUpstreams()).activity, 1);
});

test('a file that is gone is missing, and after three checks its link is', async (t) => {
  const { headsup, transcript } = await adopted(t);
  fs.rmSync(transcript);
  for (let check = 0; check < 3; check += 1) assert.equal((await headsup.checkUpstreams()).missing, 1);
  assert.equal((await headsup.checkUpstreams()).checked, 0);
  assert.equal(headsup.changesSince(SESSION, 0).events.at(-1).kind, 'upstream_missing');
});

test('an allowed folder that is not there takes no source away', async (t) => {
  const { headsup, folder } = await adopted(t);
  const lines = [];
  headsup.on('log', ({ level, message }) => lines.push(`${level}: ${message}`));
  fs.renameSync(folder, `${folder}-unmounted`);
  t.after(() => fs.rmSync(`${folder}-unmounted`, { recursive: true }));
  for (let check = 0; check < 4; check += 1) assert.equal((await headsup.checkUpstreams()).failed, 1);
  assert.equal(lines.length, 1, lines.join('\n'));
  fs.renameSync(`${folder}-unmounted`, folder);
  assert.equal((await headsup.checkUpstreams()).failed, 0);
  fs.mkdirSync(`${folder}-unmounted`);
});

test('what lies outside the allowed folders is refused, links included', async (t) => {
  const { headsup, folder } = await adopted(t);
  const elsewhere = join(folderOf(t), 'other.jsonl');
  fs.writeFileSync(elsewhere, row('secret'));
  const link = join(folder, 'link.jsonl');
  fs.symlinkSync(elsewhere, link);
  const adopt = (path) =>
    headsup.adopt({ session: 'agent:main:x', source: { kind: 'claude-jsonl', path }, catalog: 'claude' });
  await assert.rejects(adopt(elsewhere), { reason: 'source-refused' });
  await assert.rejects(adopt(link), { reason: 'source-refused' });
  await assert.rejects(adopt(join(folder, 'nothing.jsonl')), { reason: 'source-missing' });
  await assert.rejects(adopt(folder), { reason: 'source-missing' });
});

test('the monitor checks by itself, on a manual clock whenever that is moved', async (t) => {
  const { headsup, transcript } = await adopted(t, { manualClock: 0, monitorUpstreams: true });
  await headsup.setClock(60_000);
  fs.appendFileSync(transcript, row('typed'));
  await headsup.setClock(200_000);
  assert.equal(headsup.take(WATCHER).length, 1);
});

test('a link that Rust made is checked by Node, and each turn is found once', { skip: WITHOUT_COMMAND }, async (t) => {
  const folder = folderOf(t);
  const db = join(folder, 'shared.db');
  const projects = join(folder, 'projects');
  fs.mkdirSync(projects);
  const transcript = join(projects, 'session.jsonl');
  fs.writeFileSync(transcript, row('history'));
  process.env.CLAUDE_CONFIG_DIR = folder;
  t.after(() => delete process.env.CLAUDE_CONFIG_DIR);
  const rust = Server.rust(db);
  const source = { kind: 'claude-jsonl', path: transcript };
  await rust.call('adopt', { session: SESSION, source, catalog: 'claude' });
  await rust.call('watch', { watcher: WATCHER, target: SESSION });
  const node = await Headsup.open({ path: db });
  const quiet = { checked: 1, activity: 0, missing: 0, failed: 0 };
  for (let check = 0; check < 2; check += 1) {
    assert.deepEqual(await node.checkUpstreams(), quiet);
    assert.deepEqual(await rust.call('checkUpstreams'), quiet);
  }
  fs.appendFileSync(transcript, row('typed'));
  const tallies = [await node.checkUpstreams(), await rust.call('checkUpstreams')];
  assert.deepEqual(tallies.map(({ activity }) => activity), [1, 0]);
  node.close();
  await rust.end();
});
