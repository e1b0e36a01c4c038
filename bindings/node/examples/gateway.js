// A gateway in one file: an HTTP server with two sessions, a parent and the child that it spawned.
//
//   node examples/gateway.js [--port 8787] [--db :memory:]
//
// A human writes straight into the child; the parent's next turn shows the notice, catches up on
// exactly what it missed, and acknowledges:
//
//   curl -X POST localhost:8787/child/messages -d '{"from":"ana","text":"forget that, do this"}'
//   curl -X POST localhost:8787/parent/turns
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

import { Headsup } from 'headsup';

const PARENT = 'agent:main:main';
const CHILD = 'agent:main:subagent:child';

const { values } = parseArgs({
  options: { port: { type: 'string', default: '8787' }, db: { type: 'string', default: ':memory:' } },
});

const headsup = await Headsup.open({
  path: values.db,
  on: {
    notice: ({ watcher, text }) => console.log(`notice for ${watcher}: ${text}`),
    // A real gateway starts a turn of this session here.
    wake: ({ watcher }) => console.log(`wake ${watcher}`),
    log: ({ level, message }) => console.log(`${level}: ${message}`),
  },
});

// The parent spawned the child: from now on it hears of what others do there.
headsup.record({
  session: CHILD,
  kind: 'child_spawned',
  actor: { type: 'agent', id: PARENT },
  runId: 'run-1',
});

/** The text goes to the child's own history, which is the gateway's; headsup has no place for it. */
const history = [];

const routes = {
  /** A human sends a turn directly to the child. */
  'POST /child/messages': ({ from, text }) => {
    const recorded = headsup.record({
      session: CHILD,
      kind: 'human_direct_message',
      actor: { type: 'human', id: from },
      channel: 'http',
    });
    history.push({ from, text });
    return recorded;
  },
  /** A turn of the parent: shows what is pending, catches up, and says so once the turn carries it. */
  'POST /parent/turns': () => {
    const notices = headsup.take(PARENT);
    const caughtUp = notices.map(({ target, since }) => ({
      target,
      ...headsup.changesSince(target, since),
    }));
    headsup.acknowledge(PARENT, notices);
    return { prompt: notices.map(({ text }) => text), caughtUp };
  },
  /** Whom the parent watches, and what is pending. */
  'GET /parent': () => ({ watches: headsup.watches({ watcher: PARENT }) }),
};

const server = createServer(async (request, response) => {
  const route = routes[`${request.method} ${request.url}`];
  let status = 200;
  let answer;
  try {
    if (!route) throw Object.assign(new Error('there is no such route'), { status: 404 });
    answer = route(JSON.parse((await bodyOf(request)) || '{}'));
  } catch (error) {
    // Bad input names the field; anything else of headsup's is the store's or the core's.
    status = error.status ?? (error.code === -32602 || error instanceof SyntaxError ? 400 : 500);
    answer = { error: error.message, reason: error.reason, field: error.field };
  }
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(answer, null, 2)}\n`);
});

async function bodyOf(request) {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk;
    if (body.length > 65_536) throw Object.assign(new Error('the body is too long'), { status: 413 });
  }
  return body;
}

server.listen(Number(values.port), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close();
    server.closeAllConnections();
    headsup.close();
  });
}
