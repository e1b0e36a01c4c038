/** The policy as a caller gave it. The contract's types have no room for what is not one. */
import type { Policy } from './api.js';
import { HeadsupError } from './errors.js';
import { INVALID_PARAMS } from './failures.js';

const MEMBERS: Record<keyof Policy, 'string' | 'number'> = {
  noticeTemplate: 'string',
  historyDays: 'number',
  historyRows: 'number',
  cursorDays: 'number',
};

/** Largest number that the contract's type holds; the core's own bounds are narrower. */
const LARGEST = 2 ** 32 - 1;

/** The same, if it can be one. Throws a {@link HeadsupError} that names the member; values are the core's to judge. */
export function policyOf(given: Policy): Policy {
  if (typeof given !== 'object' || given === null) refuse('wrong-type', 'policy', 'is no object');
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(MEMBERS, name)) refuse('unknown-field', name, 'does not exist here');
  }
  for (const [name, type] of Object.entries(MEMBERS)) {
    const value: unknown = given[name as keyof Policy];
    if (value === undefined) refuse('missing-field', name, 'is missing: give the whole policy');
    if (typeof value !== type) refuse('wrong-type', name, `is no ${type}`);
    if (typeof value === 'number' && !(Number.isInteger(value) && value >= 0 && value <= LARGEST)) {
      refuse('out-of-range', name, 'is no whole number within its bounds');
    }
  }
  return given;
}

function refuse(reason: string, field: string, why: string): never {
  throw new HeadsupError(reason, `${field} ${why}`, INVALID_PARAMS, field);
}
