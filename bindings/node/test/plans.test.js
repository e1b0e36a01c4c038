// The statements go by index with the SQLite that better-sqlite3 brings, too: their cost follows the
// rows that they return.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import Database from 'better-sqlite3';

import { migrate } from '../dist/storage/schema.js';
import { sql } from '../dist/storage/statements.js';

const BY_INDEX = [
  'append/duplicate',
  'append/named',
  'append/settled',
  'append/target',
  'cursors/of_watcher',
  'cursors/on_target',
  'cursors/open',
  'cursors/open_of',
  'delete/cursors_it_holds',
  'delete/cursors_on_it',
  'delete/events',
  'heads',
  'history/rows',
  'pairs',
  'reset',
  'save/head',
  'save/move_cursor',
  'settings/get',
  'upstream_of',
];

for (const name of BY_INDEX) {
  test(`by index: ${name}`, () => {
    const database = new Database(':memory:');
    migrate(database, 0);
    const names = [...sql(name).matchAll(/:([a-z_]+)/g)].map(([, value]) => [value, 'x']);
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql(name)}`).all(Object.fromEntries(names));
    const steps = plan.map(({ detail }) => detail);
    // All open notices are the rows of an index that holds nothing else.
    const isScan = (step) => /^SCAN|TEMP B-TREE/.test(step) && !/CONSTANT ROW|\(subquery|session_watch_cursors_open/.test(step);
    assert.deepEqual(steps.filter(isScan), [], steps.join('\n'));
    database.close();
  });
}
