/** What the core, the store and responses say went wrong, as the error that callers get. */
import type { CoreError, Failure, StorageFailure, StorageFault } from './contract.js';
import { HeadsupError } from './errors.js';

/** JSON-RPC's code for what a caller got wrong. */
export const INVALID_PARAMS = -32602;

/** The code for what this host does not offer. */
const UNAVAILABLE = -32601;

/** The error member of a response. */
export interface ErrorMember {
  code: number;
  message: string;
  data?: { reason?: string; field?: string };
}

/** The error that a response says. */
export function fromResponse({ code, message, data }: ErrorMember): HeadsupError {
  return new HeadsupError(data?.reason ?? 'unknown', message, code, data?.field);
}

/** The error side of a typed export. */
export function fromCore(error: CoreError): HeadsupError {
  if (error.tag === 'storage') return fromStorage(error.val);
  const { reason, message, field } = error.val;
  return new HeadsupError(reason, message, INVALID_PARAMS, field);
}

/** A store that could not be opened or used. */
export function fromStorage({ fault, message }: StorageFailure): HeadsupError {
  return new HeadsupError(STORAGE_WORDS[fault], message);
}

const STORAGE_WORDS: Record<StorageFault, string> = {
  busy: 'store-busy',
  full: 'store-full',
  corrupt: 'store-corrupt',
  'read-only': 'store-read-only',
  'too-new': 'store-too-new',
  'foreign-schema': 'foreign-schema',
  failed: 'store-failed',
};

/** A failure outside the core. */
export function fromFailure(failure: Failure): HeadsupError {
  switch (failure.tag) {
    case 'storage':
      return fromStorage(failure.val);
    case 'trap':
      return new HeadsupError('plugin-trap', `the core trapped: ${failure.val}`);
    case 'unavailable':
      return new HeadsupError('unavailable', failure.val, UNAVAILABLE);
    case 'timeout':
      return new HeadsupError('plugin-timeout', `the core did not return within ${failure.val} ms`);
    case 'overloaded':
      return new HeadsupError('overloaded', 'too many calls are waiting; try again later');
    case 'too-long':
      return new HeadsupError('too-long', `the request has more than ${failure.val} bytes`, -32600);
    case 'too-many':
      return new HeadsupError('too-many', `the batch has more than ${failure.val} requests`, -32600);
    case 'not-utf8':
      return new HeadsupError('not-utf8', 'the request is not UTF-8', -32700);
  }
}
