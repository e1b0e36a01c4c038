// Behaves like `headsup serve --stdio`: one JSON-RPC request or batch a line on standard input, one
// response, batch of responses or notification a line on standard output.
//
//   node examples/stdio.js --db PATH [--manual-clock[=MS]] [--plugin FILE] [--durability full|normal]
import { writeSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { Headsup, LineServer } from 'headsup';

const USAGE = 'usage: stdio.js --db PATH [--manual-clock[=MS]] [--plugin FILE] [--durability full|normal]';

function fail(status, message) {
  process.stderr.write(`headsup: ${message}\n`);
  process.exit(status);
}

/** `--manual-clock` alone means 0, which `parseArgs` cannot say. */
function options() {
  const args = process.argv.slice(2).map((arg) => (arg === '--manual-clock' ? '--manual-clock=0' : arg));
  try {
    const text = { type: 'string' };
    const { values } = parseArgs({
      args,
      options: { db: text, 'manual-clock': text, plugin: text, durability: text },
    });
    if (values.db === undefined) fail(2, USAGE);
    return {
      path: values.db,
      ...(values['manual-clock'] === undefined ? {} : { manualClock: Number(values['manual-clock']) }),
      ...(values.plugin === undefined ? {} : { plugin: values.plugin }),
      ...(values.durability === undefined ? {} : { durability: values.durability }),
    };
  } catch (error) {
    return fail(2, `${error.message}\n${USAGE}`);
  }
}

/** Writes a line whole, so that a response is out before the next request is looked at. */
function write(line) {
  let rest = Buffer.from(`${line}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // Nobody reads any more.
      if (error.code === 'EPIPE') process.exit(0);
      // A pipe that is full and does not wait.
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

let headsup;
try {
  headsup = await Headsup.open({ ...options(), monitorUpstreams: true, on: LineServer.listeners(write) });
} catch (error) {
  fail(error instanceof TypeError || error instanceof RangeError ? 2 : 1, error.message);
}
await new LineServer(headsup, write).serve(process.stdin);
headsup.close();
