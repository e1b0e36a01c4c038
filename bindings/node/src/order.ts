/**
 * Compares texts byte by byte in UTF-8, as storage does. JavaScript's own order goes by UTF-16 units,
 * which puts what lies beyond U+FFFF before U+E000.
 */
export function byBytes(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const left = one.charCodeAt(at);
    const right = other.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return one.length - other.length;
}

/** Halves of pairs stand for what lies beyond every other unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit;
}
