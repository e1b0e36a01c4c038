// A process that serves a store over lines: `headsup serve --stdio`, or the example in Node.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const STDIO = fileURLToPath(new URL('../../examples/stdio.js', import.meta.url));

/** The command `headsup` of this repository, or nothing if it was not built. */
export const COMMAND = [
  process.env.HEADSUP_COMMAND,
  fileURLToPath(new URL('../../../../target/debug/headsup', import.meta.url)),
].find((path) => path && existsSync(path));

/** Why tests that need it are left out. */
export const WITHOUT_COMMAND = COMMAND
  ? false
  : 'headsup: left out: sharing a store with the host in Rust, because target/debug/headsup is not built';

const PYTHON_SOURCE = fileURLToPath(new URL('../../../python/src', import.meta.url));

/** Python with what the binding for it needs, or nothing if that was not set up. */
const PYTHON = [
  process.env.HEADSUP_PYTHON,
  fileURLToPath(new URL('../../../../target/python-venv/bin/python', import.meta.url)),
].find((path) => path && existsSync(path));

/** Why tests that need Python, too, are left out. */
export const WITHOUT_PYTHON =
  WITHOUT_COMMAND ||
  (PYTHON
    ? false
    : 'headsup: left out: sharing a store with the host in Python, because target/python-venv is not set up');

/** A serving process. */
export class Server {
  #process;
  #lines;
  #nextId = 1;
  /** Notifications that came so far. */
  news = [];

  constructor(command, args, env = {}) {
    const stdio = ['pipe', 'pipe', 'inherit'];
    this.#process = spawn(command, args, { stdio, env: { ...process.env, ...env } });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  /** The host in Rust. */
  static rust(db, ...args) {
    return new Server(COMMAND, ['serve', '--stdio', '--db', db, ...args]);
  }

  /** The host in Python, the component in its own engine. */
  static python(db, ...args) {
    const engine = ['-m', 'headsup.stdio', '--engine', 'component', '--db', db];
    return new Server(PYTHON, [...engine, ...args], { PYTHONPATH: PYTHON_SOURCE });
  }

  /** The host in Node. */
  static node(db, ...args) {
    return new Server(process.execPath, [STDIO, '--db', db, ...args]);
  }

  /** Sends a line as it is. */
  send(line) {
    this.#process.stdin.write(`${line}\n`);
  }

  /** The next line that comes, as a value; nothing at the end. */
  async next() {
    const { value, done } = await this.#lines.next();
    return done ? undefined : JSON.parse(value);
  }

  /** What a method answers. */
  async call(method, params) {
    const id = this.#nextId++;
    this.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    for (;;) {
      const message = await this.next();
      if (message === undefined) throw new Error(`the server ended before it answered ${method}`);
      if (message.id === id) {
        if (message.error) throw Object.assign(new Error(message.error.message), message.error.data);
        return message.result;
      }
      this.news.push(message);
    }
  }

  /** Kills the process as a crash would. */
  async kill() {
    this.#process.kill('SIGKILL');
    await once(this.#process, 'exit');
  }

  /** Ends its input and waits for it; returns its exit status. */
  async end() {
    this.#process.stdin.end();
    const [status] = await once(this.#process, 'exit');
    return status;
  }
}
