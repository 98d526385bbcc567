// Work dealt to threads in turn, its results in the order of the work: what decoding and deflating have in common.
// Knows neither; a thread takes one order at a time and answers it with one message.
import { once } from 'node:events';
import type { Transferable, Worker } from 'node:worker_threads';

/**
 * Sends one order to a thread that is idle, without a copy of `transferred`, and answers its reply. Rejects if it dies.
 */
export async function replyOf<Reply>(
  worker: Worker,
  order: unknown,
  transferred: readonly Transferable[] = [],
): Promise<Reply> {
  const reply = once(worker, 'message') as Promise<[Reply]>;
  worker.postMessage(order, transferred);
  return (await reply)[0];
}

/**
 * The results of all orders, in their order. Two orders a thread are under way: one being done, one waiting, so that no
 * thread idles while results are used. Rejects with the first failure. Cost: at most two results a thread are held.
 */
export async function* inOrder<Order, Result>(
  workers: readonly Worker[],
  orders: AsyncIterable<Order> | Iterable<Order>,
  run: (worker: Worker, order: Order) => Promise<Result>,
): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = [];
  const last = workers.map((): Promise<unknown> => Promise.resolve());
  let turn = 0;
  for await (const order of orders) {
    const i = turn++ % workers.length;
    const result = last[i]!.then(() => run(workers[i]!, order));
    result.catch(() => undefined);
    last[i] = result;
    underWay.push(result);
    if (underWay.length >= workers.length * 2) yield await underWay.shift()!;
  }
  while (underWay.length > 0) yield await underWay.shift()!;
}

/** Ends the threads and waits until they are gone. */
export async function endWorkers(workers: readonly Worker[]): Promise<void> {
  await Promise.all(workers.map((worker) => worker.terminate()));
}
