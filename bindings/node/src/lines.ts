/**
 * JSON-RPC over lines, as `headsup serve --stdio` speaks it: framing, batches and order. What a request
 * means is the component's business.
 */
import type { Failure } from './contract.js';
import type { Headsup } from './headsup.js';
import { elementsOf } from './json.js';
import { failedOrLastWords } from './wire.js';

/** Most requests in a batch, unless a server is told otherwise. */
const BATCH_LIMIT = 1_000;

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Answers lines over one store. `write` gets each response and each notification as one line without
 * its end: what a request causes comes before its response.
 */
export class LineServer {
  readonly #headsup: Headsup;
  readonly #write: (line: string) => void;

  /** Nothing of a store is heard here but by {@link listeners}, to be given when it is opened. */
  constructor(headsup: Headsup, write: (line: string) => void) {
    this.#headsup = headsup;
    this.#write = write;
  }

  /**
   * What to open a store with, so that its news is written as notifications, from the first on. Of the
   * log, only errors and warnings go to the other side.
   */
  static listeners(write: (line: string) => void) {
    const notify = (method: string, params: object) => {
      write(JSON.stringify({ jsonrpc: '2.0', method, params }));
    };
    return {
      notice: (notice: object) => notify('notice', notice),
      wake: (wake: object) => notify('wake', wake),
      log: (line: { level: string }) => {
        if (line.level === 'error' || line.level === 'warn') notify('log', line);
      },
    };
  }

  /** Answers line by line until the input ends. A line that is too long is read to its end, not kept. */
  async serve(input: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const line of linesOf(input, this.#headsup.runtime.settings.requestLimit)) {
      if (line === undefined) await this.#tooLong();
      else await this.answer(line);
    }
  }

  /** Answers one line, without its end. */
  async answer(line: Uint8Array): Promise<void> {
    const text = decoded(line);
    if (text === undefined) {
      const limit = this.#headsup.runtime.settings.requestLimit;
      if (line.length > limit) await this.#tooLong();
      else await this.#failed({ tag: 'not-utf8' });
    } else if (/[^ \t\r]/.test(text)) {
      await this.#answerText(text);
    }
    // Only once the response is out: nobody waits for pruning.
    this.#headsup.tidy();
  }

  async #answerText(text: string): Promise<void> {
    const batch = /^[ \t\r]*\[/.test(text) ? elementsOf(text) : undefined;
    if (batch === undefined || batch.length === 0) {
      this.#respond(await this.#headsup.call(text));
    } else if (batch.length > BATCH_LIMIT) {
      await this.#failed({ tag: 'too-many', val: BATCH_LIMIT });
    } else {
      const responses: string[] = [];
      for (const request of batch) {
        const response = await this.#headsup.call(request);
        if (response !== undefined) responses.push(response);
      }
      if (responses.length > 0) this.#write(`[${responses.join(',')}]`);
    }
  }

  #tooLong(): Promise<void> {
    const limit = BigInt(this.#headsup.runtime.settings.requestLimit);
    return this.#failed({ tag: 'too-long', val: limit });
  }

  async #failed(failure: Failure): Promise<void> {
    this.#respond((await failedOrLastWords(this.#headsup.runtime, '', failure)).text);
  }

  #respond(response: string | undefined): void {
    if (response !== undefined) this.#write(response);
  }
}

function decoded(line: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line);
  } catch {
    return undefined;
  }
}

/** Splits an input into lines without their ends, of at most so many bytes; nothing for a longer one. */
async function* linesOf(
  input: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array | undefined> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const take = (): Uint8Array | undefined => {
    let line: Uint8Array = Buffer.concat(pieces);
    if (line.at(-1) === CARRIAGE_RETURN) line = line.subarray(0, -1);
    const isWhole = length <= limit + 1 && line.length <= limit;
    pieces = [];
    length = 0;
    return isWhole ? line : undefined;
  };
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  if (length > 0) yield take();

  function keep(piece: Uint8Array): void {
    length += piece.length;
    // One more for a carriage return that does not count.
    if (length > limit + 1) pieces = [];
    else pieces.push(piece);
  }
}
