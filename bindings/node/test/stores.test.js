// What a store refuses, what locks do, and what is undone.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import Database from 'better-sqlite3';
import { Headsup } from 'headsup';

import { refuseOldSqlite } from '../dist/storage/open.js';
import { folderOf } from './support/folder.js';

const goal = { session: 'agent:main:w', kind: 'goal_changed', actor: { type: 'human' }, change: 'created' };

test('a store is made with its folders, in WAL mode, and opened again', async (t) => {
  const path = join(folderOf(t), 'a', 'b', 'store.db');
  const first = await Headsup.open({ path });
  assert.equal(first.record(goal).stateVersion, 1);
  first.close();
  const second = await Headsup.open({ path, durability: 'normal' });
  assert.equal(second.record(goal).stateVersion, 2);
  second.close();
  const database = new Database(path);
  assert.equal(database.pragma('journal_mode', { simple: true }), 'wal');
  database.close();
});

test('what is not ours is refused by name, and left as it was', async (t) => {
  const folder = folderOf(t);
  const refused = async (name, make, reason, words) => {
    const path = join(folder, name);
    make(path);
    const before = fs.statSync(path).isFile() && fs.readFileSync(path);
    await assert.rejects(Headsup.open({ path }), (error) => {
      assert.equal(error.reason, reason, error.message);
      assert.match(error.message, words);
      assert.ok(error.message.includes(path));
      return true;
    });
    if (before) assert.deepEqual(fs.readFileSync(path), before);
  };
  const withSql = (sql) => (path) => {
    const database = new Database(path);
    database.exec(sql);
    database.close();
  };
  await refused('a-folder', (path) => fs.mkdirSync(path), 'store-failed', /is a folder/);
  await refused('short', (path) => fs.writeFileSync(path, 'x'), 'store-corrupt', /not a SQLite database/);
  await refused('text', (path) => fs.writeFileSync(path, 'x'.repeat(5_000)), 'store-corrupt', /not a SQLite/);
  await refused('foreign', withSql('CREATE TABLE headsup_settings (x)'), 'foreign-schema', /headsup_settings/);
  await refused('utf16', withSql('PRAGMA encoding="UTF-16"; CREATE TABLE x (y)'), 'foreign-schema', /UTF-16/);
});

test('a newer store is refused, and tables of somebody else are left alone', async (t) => {
  const folder = folderOf(t);
  const path = join(folder, 'store.db');
  const gateway = new Database(path);
  gateway.exec('CREATE TABLE mine (x); INSERT INTO mine VALUES (7)');
  (await Headsup.open({ path })).close();
  assert.deepEqual(gateway.prepare('SELECT x FROM mine').all(), [{ x: 7 }]);
  gateway.exec("INSERT INTO headsup_migrations VALUES (3, '0002_future', 0)");
  await assert.rejects(Headsup.open({ path }), { reason: 'store-too-new' });
  gateway.exec("DELETE FROM headsup_migrations WHERE version = 3; DROP INDEX session_watch_cursors_open");
  await assert.rejects(Headsup.open({ path }), { reason: 'foreign-schema' });
  gateway.close();
});

test('an SQLite that can damage a shared file is refused', () => {
  for (const old of ['3.37.0', '3.51.2', '2.99.99']) {
    assert.throws(() => refuseOldSqlite(old), /3\.51\.3 or newer/);
  }
  for (const fine of ['3.51.3', '3.53.2', '4.0.0', undefined]) refuseOldSqlite(fine);
});

test('a path with white space at an end is refused, because the file would be another one', async () => {
  await assert.rejects(Headsup.open({ path: 'store.db ' }), /white space/);
});

test('while another process writes, recording fails softly, bad input is told, and reading goes on', async (t) => {
  const path = join(folderOf(t), 'busy.db');
  const lines = [];
  const headsup = await Headsup.open({ path, busyTimeout: 20, on: { log: (line) => lines.push(line) } });
  headsup.record(goal);
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  assert.deepEqual(headsup.record(goal), { outcome: 'failed', reason: 'store-busy' });
  assert.deepEqual(headsup.recordMany([goal, goal]).map(({ reason }) => reason), ['store-busy', 'store-busy']);
  assert.ok(lines.some(({ level, message }) => level === 'error' && message.includes('agent:main:w')));
  assert.throws(() => headsup.watch('agent:main:main', 'agent:main:w'), { reason: 'store-busy', code: -32000 });
  assert.throws(() => headsup.record({ ...goal, change: 'x' }), { reason: 'unknown-value', field: 'change' });
  assert.equal(headsup.changesSince('agent:main:w', 0).events.length, 1);
  other.exec('ROLLBACK');
  other.close();
  assert.equal(headsup.record(goal).stateVersion, 2);
  headsup.close();
});

