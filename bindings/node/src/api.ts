/**
 * What goes into the methods of {@link Headsup} and what comes out: the values of docs/api.md, under
 * the names that stand there.
 */

/** A session: its key, where the agent follows from it, or the key with its agent. */
export type Session = string | { key: string; agent?: string };

/** Who did something. Actors are the same when their ids are, whatever their types. */
export interface Actor {
  /** A person; a turn that another session sent, whose key is the id; or the gateway by itself. */
  type: 'human' | 'agent' | 'system';
  /** An agent-qualified key, or any id of at most 256 bytes without white space. */
  id?: string;
}

/** What every signal has. */
interface Common {
  /** The session that changed. */
  session: Session;
  /** Who did it. */
  actor: Actor;
  /** The run it belongs to: at most 256 bytes, no white space. */
  runId?: string;
  /** The incarnation of the session: at most 256 bytes, no white space. */
  sessionId?: string;
  /** When, in ms since the Unix epoch; clamped into the last 24 h. Default: now. */
  occurredAt?: number;
  /** Makes recording idempotent within its session while the event is kept; at most 256 bytes. */
  dedupeKey?: string;
  /** Keys of sessions that should watch, the parent, say: at most 1,000. */
  watchers?: readonly string[];
}

/** A state change that a producer wants recorded. There is no field for message content, on purpose. */
export type Signal =
  | (Common & {
      /** A human sent a turn directly to the session. Notifies. */
      kind: 'human_direct_message';
      actor: Actor & { type: 'human' };
      /** The channel's name, at most 64 characters. */
      channel?: string;
      /** How many turns it stands for, from 1 to 4,294,967,295. Default 1. */
      turns?: number;
    })
  | (Common & {
      /** An adopted session's upstream source disappeared. Notifies. */
      kind: 'upstream_missing';
      catalog: string;
    })
  | (Common & {
      /** The session's goal changed. Notifies. */
      kind: 'goal_changed';
      change: 'created' | 'updated' | 'cleared';
    })
  | (Common & {
      /** The session was created as somebody's child: the parents, or else the actor, watch it. */
      kind: 'child_spawned';
      runId: string;
    })
  | (Common & {
      /** A run of this child session ended well. Log only. */
      kind: 'run_completed';
      runId: string;
    })
  | (Common & {
      /** A run of this child session ended badly. Log only. */
      kind: 'run_failed';
      runId: string;
      outcome: 'error' | 'timeout' | 'cancelled';
    })
  | (Common & {
      /** The session's history was compacted. Log only. */
      kind: 'compacted';
      operationId: string;
    })
  | (Common & {
      /** The session was adopted from another tool's catalog. Log only. */
      kind: 'adopted';
      catalog: string;
      host?: string;
    })
  | (Common & {
      /** The session was created. Log only. */
      kind: 'created';
    });

/** The words for the nine kinds of signal. */
export type Kind = Signal['kind'];

/** What became of a signal. A store or core that fails is an outcome: recording never throws for it. */
export type Outcome =
  /** It was recorded; or an event with its dedupe key exists. The session's state version by then. */
  | { outcome: 'recorded' | 'duplicate'; stateVersion: number }
  /** A human direct message on a session nobody watches. Nothing was written. */
  | { outcome: 'unwatched' }
  /** Nothing was written, and a `log` event says more. The reason is a word such as `store-busy`. */
  | { outcome: 'failed'; reason: string };

/** One coalesced notice, as `take` gives it. */
export interface PendingNotice {
  /** The key of the session that changed. */
  target: string;
  /** Its agent. */
  agent: string;
  /** The version the watcher has seen: ask for the changes after it. */
  since: number;
  /** The newest version this notice stands for. */
  upTo: number;
  /** One line for the agent. */
  text: string;
}

/** A notice that opened, as the event says it. */
export interface Notice extends PendingNotice {
  /** Whose notice. */
  watcher: string;
}

/** A watcher that should run. */
export interface Wake {
  watcher: string;
}

/** A line for the operator; never message content. */
export interface LogLine {
  level: 'error' | 'warn' | 'info' | 'debug';
  message: string;
}

