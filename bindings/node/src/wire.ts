/**
 * The JSON surface: one JSON-RPC request in, at most one response out. The component answers; here it
 * is only decided which transaction a request needs, and what the host does first.
 */
import type { Errand, ErrandDone, Exports, Failure } from './contract.js';
import { Core } from './core/core.js';
import type { Answer } from './core/instance.js';
import { fromFailure } from './failures.js';
import { checkedResponse, methodOf } from './json.js';
import { type Runtime, unavailable } from './runtime.js';

/** A response as it was spelled, and as a value. */
export interface Response {
  text: string | undefined;
  value: unknown;
}

/**
 * Answers one request, whatever it is. Never throws: bad input, a failing store and a failing core are
 * responses too.
 */
export async function answer(runtime: Runtime, request: string): Promise<string | undefined> {
  const limit = runtime.settings.requestLimit;
  // No text has more bytes than three times its units.
  if (request.length * 3 > limit && Buffer.byteLength(request) > limit) {
    return (await failedOrLastWords(runtime, '', { tag: 'too-long', val: BigInt(limit) })).text;
  }
  const method = methodOf(request);
  if (runtime.access(method) === 'host') return (await answerHost(runtime, request)).text;
  const response = answerNow(runtime, method, request);
  return ('failure' in response
    ? await failedOrLastWords(runtime, request, response.failure)
    : response
  ).text;
}

/**
 * Answers a request of a method for which the host does nothing first; or says what failed outside
 * the core, for {@link failed} to word.
 */
export function answerNow(
  runtime: Runtime,
  method: string,
  request: string,
): Response | { failure: Failure } {
  let writes = runtime.access(method) === 'writes';
  if (runtime.access(method) === 'depends') {
    const asked = runtime.ask((core) => core.wire.writes(request));
    if (asked.tag === 'failed') return { failure: asked.value };
    writes = asked.value === true;
  }
  const body = (core: Exports) => ask(request, () => core.wire.call(request));
  return response(request, writes ? runtime.write(body) : runtime.read(body));
}

/**
 * Words the response to a request that failed outside the core, by the running core; nothing if it
 * cannot say it. Bad input is refused, whatever failed; a recording that was lost is logged.
 */
export function failed(
  runtime: Runtime,
  request: string,
  failure: Failure,
  core?: Core,
): Response | undefined {
  const body = (exports: Exports) => ask(request, () => exports.wire.failed(request, failure));
  try {
    const worded = runtime.ask(body, core);
    return worded.tag === 'ok' ? worded.value : undefined;
  } catch {
    // It cannot even be started.
    return undefined;
  }
}

/** The same; should the running core not be able to say it, by the built-in one, or without a core. */
export async function failedOrLastWords(
  runtime: Runtime,
  request: string,
  failure: Failure,
): Promise<Response> {
  const worded =
    failed(runtime, request, failure) ??
    failed(runtime, request, failure, await Core.builtIn().catch(() => undefined));
  return worded ?? lastWords(runtime, failure);
}

/** Should no core be able to say it. */
export function lastWords(runtime: Runtime, failure: Failure): Response {
  const { message, reason } = fromFailure(failure);
  runtime.courier.log('error', `no core words a failure: ${message}`);
  const error = { code: -32000, message, data: { reason } };
  const value = { jsonrpc: '2.0', id: null, error };
  return { text: JSON.stringify(value), value };
}

/** Answers a request for which the host does something first: the core says what. */
export async function answerHost(runtime: Runtime, request: string): Promise<Response> {
  const errand = runtime.ask((core) => core.wire.errandOf(request));
  if (errand.tag === 'refused') {
    const refused = checked(request, errand.value as string | undefined);
    return 'failure' in refused ? failedOrLastWords(runtime, request, refused.failure) : refused;
  }
  const done = errand.tag === 'ok' ? await perform(runtime, errand.value) : { failure: errand.value };
  const responded = 'failure' in done ? done : respond(runtime, request, done);
  return 'failure' in responded ? failedOrLastWords(runtime, request, responded.failure) : responded;
}

async function perform(
  runtime: Runtime,
  errand: Errand,
): Promise<ErrandDone | { failure: Failure }> {
  switch (errand.tag) {
    case 'move-clock':
      if (!runtime.clock.set(Number(errand.val))) {
        const why = "the clock is the system's: start with a manual clock to move it";
        return { failure: unavailable(why) };
      }
      await runtime.clockMoved();
      return { tag: 'clock-moved' };
    case 'read-source': {
      const found = errand.val === undefined ? undefined : await runtime.checks.readEnds(errand.val);
      return { tag: 'source-read', val: found };
    }
    case 'check-upstreams': {
      const checked = await runtime.checks.run({ tag: 'all' });
      if (checked.tag === 'ok') return { tag: 'upstreams-checked', val: checked.value };
      return { failure: checked.value };
    }
  }
}

/** Only an adoption still has something to write. */
function respond(
  runtime: Runtime,
  request: string,
  done: ErrandDone,
): Response | { failure: Failure } {
  const body = (core: Exports) => ask(request, () => core.wire.respond(request, done));
  return response(request, done.tag === 'source-read' ? runtime.write(body) : runtime.ask(body));
}

/** Calls the core, and counts an answer that is no response as a trap. */
function ask(request: string, call: () => string | undefined): Response {
  const text = call();
  return { text, value: checkedResponse(request, text) };
}

/** Either side of an answer is a response. */
function response(
  request: string,
  answer: Answer<Response>,
): Response | { failure: Failure } {
  switch (answer.tag) {
    case 'ok':
      return answer.value;
    case 'refused':
      return checked(request, answer.value as string | undefined);
    case 'failed':
      return { failure: answer.value };
  }
}

/** The error side was not looked at inside the transaction, which it undid. */
function checked(request: string, text: string | undefined): Response | { failure: Failure } {
  try {
    return { text, value: checkedResponse(request, text) };
  } catch (error) {
    return { failure: { tag: 'trap', val: (error as Error).message } };
  }
}
