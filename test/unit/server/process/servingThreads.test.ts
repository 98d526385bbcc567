// Serving threads and their supervisor: the end of a swap, unresponsive threads, and exited threads.
import { MessageChannel, type Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { ServedData } from '../../../../server/process/loadGeneration.ts';
import type { FromThread, ToThread } from '../../../../server/process/messages.ts';
import { type ServingThread, startServingThread } from '../../../../server/process/startedThread.ts';
import { swapAll, LOOK_MS, SilenceWatch, SILENT_LOOKS } from '../../../../server/process/servingThreads.ts';
import { Packr } from 'msgpackr';

const packr = new Packr({ useRecords: false });

/** A thread that prepares every generation, serves it at once, and releases the previous one when asked to. */
class ObedientThread {
  readonly commits: number[] = [];
  readonly #waiters: { readonly kinds: readonly string[]; readonly take: (message: FromThread) => void }[] = [];

  asServingThread(): ServingThread {
    const postMessage = (message: object): void => {
      const order = message instanceof Uint8Array ? (packr.unpack(message) as ToThread) : undefined;
      if (order?.kind === 'commit') this.commits.push(order.swap);
      queueMicrotask(() => this.say({ kind: order ? 'committed' : 'prepared' }));
    };
    const next = (...kinds: string[]): Promise<FromThread> =>
      new Promise((take) => void this.#waiters.push({ kinds, take }));
    // A swap uses nothing else of a thread.
    return { worker: { postMessage } as unknown as Worker, next } as unknown as ServingThread;
  }

  say(message: FromThread): void {
    const taken = this.#waiters.filter(({ kinds }) => kinds.includes(message.kind));
    for (const waiter of taken) {
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      waiter.take(message);
    }
  }
}

/** Resolves after everything that is due. */
function turn(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.once('message', () => {
      port1.close();
      resolve();
    });
    port2.postMessage(0);
  });
}

test('reports nothing of earlier or later generations when one is released', async () => {
  const generation = { generation: { loaded: {}, blocks: undefined }, sinceMs: 0 } as unknown as ServedData;
  const thread = new ObedientThread();
  const threads = [thread.asServingThread()];
  const over: string[] = [];
  for (const name of ['first', 'second', 'third']) {
    const { isReleased } = await swapAll(threads, { ...generation }, generation);
    void isReleased.then(() => over.push(name));
  }
  const [first, second, third] = thread.commits;
  for (const [swap, expected] of [
    [second, ['second']],
    [first, ['second', 'first']],
    [third, ['second', 'first', 'third']],
  ] as const) {
    thread.say({ kind: 'released', swap: swap! });
    await turn();
    expect(over).toEqual(expected);
  }
});

test('reports a thread once as unresponsive at the last of the checks that find its counter unchanged', () => {
  const watch = new SilenceWatch();
  const [turning, standing] = [{ beats: new Int32Array(1) }, { beats: new Int32Array(1) }];
  const silent: [number, unknown][] = [];
  for (let i = 0; i < 3 * SILENT_LOOKS; i++) {
    Atomics.add(turning.beats, 0, 1);
    for (const thread of [turning, standing]) if (watch.isFallenSilent(thread)) silent.push([i, thread]);
  }
  expect(silent).toEqual([[SILENT_LOOKS, standing]]);
});

test('does not report a thread that turns again in time', () => {
  const watch = new SilenceWatch();
  const thread = { beats: new Int32Array(1) };
  for (let i = 0; i < 5 * SILENT_LOOKS; i++) {
    if (i % SILENT_LOOKS === 0) Atomics.add(thread.beats, 0, 1);
    expect(watch.isFallenSilent(thread)).toBe(false);
  }
});

test('reports a thread after ten seconds', () => {
  expect(SILENT_LOOKS * LOOK_MS).toBe(10_000);
});

test('continues a swap past a thread that exited before it', async () => {
  const hearer = { failed: () => undefined, onMessage: () => undefined };
  const thread = startServingThread({ hasAuthority: false, hasHttp10: false }, hearer);
  await thread.worker.terminate();
  await thread.ended;
  await expect(thread.next('committed')).rejects.toThrow('ended before it answered');
  const served = { generation: { loaded: {}, blocks: undefined }, sinceMs: 0 } as unknown as ServedData;
  const next = { ...served, sinceMs: 1 };
  const { isReleased } = await swapAll([thread], served, next);
  await isReleased;
  expect(served.sinceMs).toBe(1);
});
