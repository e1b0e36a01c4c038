/** JSON as far as a host has to look at it: one request's method, one response's shape, one batch's elements. */

/** Longest response that a core may give, in bytes. */
const RESPONSE_BYTES = 64 * 1024 * 1024;

/** The members of a request; nothing if it is no JSON object. */
export function membersOf(request: string): Record<string, unknown> | undefined {
  const value = parsed(request);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : undefined;
}

/** The method of a request, if it is a request at all. */
export function methodOf(request: string): string {
  const method = membersOf(request)?.['method'];
  return typeof method === 'string' ? method : '';
}

/**
 * What the core returned, as a value. Throws if it cannot be the response to this request: one JSON
 * object on one line, and none only where the request has no id.
 */
export function checkedResponse(request: string, response: string | undefined): unknown {
  if (response === undefined) {
    const members = membersOf(request);
    if (members !== undefined && !Object.hasOwn(members, 'id')) return undefined;
    throw new Error('the core returned no response to a request that has an id');
  }
  const fits = response.startsWith('{') && !/[\n\r]/.test(response);
  const value = fits && Buffer.byteLength(response) <= RESPONSE_BYTES && parsed(response);
  if (typeof value === 'object' && value !== null) return value;
  throw new Error('the core returned something that is not a JSON object on one line');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The elements of a batch as they are spelled, which may be anything; nothing if the line is no list.
 * Parsing and writing them again would change how numbers and members that stand twice are spelled.
 */
export function elementsOf(line: string): string[] | undefined {
  if (!Array.isArray(parsed(line))) return undefined;
  const elements: string[] = [];
  // The line is JSON: every bracket outside a text has its partner.
  const token = /"(?:[^"\\]|\\.)*"|[[\]{},]/g;
  let depth = 0;
  let start = line.indexOf('[') + 1;
  for (let match = token.exec(line); match !== null; match = token.exec(line)) {
    const [symbol] = match;
    if (symbol === '[' || symbol === '{') depth += 1;
    if (symbol === ']' || symbol === '}') depth -= 1;
    const ends = depth === 0 || (depth === 1 && symbol === ',');
    if (!ends) continue;
    const element = line.slice(start, match.index).trim();
    if (element !== '') elements.push(element);
    start = token.lastIndex;
  }
  return elements;
}
