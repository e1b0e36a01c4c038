/** Which bytes of an open file are read. */
import type { FileHandle } from 'node:fs/promises';

/** Most bytes of one read: 64 MiB, and some before them to recognise the place by. */
const MOST = (64 << 20) + 4_096;

/** What is read of either end of a file, in bytes. */
const END = 1 << 20;

/** Bytes before the end in which a line feed is looked for. */
const FURTHEST = 64 << 20;

/** Bytes looked at in one step. */
const STEP = 64 << 10;

const LINE_FEED = 0x0a;

/** What to read of a file: from a byte on, so many at most; or its beginning and its end. */
export type Extent = { start: number; atMost: number } | 'ends';

/** What was read. */
export interface Window {
  head: Uint8Array;
  /** Where `bytes` begin. */
  start: number;
  bytes: Uint8Array;
}

/** Reads a file that has this size; what has been added since is left to the next time. */
export async function readWindow(file: FileHandle, extent: Extent, size: number): Promise<Window> {
  if (extent !== 'ends') {
    const bytes = await read(file, extent.start, extent.atMost, size);
    return { head: new Uint8Array(), start: extent.start, bytes };
  }
  const start = await beforeEnd(file, size);
  const head = await read(file, 0, END, size);
  return { head, start, bytes: await read(file, start, MOST, size) };
}

/** So many bytes before the end, or twice as far and so on until a line feed follows. */
async function beforeEnd(file: FileHandle, size: number): Promise<number> {
  let lookedAt = size;
  for (let back = END; ; back = Math.min(back * 2, FURTHEST)) {
    const start = Math.max(size - back, 0);
    if (start === 0 || back >= FURTHEST || (await hasLineFeed(file, start, lookedAt))) return start;
    lookedAt = start;
  }
}

async function hasLineFeed(file: FileHandle, start: number, end: number): Promise<boolean> {
  for (let at = start; at < end; at += STEP) {
    if ((await read(file, at, STEP, end)).includes(LINE_FEED)) return true;
  }
  return false;
}

/** So many bytes from there, up to this end; fewer if the file has become shorter. */
async function read(
  file: FileHandle,
  start: number,
  atMost: number,
  end: number,
): Promise<Uint8Array> {
  const asked = Math.max(Math.min(atMost, MOST, end - start), 0);
  const bytes = new Uint8Array(asked);
  let filled = 0;
  while (filled < asked) {
    const { bytesRead } = await file.read(bytes, filled, asked - filled, start + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
