/** Why a call failed, in words for programs and for people. */

/** The code for a store or a core that failed. */
const FAILED = -32000;

/** What everything says after `close`. */
export const CLOSED = 'the store was closed; open it again';

/** Why a call failed. Whatever it is, the call changed nothing. */
export class HeadsupError extends Error {
  /** The stable kebab-case word, as in the table of docs/api.md: `agent-required`, `store-busy`. */
  readonly reason: string;
  /** The offending field as the caller wrote it: `signals[3].actor.id`; absent if none is at fault. */
  readonly field: string | undefined;
  /** JSON-RPC's code: -32602 for bad input, -32000 for a store or a core that failed. */
  readonly code: number;

  /** @internal */
  constructor(reason: string, message: string, code: number = FAILED, field?: string) {
    super(message);
    this.name = 'HeadsupError';
    this.reason = reason;
    this.code = code;
    this.field = field;
  }
}
