// The watching client sends the same cheap requests to both transports over persistent connections, a few ms apart. It
// runs in a separate thread, so that the campaign's own work does not count as a wait. It reports the longest wait
// since the last report. A response that differs from the first one is a fault. The end of this file is the thread.
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { clientOf } from '../support/client.ts';

/** Observations since the last report. Waits are in milliseconds. */
export interface Seen {
  readonly asked: number;
  readonly worstMs: number;
  readonly faults: readonly string[];
}

/** A client that watches a server until it is closed. */
export interface Watcher {
  look(): Promise<Seen>;
  close(): Promise<void>;
}

interface Task {
  readonly ports: readonly number[];
}

const TARGETS = ['/api/v3/', '/api/v3/observations/?limit=1', '/nothing'];
const PAUSE_MS = 5;
const FAULTS_MAX = 10;

/** Watches a server on these ports of 127.0.0.1. The first response to each request is the expected one. */
export function watcherOf(ports: readonly number[]): Watcher {
  const worker = new Worker(new URL(import.meta.url), { workerData: { ports } satisfies Task });
  return {
    look: () =>
      new Promise((resolve, reject) => {
        worker.once('message', (seen: Seen) => {
          worker.off('error', reject);
          resolve(seen);
        });
        worker.once('error', reject);
        worker.postMessage('look');
      }),
    close: async () => void (await worker.terminate()),
  };
}

/** Watches until the main thread terminates this worker. */
async function watch({ ports }: Task): Promise<void> {
  const seen = { asked: 0, worstMs: 0, faults: [] as string[] };
  parentPort!.on('message', () => {
    parentPort!.postMessage(seen);
    Object.assign(seen, { asked: 0, worstMs: 0, faults: [] });
  });
  const asked = ports.flatMap((port) =>
    TARGETS.map((target) => ({ client: clientOf(`http://127.0.0.1:${port}`), target })),
  );
  const first = new Map<string, string>();
  for (let i = 0; ; i++) {
    const { client, target } = asked[i % asked.length]!;
    const sent = performance.now();
    const answer = await client.get(target).then(
      ({ status, body }) => `${status} ${body}`,
      (error: unknown) => String(error),
    );
    seen.asked++;
    // The first turn opens connections.
    if (i >= asked.length) seen.worstMs = Math.max(seen.worstMs, performance.now() - sent);
    const expected = first.get(target) ?? answer;
    first.set(target, expected);
    if (answer !== expected && seen.faults.length < FAULTS_MAX)
      seen.faults.push(`the watching client got ${answer.slice(0, 200)} to ${target}, not ${expected.slice(0, 200)}`);
    await delay(PAUSE_MS);
  }
}

if (parentPort && (workerData as Partial<Task> | null)?.ports) await watch(workerData as Task);
