// The conformance vectors of the repository, unchanged: see tests/vectors/README.md.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

import { Headsup, LineServer } from 'headsup';

const folder = new URL('../../../tests/vectors/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));

assert.ok(files.length > 20, 'the vectors are there');
for (const file of files) {
  test(`vectors: ${file}`, () => play(readFileSync(new URL(file, folder), 'utf8')));
}

test('the runner can fail', async () => {
  const step = { name: 'nobody', send: { jsonrpc: '2.0', id: 1, method: 'pending' }, expect: [] };
  await assert.rejects(play(JSON.stringify(step)), /nobody/);
});

async function play(text) {
  const lines = [];
  const write = (line) => lines.push(line);
  const headsup = await Headsup.open({
    path: ':memory:',
    manualClock: 0,
    on: LineServer.listeners(write),
  });
  const server = new LineServer(headsup, write);
  let rule = '(no rule)';
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const { name, send, expect } = membersOf(line);
    rule = name === undefined ? rule : JSON.parse(name);
    const sent = send.startsWith('"') ? JSON.parse(send) : send;
    await server.answer(Buffer.from(sent));
    compare(spelled(expect), lines.splice(0).map(spelled), `line ${index + 1}: ${rule}\n${sent}`);
  }
  headsup.close();
}

/** The members of a JSON object as they are spelled: reading numbers would cut large ones. */
function membersOf(line) {
  const members = {};
  const token = /"(?:[^"\\]|\\.)*"|[[\]{},:]/g;
  let depth = 0;
  let name;
  let start = 0;
  for (let match = token.exec(line); match !== null; match = token.exec(line)) {
    const [symbol] = match;
    if (depth === 1 && name === undefined && symbol.startsWith('"')) name = JSON.parse(symbol);
    else if (depth === 1 && symbol === ':') start = token.lastIndex;
    if (symbol === '[' || symbol === '{') depth += 1;
    if (symbol === ']' || symbol === '}') depth -= 1;
    if ((depth === 1 && symbol === ',') || depth === 0) {
      members[name] = line.slice(start, match.index).trim();
      name = undefined;
    }
  }
  return members;
}

/** A value in which numbers stay as they are spelled: `1` and `1.0` are different. */
function spelled(text) {
  const kept = text.replace(
    /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g,
    (token) => (token.startsWith('"') ? token : `{"number":"${token}"}`),
  );
  return JSON.parse(kept);
}

function compare(expected, found, words) {
  assert.deepEqual(found.map((line, at) => withoutMessage(line, expected[at])), expected, words);
}

/** The words of an error are compared only where the vector says them. */
function withoutMessage(found, expected) {
  if (Array.isArray(found)) return found.map((one, at) => withoutMessage(one, expected?.[at]));
  const { error } = found ?? {};
  const isLeftOut = error && expected?.error && !('message' in expected.error);
  if (!isLeftOut) return found;
  const { message, ...rest } = error;
  assert.ok(typeof message === 'string' && message !== '', 'an error has a message');
  return { ...found, error: rest };
}
