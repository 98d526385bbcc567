// Slow readers: many at once over both transports, each reading a piece, pausing, reading the next. Some leave in the
// middle; the others get what a fast reader gets. An export is compressed if there is time for it, and plain otherwise.
import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import type { Random } from '../../support/random.ts';
import { outcomeOf, type Strain } from '../strain.ts';

const READERS = 24;
const PAUSE_MS_MAX = 60;
/** After this many pieces a reader stops pausing, so that the turn ends. */
const SLOW_PIECES = 40;
const LEAVE_CHANCE = 0.3;

const LIST = '/api/v3/observations/';
/** Responses of every size: pages, whole exports, and both compressed. */
const TARGETS = [
  `${LIST}?limit=20000`,
  `${LIST}?format=ndjson`,
  `${LIST}?format=csv`,
  `${LIST}?limit=500&ordering=-ob_id`,
];

/** The pace of a reader. Without it, a reader reads as fast as it can. */
interface Slowness {
  readonly pauseMs: number;
  /** Number of pieces before it leaves. */
  readonly leavesAfter: number;
}

/** Slow readers of one response side by side, compared with a fast one. */
export const slowReaders: Strain = {
  name: 'slow readers',
  isCrowd: true,
  run: async (random, { server }) => {
    const target = random.pick(TARGETS);
    const encoding = random.pick(['identity', 'gzip']);
    const ports = [server.port, server.http10Port];
    const whole = await Promise.all(ports.map((port) => digestOf(port, target, encoding)));
    const slow = Array.from({ length: READERS }, (_, i) => ({ at: i % 2, ...slownessOf(random) }));
    const read = slow.map(({ at, ...slowness }) => digestOf(ports[at]!, target, encoding, slowness));
    const finds = (await Promise.all(read)).flatMap((digest, i) => {
      const expected = whole[slow[i]!.at];
      return digest === undefined || digest === expected
        ? []
        : [`${target} (${encoding}), slowly: ${digest}, not ${expected}`];
    });
    return outcomeOf({ tried: READERS, finds });
  },
};

function slownessOf(random: Random): Slowness {
  const leavesAfter = random.chance(LEAVE_CHANCE) ? random.integer(1, SLOW_PIECES) : Infinity;
  return { pauseMs: random.integer(0, PAUSE_MS_MAX), leavesAfter };
}

/** Status, length and digest of the decompressed response, or what went wrong; undefined for a reader that left. */
async function digestOf(
  port: number,
  path: string,
  encoding: string,
  slowness?: Slowness,
): Promise<string | undefined> {
  const headers = { 'accept-encoding': encoding };
  const request = get({ host: '127.0.0.1', port, path, headers, agent: false });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  try {
    const answer = await answered;
    const isGzip = answer.headers['content-encoding'] === 'gzip';
    const body = isGzip ? pipeline(answer, createGunzip(), () => undefined) : answer;
    const hash = createHash('sha256');
    let [bytes, pieces] = [0, 0];
    for await (const piece of body as AsyncIterable<Buffer>) {
      hash.update(piece);
      bytes += piece.length;
      if (slowness === undefined) continue;
      if (++pieces > slowness.leavesAfter) return undefined;
      if (pieces <= SLOW_PIECES) await delay(slowness.pauseMs);
    }
    return `${answer.statusCode} ${bytes} bytes ${hash.digest('hex')}`;
  } catch (error) {
    return String(error);
  } finally {
    request.destroy();
  }
}
