// The gate on the cost of a call: a record through the component against the same statements run bare
// by better-sqlite3, in one run, in turn, in small batches. It counts the processor's time, which other
// work disturbs less than the clock's. Ratios travel between machines, microseconds do not. Fails
// beyond the bounds.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Headsup } from 'headsup';

import { Store } from '../dist/storage/store.js';

/** Rounds of batches; the median of the rounds counts. */
const ROUNDS = 31;
const BATCH = 200;

/** Most that the component may add, as a ratio to the bare statements. Measured: see docs/embedding/node.md. */
const BOUNDS = { 'in memory': 4, normal: 3 };

const TARGET = 'agent:main:subagent:child';
const params = {
  session: TARGET,
  kind: 'human_direct_message',
  actor: { type: 'human', id: 'ana' },
  channel: 'telegram',
};
const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'record', params });

/** What a record does to the store, without the core: the verbs that it calls, with their values. */
function bareRecord(store) {
  const session = { key: TARGET, agent: 'main' };
  const now = BigInt(Date.now());
  store.begin('write');
  const entry = {
    session,
    kind: 'human_direct_message',
    actorType: 'human',
    actorId: 'ana',
    occurredAt: now,
    summary: 'human message via telegram',
    payload: '{"channel":"telegram"}',
  };
  const { val } = store.storage.append({ entry, onlyIfWatched: true, settled: true, named: [] });
  const head = {
    version: val.sequence,
    watermark: 0n,
    notifying: { newest: val.sequence, actor: 'ana', other: 0n },
    movedAt: now,
  };
  store.storage.save({ heads: [{ session, head }], cursors: [] });
  store.commit();
}

/** Microseconds of the processor for each. */
async function timed(act) {
  const start = process.cpuUsage();
  for (let record = 0; record < BATCH; record += 1) await act();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / BATCH;
}

async function compare(path, durability) {
  const options = { path, durability, busyTimeout: 5_000, readOnly: false };
  const headsup = await Headsup.open({ path, durability });
  headsup.watch('agent:main:main', TARGET);
  headsup.record(params);
  // In memory each has a store of its own; on disk both take turns on one file.
  const store = new Store(options);
  if (path === ':memory:') prepare(store);
  const contestants = {
    bare: () => bareRecord(store),
    typed: () => headsup.record(params),
    json: () => headsup.call(request),
  };
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, act] of Object.entries(contestants)) times[name].push(await timed(act));
  }
  store.close();
  headsup.close();
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
}

/** A pending watcher, as the other store has. */
function prepare(store) {
  store.begin('write');
  const cursor = {
    pair: { watcher: 'agent:main:main', target: { key: TARGET, agent: 'main' } },
    state: { tag: 'live', val: { lastSeen: 0n, notified: 1n, provenance: 'explicit' } },
    movedAt: 0n,
  };
  store.storage.save({ heads: [], cursors: [cursor] });
  store.commit();
}

function median(times) {
  return times.toSorted((one, other) => one - other)[times.length >> 1];
}

const folder = mkdtempSync(join(tmpdir(), 'headsup-bench-'));
const failures = [];
try {
  const runs = { 'in memory': [':memory:', 'full'], normal: [join(folder, 'normal.db'), 'normal'] };
  for (const [name, [path, durability]] of Object.entries(runs)) {
    const { bare, typed, json } = await compare(path, durability);
    const ratio = Math.max(typed, json) / bare;
    const bound = BOUNDS[name];
    const words = [`bare ${bare.toFixed(1)}`, `typed ${typed.toFixed(1)}`, `as JSON ${json.toFixed(1)} µs`];
    console.log(`a record, ${name}: ${words.join(', ')}; ratio ${ratio.toFixed(2)} (at most ${bound})`);
    if (ratio > bound) failures.push(name);
  }
} finally {
  rmSync(folder, { recursive: true });
}
if (failures.length > 0) {
  console.error(`headsup: a record costs more than it may: ${failures.join(', ')}`);
  process.exit(1);
}
