/** The verbs for sources of adopted sessions: `upstream-of`, `save-upstream` and `claim`. */
import type { ClaimRequest, Link, Session, Upstream } from '../contract.js';
import { Problem } from './failure.js';
import { count, given, number, optional, optionalNumber, optionalText, stored, text } from './rows.js';
import type { SqlRow, Statements } from './statements.js';

const LINKS = 'session_upstream_links';
const TURNS = 'headsup_own_turns';

/** `storage.upstream-of`. */
export function upstreamOf(statements: Statements, session: Session): Upstream {
  const row = statements.row('upstream_of', ofSession(session));
  if (row === undefined) throw new Problem('failed', 'SQLite found no row where there is always one');
  return upstream(row);
}

/** `storage.save-upstream`. */
export function saveUpstream(statements: Statements, kept: Upstream, now: bigint): void {
  const session = ofSession(kept.session);
  if (kept.link === undefined) statements.run('delete/link', session);
  else saveLink(statements, kept.session, kept.link);
  if (kept.sent === '' && kept.runningUntil <= now) {
    statements.run('delete/turns', session);
    return;
  }
  statements.run('save_upstream/turns', {
    ...session,
    sent: kept.sent,
    running_until: stored(kept.runningUntil),
    now: stored(now),
  });
}

function saveLink(statements: Statements, session: Session, link: Link): void {
  statements.run('save_upstream/link', {
    ...ofSession(session),
    source_kind: link.source.kind,
    source_place: link.source.place,
    source_thread: optional(link.source.thread),
    catalog: link.catalog,
    generation: stored(link.generation),
    revision: stored(link.revision),
    misses: BigInt(link.misses),
    claimed: link.claimed ? 1n : 0n,
    state_json: link.state,
  });
}

/** `storage.claim`. */
export function claim(statements: Statements, request: ClaimRequest): Upstream[] {
  const due = statements.rows('claim/due', {
    kinds: JSON.stringify(request.kinds),
    now: stored(request.now),
    until: stored(request.until),
    running_at_most: stored(request.runningAtMost),
    claimed_too: request.claimedToo ? 1n : 0n,
  });
  const links = due.map(upstream);
  for (const { session } of links) {
    statements.run('claim/take', {
      ...ofSession(session),
      now: stored(request.now),
      until: stored(request.until),
    });
  }
  return links;
}

/** Whether any session is adopted. */
export function hasLinks(statements: Statements): boolean {
  return statements.row('links/any')?.[0] === 1n;
}

function ofSession(session: Session): { session_key: string; agent_id: string } {
  return { session_key: session.key, agent_id: session.agent };
}

function upstream(row: SqlRow): Upstream {
  return {
    session: { key: text(row, 0), agent: text(row, 1) },
    watched: row[2] !== 0n,
    ...given('link', link(row)),
    sent: optionalText(row, 11) ?? '',
    runningUntil: optionalNumber(row, 12, TURNS) ?? 0n,
  };
}

function link(row: SqlRow): Link | undefined {
  const kind = optionalText(row, 3);
  if (kind === undefined) return undefined;
  return {
    source: { kind, place: text(row, 4), ...given('thread', optionalText(row, 5)) },
    catalog: text(row, 6),
    generation: number(row, 7, LINKS),
    revision: number(row, 8, LINKS),
    misses: count(row, 9, LINKS),
    claimed: true,
    state: text(row, 10),
  };
}
