// Builds the change feed of a generation from the change log.
import { setImmediate } from 'node:timers/promises';
import { GENERATION_DIGITS } from '../../engine/snapshot/loaded.ts';
import { encodeFeed, FEED_BYTES_MAX, FEED_GENERATIONS_MAX, type FeedPart, changeLogPath } from '../changeFeed.ts';
import { statIfExists } from '../files.ts';
import { changeKind, readFrames, type LogFrame } from './changeLog.ts';

/** Frames read per turn of the event loop. They take 10 ms. */
const TURN_FRAMES = 10;

/**
 * The encoded feed of a generation, from the change log next to its snapshot file. Returns undefined if there is no
 * log, or it does not contain the generation. The feed begins with the earliest generation since which the log is
 * complete and the changes fit `bytesMax`. Throws OperationError `file` or `input`. Cost: two passes over the log, with
 * pauses for other work. Memory: twice the feed.
 */
export async function encodeLogFeed(
  snapshot: string,
  generation: string,
  bytesMax = FEED_BYTES_MAX,
): Promise<Uint8Array | undefined> {
  const log = changeLogPath(snapshot);
  if (!statIfExists(log)) return undefined;
  let end: number | undefined;
  // The log may contain a generation more than once: the last occurrence is the current one.
  for await (const entry of withPauses(readFrames(log)))
    if (entry.frame.isLast && entry.frame.generation === generation) end = entry.end.bytes;
  return end === undefined ? undefined : encodeFeed(await feedParts(log, end, bytesMax));
}

async function feedParts(log: string, endBytes: number, bytesMax: number): Promise<readonly FeedPart[]> {
  let parts: { readonly generation: string; readonly lines: Uint8Array[] }[] = [];
  let bytes = 0;
  let isNew = true;
  for await (const { frame, end } of withPauses(readFrames(log))) {
    if (frame.isBase) [parts, bytes] = [[], 0];
    if (isNew) parts.push({ generation: frame.generation, lines: [] });
    isNew = frame.isLast;
    if (parts.length > 1) {
      const lines = Buffer.from(changeLines(frame));
      parts.at(-1)!.lines.push(lines);
      bytes += lines.length;
    }
    while (bytes > bytesMax || parts.length > FEED_GENERATIONS_MAX) {
      parts.shift();
      for (const { length } of parts[0]!.lines.splice(0)) bytes -= length;
    }
    if (end.bytes === endBytes) break;
  }
  return parts;
}

function changeLines({ generation, at, changes }: LogFrame): string {
  const head = { time: new Date(at * 1000).toISOString(), generation: generation.slice(0, GENERATION_DIGITS) };
  return changes
    .map((change) => {
      const { collection, id } = change;
      return `${JSON.stringify({ ...head, collection, id, change: changeKind(change) })}\n`;
    })
    .join('');
}

async function* withPauses<T>(steps: Iterable<T>): AsyncGenerator<T> {
  let framesLeft = TURN_FRAMES;
  for (const step of steps) {
    yield step;
    if (--framesLeft > 0) continue;
    framesLeft = TURN_FRAMES;
    await setImmediate();
  }
}
