// Compiled, and never run: what the types allow, and what they refuse.
import { Headsup, type HeadsupError, type Outcome, type Signal } from 'headsup';

const headsup: Headsup = await Headsup.open({ path: ':memory:', durability: 'normal', manualClock: 0 });

headsup.on('notice', ({ watcher, target, since, upTo, text }) => {
  const line: string = `${watcher} ${target} ${since + upTo} ${text}`;
  return line;
});
headsup.once('wake', ({ watcher }) => watcher.length);
headsup.on('log', ({ level }) => level === 'error');

const signal: Signal = { session: 'agent:main:w', kind: 'created', actor: { type: 'system' } };
const outcome: Outcome = headsup.record(signal);
if (outcome.outcome === 'recorded') outcome.stateVersion.toFixed();
if (outcome.outcome === 'failed') outcome.reason.length;

headsup.record({
  session: { key: 'global', agent: 'main' },
  kind: 'run_failed',
  actor: { type: 'agent', id: 'agent:main:main' },
  runId: 'r1',
  outcome: 'timeout',
});

const answer = headsup.watch('agent:main:main', 'agent:main:w', { ambient: true });
if (!answer.watched) answer.reason satisfies 'not-agent-qualified' | 'watcher-is-target';
const { events, historyGap } = headsup.changesSince('agent:main:w', 3, { limit: 10 });
if (!historyGap) events[0]?.summary.length;
headsup.acknowledge('agent:main:main', headsup.take('agent:main:main'));
headsup.status('agent:main:w').stateChanges?.truncated;
const versions: (number | null)[] = headsup.versions(['agent:main:w']);
const adopted: { adopted: boolean } = await headsup.adopt({
  session: 'agent:main:w',
  source: { kind: 'claude-node', node: 'mac', thread: 't' },
  catalog: 'claude',
});
for (const plan of headsup.planUpstreams()) headsup.feedUpstream(plan, { items: ['{}'] });
const refused = (error: HeadsupError): [string, string | undefined, number] => [error.reason, error.field, error.code];
void [versions, adopted, refused];
{
  using scoped = headsup;
  await using later = headsup;
  void [scoped, later];
}

// @ts-expect-error a kind that does not exist
headsup.record({ session: 'x', kind: 'message', actor: { type: 'human' } });
// @ts-expect-error a run that failed has an outcome
headsup.record({ session: 'x', kind: 'run_failed', actor: { type: 'human' }, runId: 'r' });
// @ts-expect-error there is no field for content
headsup.record({ session: 'x', kind: 'created', actor: { type: 'human' }, text: 'content' });
// @ts-expect-error only humans send human messages
headsup.record({ session: 'x', kind: 'human_direct_message', actor: { type: 'agent' } });
// @ts-expect-error a version is a number
headsup.changesSince('x', '1');
// @ts-expect-error both at once
headsup.watches({});
// @ts-expect-error no such option
await Headsup.open({ path: ':memory:', durabilty: 'full' });
// @ts-expect-error made by `open` alone
new Headsup();
// @ts-expect-error no such event
headsup.on('notices', () => {});
// @ts-expect-error of the host's own
headsup.runtime;
