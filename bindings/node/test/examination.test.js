// Storage, settings, queue, log and clock of this host, examined by the component that examines any.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { WITHOUT_COMPONENT, examine, loadExamination } from './support/examination.js';
import { folderOf } from './support/folder.js';

const options = { skip: WITHOUT_COMPONENT };

async function examined(t, faults, edit) {
  const folder = folderOf(t);
  const core = join(folder, 'core');
  mkdirSync(core);
  return examine(await loadExamination(core, edit), folder, faults);
}

test('nothing is broken', options, async (t) => {
  t.diagnostic('headsup: left out: what statements cost, because only the clock could say; see plans.test.js');
  const found = await examined(t, { except: ['cost'] });
  assert.deepEqual(found.broken, []);
  assert.deepEqual(found.unexamined, []);
  assert.ok(found.cases >= 60, `${found.cases} cases`);
});

const STORAGE = 'headsup:awareness/storage';

/** Changes verbs of storage: each is given the verb as it is. */
const verbs = (changed) => (imports) => {
  const storage = { ...imports[STORAGE] };
  for (const [name, change] of Object.entries(changed)) storage[name] = change(storage[name]);
  return { ...imports, [STORAGE]: storage };
};

const PLANTED = {
  'a page that begins with its last row': {
    subjects: ['history'],
    plant: verbs({ history: (verb) => (session, after, limit) => verb(session, after > 0n ? after - 1n : after, limit) }),
  },
  'pruning that never says that there is more': {
    subjects: ['pruning'],
    plant: verbs({ prune: (verb) => (request) => ({ ...verb(request), more: false }) }),
  },
  'keys that ignore case': {
    subjects: ['text'],
    plant: verbs({
      history: (verb) => ({ key, agent }, ...page) => verb({ key: key.toLowerCase(), agent }, ...page),
    }),
  },
  'a dedupe key that holds for every session': {
    subjects: ['dedupe'],
    plant: (imports) => {
      const seen = new Map();
      return verbs({
        append: (verb) => (request) => {
          const { dedupeKey } = request.entry;
          if (seen.has(dedupeKey)) return { tag: 'duplicate', val: seen.get(dedupeKey) };
          const outcome = verb(request);
          if (dedupeKey !== undefined && outcome.tag === 'appended') seen.set(dedupeKey, outcome.val.sequence);
          return outcome;
        },
      })(imports);
    },
  },
  'cursors out of order': {
    subjects: ['cursors', 'lists'],
    plant: verbs({ cursors: (verb) => (...query) => verb(...query).reverse() }),
  },
};

for (const [fault, faults] of Object.entries(PLANTED)) {
  test(`a planted fault is found: ${fault}`, options, async (t) => {
    const { broken } = await examined(t, faults);
    assert.ok(broken.length > 0, 'it was not found');
  });
}

test('a planted fault is found: news of a call that was undone', options, async (t) => {
  const kept = [];
  const plant = (imports) => ({
    ...imports,
    'headsup:awareness/queue': { enqueue: (openings) => kept.push(...openings) },
  });
  const deliver = ({ answer, effects }) => ({
    answer,
    effects: { openings: kept.splice(0), lines: effects.lines },
  });
  const { broken } = await examined(t, { plant, deliver, subjects: ['queue'] });
  assert.ok(broken.length > 0, 'it was not found');
});

test("a planted fault is found: jco's own decoder, which drops a byte order mark", options, async (t) => {
  const edit = (script) => script.replace("new TextDecoder('utf-8', { ignoreBOM: true })", 'new TextDecoder()');
  const { broken } = await examined(t, { subjects: ['text'] }, edit);
  assert.ok(broken.length > 0, 'it was not found');
});
