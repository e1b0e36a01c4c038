// Folders that go with their test.
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder, removed after the test. */
export function folderOf(t) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'headsup-node-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