/** Names a notice that was taken; `agent` may be left out where the key is qualified. */
export interface Receipt {
  target: string;
  agent?: string;
  since: number;
  upTo: number;
  text?: string;
}

/** The answer to `watch`. */
export type WatchAnswer =
  | { watched: true }
  | { watched: false; reason: 'not-agent-qualified' | 'watcher-is-target' };

/** A live watch with its three positions. */
export interface Watch {
  watcher: string;
  target: string;
  agent: string;
  provenance: 'spawn' | 'explicit' | 'ambient';
  lastSeen: number;
  notified: number;
  material: number;
  /** Whether a notice is open. */
  pending: boolean;
  /** When it expires if neither it nor its target moves again, in ms since the Unix epoch. */
  expiresAt: number;
  /** The target's state version; absent where nothing was recorded. */
  stateVersion?: number;
}

/** A recorded signal. */
export interface Event {
  sequence: number;
  kind: Kind;
  actorType: Actor['type'];
  actorId?: string;
  runId?: string;
  /** In ms since the Unix epoch. */
  occurredAt: number;
  /** One line that the core wrote from typed fields. */
  summary: string;
  payload?: Record<string, unknown>;
}

/** What changed after a version. */
export interface Changes {
  /** By sequence ascending. */
  events: Event[];
  /** There are more: ask again after the last event's sequence. */
  truncated: boolean;
  /** The delta is not whole: refresh the session instead of trusting it. Never true otherwise. */
  historyGap: boolean;
}

/** The agent-facing answer of `status`. */
export interface Status {
  stateVersion: number;
  /** Present where a version was asked for. */
  stateChanges?: Changes;
}

/** What went with a session. */
export interface Removal {
  cursors: number;
  events: number;
}

/** Where an adopted session really lives. */
export type Source =
  | { kind: 'claude-jsonl' | 'codex-jsonl'; path: string }
  | { kind: 'claude-node'; node: string; thread: string };

/** A session to adopt. */
export interface Adoption {
  session: Session;
  source: Source;
  /** The catalog's name, 1 to 64 characters. */
  catalog: string;
  /** The machine, at most 256 bytes. */
  host?: string;
  /** The thread's id in the catalog, at most 256 bytes. */
  thread?: string;
}

/** How many links a check found in which state. */
export interface Tally {
  checked: number;
  activity: number;
  missing: number;
  failed: number;
}

/** What the gateway has to read of a thread on a node. Hand it back as it is. */
export interface Plan {
  session: { key: string; agent: string };
  source: { kind: 'claude-node'; node: string; thread: string };
  items: number;
  revision: number;
}

/** What was found for a plan: transcript rows, oldest first; no such thread; or no answer. */
export type Findings =
  | { items: readonly (object | string)[] }
  | { missing: true }
  | { unavailable: true };

/** What feeding a plan did. */
export interface Feed {
  finding: 'quiet' | 'activity' | 'missed' | 'missing' | 'unavailable' | 'superseded';
  turns?: number;
  stateVersion?: number;
}

/** A tool to give to agents, in the shape of the Model Context Protocol. */
export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: Record<string, unknown>;
  annotations: Record<string, unknown>;
}

/** What a tool answered. */
export interface ToolResult {
  content: { type: 'text'; text: string }[];
  structuredContent: Record<string, unknown>;
  /** The agent got its arguments wrong; the result says what to do about it. */
  isError: boolean;
}

/** How long a store keeps things and how it words notices, for every process that shares it. */
export interface Policy {
  /** The sentence around the call, with `{call}` once or more and `{session}`; empty: the default. */
  noticeTemplate: string;
  /** Days that events are kept, 1 to 36,500. */
  historyDays: number;
  /** Events kept over all sessions, 1 to 1,000,000,000. */
  historyRows: number;
  /** Days until a cursor or mark expires that does not move, 1 to 36,500. */
  cursorDays: number;
}

/** Who a core is, as it says itself. */
export interface Metadata {
  /** Kebab-case. */
  name: string;
  /** Semantic version of the core. */
  version: string;
  /** Semantic version of the protocol it follows. */
  protocol: string;
}