test('a damaged row is an error and no empty answer, and the store goes on', async (t) => {
  const path = join(folderOf(t), 'damaged.db');
  const headsup = await Headsup.open({ path });
  headsup.record(goal);
  const other = new Database(path);
  other.pragma('ignore_check_constraints = ON');
  other.exec('UPDATE session_state_heads SET version = -1');
  assert.throws(() => headsup.changesSince('agent:main:w', 0), { reason: 'store-corrupt' });
  other.exec('UPDATE session_state_heads SET version = 1');
  other.close();
  assert.equal(headsup.changesSince('agent:main:w', 0).events.length, 1);
  headsup.close();
});

test('a store to look at changes nothing, and refuses to write', async (t) => {
  const path = join(folderOf(t), 'looked-at.db');
  await assert.rejects(Headsup.open({ path, readOnly: true }), /no store here/);
  const writer = await Headsup.open({ path });
  writer.record(goal);
  const looker = await Headsup.open({ path, readOnly: true });
  assert.deepEqual(looker.versions(['agent:main:w']), [1]);
  assert.deepEqual(looker.record(goal), { outcome: 'failed', reason: 'store-read-only' });
  looker.close();
  writer.close();
});

test('threads share a file as processes do', async (t) => {
  const path = join(folderOf(t), 'threads.db');
  const headsup = await Headsup.open({ path, durability: 'normal' });
  const script = `
    const { workerData } = require('node:worker_threads');
    import('headsup').then(async ({ Headsup }) => {
      const headsup = await Headsup.open({ path: workerData.path, durability: 'normal' });
      for (let turn = 0; turn < 100; turn += 1) headsup.record(workerData.goal);
      headsup.close();
    });`;
  const work = [1, 2].map(() => {
    const worker = new Worker(script, { eval: true, workerData: { path, goal } });
    return new Promise((resolve, reject) => worker.on('exit', resolve).on('error', reject));
  });
  for (let turn = 0; turn < 100; turn += 1) headsup.record(goal);
  assert.deepEqual(await Promise.all(work), [0, 0]);
  assert.deepEqual(headsup.versions(['agent:main:w']), [300]);
  headsup.close();
});

test('several stores are open at once, each with news of its own', async () => {
  const heard = [[], []];
  const stores = await Promise.all(
    heard.map((news) =>
      Headsup.open({ path: ':memory:', manualClock: 0, on: { notice: (notice) => news.push(notice) } }),
    ),
  );
  stores[0].watch('agent:main:main', 'agent:main:w');
  for (const store of stores) assert.equal(store.record(goal).stateVersion, 1);
  assert.deepEqual(heard.map((news) => news.length), [1, 0]);
  for (const store of stores) store.close();
});

test('a store that is replaced refuses work until its own file is back', async (t) => {
  const folder = folderOf(t);
  const [path, other, old] = ['store.db', 'other.db', 'old.db'].map((name) => join(folder, name));
  (await Headsup.open({ path: other })).close();
  const shift = (from, to) => {
    for (const suffix of ['', '-wal', '-shm']) {
      if (fs.existsSync(from + suffix)) fs.renameSync(from + suffix, to + suffix);
    }
  };
  const store = await Headsup.open({ path });
  const refuses = () => {
    assert.deepEqual(store.record(goal), { outcome: 'failed', reason: 'store-failed' });
    assert.throws(() => store.status(goal.session), (error) => {
      assert.equal(error.reason, 'store-failed');
      assert.match(error.message, /removed or replaced/);
      return true;
    });
  };
  for (const version of [1, 2]) {
    assert.equal(store.record(goal).stateVersion, version);
    shift(path, old);
    refuses();
    assert.ok(!fs.existsSync(path), 'nothing is made in its place');
    fs.copyFileSync(other, path);
    refuses();
    shift(old, path);
    assert.equal(store.status(goal.session).stateVersion, version);
  }
  store.close();
});

for (const gone of [['-wal'], ['-shm'], ['-wal', '-shm']]) {
  test(`a store whose ${gone.join(' and ')} is taken away refuses work and loses nothing`, async (t) => {
    const path = join(folderOf(t), 'store.db');
    (await Headsup.open({ path })).close();
    const store = await Headsup.open({ path });
    assert.equal(store.record(goal).stateVersion, 1);
    for (const suffix of gone) fs.unlinkSync(path + suffix);
    for (let round = 0; round < 2; round += 1) {
      assert.deepEqual(store.record(goal), { outcome: 'failed', reason: 'store-failed' });
      assert.throws(() => store.unwatch('agent:a:main', goal.session), /removed or replaced/);
      assert.throws(() => store.status(goal.session), /removed or replaced/);
    }
    store.close();
    const again = await Headsup.open({ path });
    assert.equal(again.record(goal).stateVersion, 2);
    again.close();
  });
}

