// What a record costs: N single `record` calls as JSON on a target that one pending watcher has.
//
//   node bench/record-cost.js --db PATH --records N --durability normal|full
//
// Prints one line of JSON: {"records":N,"nanoseconds":TOTAL,"parts":{"begin":…,"statements":…,
// "commit":…,"core":…}}. The parts are those of a second pass of the same length, because measuring
// them costs time itself.
import { parseArgs } from 'node:util';

import { Headsup } from 'headsup';

import { measureStatements } from './parts.js';

const text = (value) => ({ type: 'string', default: value });
const { values } = parseArgs({
  options: { db: text(':memory:'), records: text('10000'), durability: text('full') },
});
const records = Number(values.records);
const headsup = await Headsup.open({ path: values.db, durability: values.durability });

const target = 'agent:main:subagent:child';
headsup.watch('agent:main:main', target);
const actor = { type: 'human', id: 'ana' };
const params = { session: target, kind: 'human_direct_message', actor, channel: 'telegram' };
const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'record', params });

/** The time of so many records, in ns. */
async function pass(count) {
  const start = process.hrtime.bigint();
  for (let record = 0; record < count; record += 1) await headsup.call(request);
  return Number(process.hrtime.bigint() - start);
}

// Opens the notice, and lets the engine compile what runs often.
await pass(Math.min(2_000, records));
const nanoseconds = await pass(records);
const spent = measureStatements();
const measured = await pass(records);
const core = measured - spent.begin - spent.statements - spent.commit;
console.log(JSON.stringify({ records, nanoseconds, parts: { ...spent, core } }));
headsup.close();
