// The page docs/embedding/node.md: what stands there to be copied runs as it stands.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { folderOf } from './support/folder.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(new URL('../../../docs/embedding/node.md', import.meta.url), 'utf8');
const programs = [...page.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, program]) => program);

/** Runs a program in a folder of its own in which the package is installed. */
function run(t, program, input = '') {
  const folder = folderOf(t);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(root, join(folder, 'node_modules', 'headsup'));
  writeFileSync(join(folder, 'program.mjs'), program);
  const { status, stdout, stderr } = spawnSync(process.execPath, ['program.mjs'], { cwd: folder, input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

test('the minimum runs', (t) => {
  const said = run(t, programs[0]);
  assert.match(said, /start a turn of agent:main:main/);
  assert.match(said, /Session "agent:main:subagent:child" was changed by someone else/);
  assert.match(said, /goal updated/);
});

test('the server of lines runs', (t) => {
  const said = run(t, programs[1], '{"jsonrpc":"2.0","id":1,"method":"pending"}\n');
  assert.equal(said, '{"jsonrpc":"2.0","id":1,"result":{"watchers":[]}}\n');
});

test('every method and every option is named', async () => {
  const { Headsup } = await import('headsup');
  const methods = Object.getOwnPropertyNames(Headsup.prototype).filter((name) => !['constructor', 'runtime'].includes(name));
  const options = readFileSync(new URL('../src/options.ts', import.meta.url), 'utf8').matchAll(/^ {2}(\w+)\??:/gm);
  for (const name of [...methods, ...[...options].map(([, option]) => option)]) {
    assert.ok(page.includes(`\`${name}\``) || page.includes(`\`${name}(`), name);
  }
});