test('no other store is opened beside one whose log was taken away', async (t) => {
  const path = join(folderOf(t), 'store.db');
  const first = await Headsup.open({ path });
  assert.equal(first.record(goal).stateVersion, 1);
  for (const suffix of ['-wal', '-shm']) fs.unlinkSync(path + suffix);
  await assert.rejects(Headsup.open({ path }), /removed or replaced/);
  first.close();
  const second = await Headsup.open({ path });
  assert.equal(second.record(goal).stateVersion, 2);
  second.close();
});

test('a path with .. above a link is the one that the system means', async (t) => {
  const folder = folderOf(t);
  fs.mkdirSync(join(folder, 'real', 'inner'), { recursive: true });
  fs.symlinkSync(join(folder, 'real', 'inner'), join(folder, 'link'));
  const store = await Headsup.open({ path: `${folder}/link/../store.db` });
  assert.equal(store.record(goal).stateVersion, 1);
  assert.equal(store.record(goal).stateVersion, 2);
  assert.ok(fs.existsSync(join(folder, 'real', 'store.db')));
  assert.ok(!fs.existsSync(join(folder, 'store.db')));
  store.close();
});

test('a store of the first schema is brought up to date with all that it holds', async (t) => {
  const path = join(folderOf(t), 'store.db');
  const sql = (name) => fs.readFileSync(new URL(`../../../host/sql/schema/${name}.sql`, import.meta.url), 'utf8');
  const older = new Database(path);
  older.pragma('journal_mode = WAL');
  older.exec(sql('migrations') + sql('0001_signal_log'));
  older.exec(`INSERT INTO headsup_migrations VALUES (1, '0001_signal_log', 0);
    INSERT INTO session_watch_cursors VALUES ('agent:a:main', 'agent:main:w', 'main', 'live', 'explicit', 0, 1, 0)`);
  older.close();
  const store = await Headsup.open({ path, manualClock: 0 });
  assert.deepEqual(store.pending(), [{ watcher: 'agent:a:main', notices: 1 }]);
  assert.equal(store.take('agent:a:main').length, 1);
  store.close();
});

test('a path is taken from the folder of its opening', async (t) => {
  const folder = folderOf(t);
  const [before, elsewhere] = [process.cwd(), join(folder, 'elsewhere')];
  fs.mkdirSync(elsewhere);
  t.after(() => process.chdir(before));
  process.chdir(folder);
  const store = await Headsup.open({ path: 'store.db' });
  process.chdir(elsewhere);
  assert.equal(store.record(goal).stateVersion, 1);
  store.close();
  assert.deepEqual(fs.readdirSync(elsewhere), []);
});

/** The files that this process has open in a folder. */
const heldIn = (folder) => fs.readdirSync('/proc/self/fd').filter((number) => {
  try {
    return fs.readlinkSync(`/proc/self/fd/${number}`).startsWith(folder);
  } catch {
    return false; // It was the folder that is being listed.
  }
});

test('a store that a listener closes among several wakes stays closed', async (t) => {
  const folder = folderOf(t);
  const headsup = await Headsup.open({ path: join(folder, 'store.db'), manualClock: 0 });
  for (const watcher of ['agent:a:main', 'agent:b:main', 'agent:c:main']) headsup.watch(watcher, goal.session);
  headsup.record(goal);
  const woken = [];
  headsup.on('wake', ({ watcher }) => {
    woken.push(watcher);
    headsup.close();
  });
  await headsup.setClock(900_000);
  assert.equal(woken.length, 1);
  assert.throws(() => headsup.pending(), { reason: 'closed' });
  if (process.platform === 'linux') assert.deepEqual(heldIn(folder), []);
});

test('an adoption that is under way when the store is closed writes nothing and says so', async (t) => {
  const folder = folderOf(t);
  const path = join(folder, 'store.db');
  const file = join(folder, 'a.jsonl');
  fs.writeFileSync(file, '');
  const headsup = await Headsup.open({ path, sourceFolders: [folder] });
  const adopted = headsup.adopt({ session: 'agent:main:x', source: { kind: 'claude-jsonl', path: file }, catalog: 'claude' });
  headsup.close();
  await assert.rejects(adopted, { reason: 'closed' });
  if (process.platform === 'linux') assert.deepEqual(heldIn(folder), []);
  const again = await Headsup.open({ path });
  assert.deepEqual(again.versions(['agent:main:x']), [null]);
  again.close();
});
