// One suite for both transports: however many exports are read or measured at once, or pages made, a turn of the event
// loop does about as much work as for one, and other requests are answered in between. Steps and pieces are counted, so
// that the result has no noise: each time the scheduler reads its clock, a millisecond has passed.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { Disconnection, Handler } from '../../server/http/exchange.ts';
import { type Lane, Slices, type UnfinishedReason } from '../../workers/slices.ts';
import type { CollectionIndex } from '../../engine/index/table.ts';
import { collectionOf } from '../support/records.ts';
import { BASE_URL, handlerWith, NEVER_HEAVY } from '../support/smallCatalogue.ts';
import { servers, TRANSPORTS } from '../support/transports.ts';

/** More than run at once. With 60, some wait for more than 5 s on a busy machine and get 503. */
const CLIENTS = 40;
/** A few long records for Parquet, whose pages are 128 KiB: by the clock above, each of its pages takes a while. */
const observationsOf = (repeats: number, length = 400): CollectionIndex =>
  collectionOf(
    'observations',
    Array.from({ length }, (_, i) => `{"ob_id":${i + 1},"title":"t${i} ${'text, '.repeat(repeats)}"}`),
    BASE_URL,
  );
const OBSERVATIONS = { csv: observationsOf(300), parquet: observationsOf(2300, 100), page: observationsOf(5) };
const TARGETS = {
  csv: '/api/v3/observations/?format=csv&',
  parquet: '/api/v3/observations/?format=parquet&',
  page: '/browse/observations/?',
};
const BYTES_MIN = { csv: 1 << 19, parquet: 1 << 16, page: 1 << 16 };

/**
 * Limit of the work in one turn, by the clock above: the work that may be done at once, plus the step that exceeds it.
 */
const WORK_MAX = 5;
/** One piece for each 512 KiB, one cut by the end of a turn, and as many again when a socket was full. */
const PIECES_MAX = 8;

/**
 * Sends all requests at once while another client asks for missing paths. Posts the responses' bytes and the number of
 * 404s.
 */
const CLIENT = `
const { workerData: { port, method, clients, target }, parentPort } = require('node:worker_threads');
const { connect } = require('node:net');
let open = clients, bytes = 0, statuses = [], missing = 0;
const watcher = connect(port, '127.0.0.1');
const ask = () => watcher.write('GET /nothing HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n');
watcher.on('data', () => { missing++; if (open > 0) ask(); });
watcher.on('connect', () => {
  ask();
  for (let i = 0; i < clients; i++) {
    const socket = connect(port, '127.0.0.1');
    let isFirst = true;
    socket.on('data', (data) => {
      if (isFirst) statuses.push(data.toString('latin1', 9, 12));
      isFirst = false;
      bytes += data.length;
    });
    socket.on('close', () => {
      if (--open > 0) return;
      watcher.destroy();
      parentPort.postMessage({ bytes, missing, statuses });
    });
    socket.write(method + ' ' + target + 'ob_id!=' + i + ' HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n');
  }
});
`;

/** Slices that record the work of each turn of the event loop: measured at once or in steps, and pieces read. */
class NotedSlices extends Slices {
  readonly work = new Map<number, number>();
  readonly pieces = new Map<number, number>();
  #turn = 0;
  #isOver = false;

  constructor() {
    let now = 0;
    super(() => now++);
    const count = (): void => {
      this.#turn++;
      if (!this.#isOver) setImmediate(count);
    };
    count();
  }

  note(of: Map<number, number>): void {
    of.set(this.#turn, (of.get(this.#turn) ?? 0) + 1);
  }

  override spend(sinceMs: number): void {
    this.note(this.work);
    super.spend(sinceMs);
  }

  override run<T>(lane: Lane, work: () => T | undefined, client: Disconnection): Promise<T | UnfinishedReason> {
    const noted = (): T | undefined => {
      this.note(this.work);
      return work();
    };
    return super.run(lane, noted, client);
  }

  end(): void {
    this.#isOver = true;
  }
}

const mostOf = (counts: ReadonlyMap<number, number>): number => Math.max(0, ...counts.values());

describe.each(TRANSPORTS)('$name', (transport) => {
  const serve = servers(transport);

  test.each([
    ['GET', 'csv'],
    ['HEAD', 'csv'],
    ['GET', 'parquet'],
    ['GET', 'page'],
  ] as const)(`delays no client while ${CLIENTS} lists are requested at once by %s as %s`, async (method, format) => {
    const slices = new NotedSlices();
    const catalogue = handlerWith(NEVER_HEAVY, {}, () => OBSERVATIONS[format], { slices });
    const handler: Handler = async (request, disconnection) => {
      const answer = await catalogue(request, disconnection);
      if (answer.status !== 200) return answer;
      const { bytes, isSlow = false } = answer.body;
      const pieceAt = (offset: number): Uint8Array => {
        slices.note(slices.pieces);
        return answer.body.pieceAt(offset);
      };
      return { ...answer, body: { bytes, isSlow, pieceAt } };
    };
    const { port } = await serve(handler, slices);
    const worker = new Worker(CLIENT, {
      eval: true,
      workerData: { port, method, clients: CLIENTS, target: TARGETS[format] },
    });
    const [{ bytes, missing, statuses }] = (await once(worker, 'message')) as [Outcome];
    slices.end();
    expect(statuses).toEqual(Array.from({ length: CLIENTS }, () => '200'));
    if (method === 'GET') expect(bytes).toBeGreaterThan(CLIENTS * BYTES_MIN[format]);
    expect(missing).toBeGreaterThan(1);
    expect([...slices.work.values()].reduce((sum, one) => sum + one, 0)).toBeGreaterThan(CLIENTS);
    expect(mostOf(slices.work)).toBeLessThanOrEqual(WORK_MAX);
    expect(mostOf(slices.pieces)).toBeLessThanOrEqual(PIECES_MAX);
  });
});

interface Outcome {
  readonly bytes: number;
  readonly missing: number;
  readonly statuses: readonly string[];
}
