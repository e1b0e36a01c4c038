// Builds the package into dist/: the component by jco, the SQL as it stands in host/sql, and the
// TypeScript. Everything else of dist/ goes first, so that nothing stale is packed.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import ts from 'typescript';

const root = new URL('../', import.meta.url);
const repository = new URL('../../', root);
const dist = new URL('dist/', root);

/** The component that `make component` builds. */
const component = process.env.HEADSUP_COMPONENT ?? new URL('target/guest/headsup.wasm', repository);

await fs.rm(dist, { recursive: true, force: true });
const { transpile } = await transpiler();
await writeComponent();
await fs.cp(new URL('host/sql/', repository), new URL('sql/', dist), { recursive: true });
compile();

/** The transpiler is part of the package, and the first thing of it that is needed. */
async function transpiler() {
  const source = await fs.readFile(new URL('src/core/transpile.ts', root), 'utf8');
  const { compilerOptions } = ts.readConfigFile(fileURLToPath(new URL('tsconfig.json', root)), ts.sys.readFile).config;
  const { outputText } = ts.transpileModule(source, { compilerOptions: { ...compilerOptions, module: 'ESNext', moduleResolution: 'Bundler' } });
  const script = new URL('core/transpile.js', dist);
  await fs.mkdir(new URL('./', script), { recursive: true });
  await fs.writeFile(script, outputText);
  return import(script);
}

async function writeComponent() {
  const bytes = await fs.readFile(component).catch(() => {
    throw new Error(`there is no component at ${component}: run \`make component\` first`);
  });
  const folder = new URL('component/', dist);
  for (const [name, content] of await transpile(bytes)) {
    const file = new URL(name, folder);
    await fs.mkdir(new URL('./', file), { recursive: true });
    await fs.writeFile(file, content);
  }
}

function compile() {
  const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', root));
  const { status } = spawnSync(process.execPath, [tsc, '--project', fileURLToPath(root)], { stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}
