// The published types, as a strict project sees them: without the DOM, and every library checked.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

test('the types allow what the API does, and refuse what it would', () => {
  const tsc = ['node_modules/typescript/bin/tsc', '--project', 'test/types'];
  const { status, stdout } = spawnSync(process.execPath, tsc, { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});
