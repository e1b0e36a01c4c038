/** What looking for a file can come to, in the contract's words. */
import type { Found } from '../contract.js';
import { systemCode } from '../storage/place.js';

/** The longest reason, in bytes. */
const REASON_BYTES = 256;

/** It could not be read this time. */
export function unavailable(why: string): Found {
  return { tag: 'unavailable', val: reason(why) };
}

/** It may not be read by this host. */
export function refused(why: string): Found {
  return { tag: 'refused', val: reason(why) };
}

/** It is definitively not there. */
export const MISSING: Found = { tag: 'missing' };

/** Whether this says that there is nothing of this name. */
export function isAbsence(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error));
}

/** What the system says of a file that could not be read. */
export function systemWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Words on one line and within the contract's bound: a path may hold anything. */
function reason(words: string): string {
  const line = words.replace(/\p{Cc}/gu, ' ');
  const { read } = new TextEncoder().encodeInto(line, new Uint8Array(REASON_BYTES));
  return line.slice(0, read);
}
