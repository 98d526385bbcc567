// The watching client, in a thread of its own so that nothing that the campaign computes is taken for a wait: asks the
// same cheap questions of both transports over kept connections, a few ms apart, and tells the worst wait since it was
// last asked. An answer that is another one than the first is a fault. The last lines are the thread.
import { setTimeout as delay } from 'node:timers/promises';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { clientOf } from '../support/client.ts';

/** What was seen since the last look. Waits are in milliseconds. */
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

/** Watches a server on these ports of 127.0.0.1; what it says at first is what it must say. */
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

/** Watches for ever: the thread is ended from outside. */
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
