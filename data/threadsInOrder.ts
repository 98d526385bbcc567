// Distributes work to threads and returns its results in order: for decoding, making columns, deflating and loading. A
// thread answers each order with one message.
import assert from 'node:assert/strict';
import { parentPort, Worker } from 'node:worker_threads';
import { OperationError } from './operationError.ts';

/** The program may be replaced on disk while it runs. Threads that start later then find no code. */
export const PROGRAM_GONE = 'the program is not where it was when the server started: start the server again';

/** Threads of one program. Each does its orders one after another. */
export class OrderThreads {
  readonly #threads: OrderThread[] = [];

  /**
   * Starts `count` threads. They get `workerData`, and take orders as soon as they have loaded their program. If the
   * system refuses one, throws its error and stops the others.
   */
  constructor(program: URL, count: number, workerData?: unknown) {
    try {
      while (this.#threads.length < count) this.#threads.push(new OrderThread(new Worker(program, { workerData })));
    } catch (error) {
      void this.close();
      throw error;
    }
  }

  get count(): number {
    return this.#threads.length;
  }

  /**
   * Sends an order to the thread with the fewest orders, and resolves to its reply. The memory of typed arrays in the
   * order is transferred. `onMicros` is called with the CPU time. Rejects if the thread dies.
   */
  ask<Reply>(order: object, onMicros?: (micros: number) => void): Promise<Reply> {
    const idlest = this.#threads.reduce((best, thread) => (thread.orders < best.orders ? thread : best));
    return idlest.ask(order, onMicros) as Promise<Reply>;
  }

  /** Sends an order to every thread, after its earlier orders, and resolves to all replies. Rejects if one dies. */
  askAll<Reply>(order: object): Promise<readonly Reply[]> {
    return Promise.all(this.#threads.map((thread) => thread.ask(order) as Promise<Reply>));
  }

  /** Stops the threads and waits until they have exited. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}

/** A thread's response to an order: its reply or an operational error, and the CPU time. */
interface Answer {
  readonly reply: object;
  readonly refused?: Pick<OperationError, 'code' | 'message'>;
  readonly micros: number;
}

/**
 * Makes this thread one of `OrderThreads`. `act` does an order and returns its reply, whose memory is transferred; that
 * of the order is freed. `micros` returns CPU time.
 */
export function takeOrders(act: (order: never) => object | Promise<object>, micros: () => number = () => 0): void {
  const port = parentPort;
  assert(port, 'orders are taken by a thread');
  const take = async (order: object): Promise<void> => {
    const before = micros();
    const done = await catchError(() => act(order as never));
    const answer: Answer = { ...done, micros: micros() - before };
    port.postMessage(answer, findBuffers(done.reply));
    releaseBuffers(order);
  };
  let last = Promise.resolve();
  port.on('message', (order: object) => {
    last = last.then(() => take(order));
  });
}

/** Sends the code of an OperationError, which would be lost if the error ended the thread. */
async function catchError(act: () => object | Promise<object>): Promise<Omit<Answer, 'micros'>> {
  try {
    return { reply: await act() };
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    return { reply: {}, refused: { code: error.code, message: error.message } };
  }
}

/**
 * Frees the memory of all typed arrays in a message at once; they are empty then. Garbage collection would do it only
 * when the thread is busy again, and until then new memory would be touched.
 */
export function releaseBuffers(message: object): void {
  for (const memory of findBuffers(message)) if (!memory.detached) memory.transfer(0);
}

interface Asked extends PromiseWithResolvers<unknown> {
  readonly onMicros: ((micros: number) => void) | undefined;
}

class OrderThread {
  readonly #worker: Worker;
  readonly #pending: Asked[] = [];
  #death: unknown;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', ({ reply, refused, micros }: Answer) => {
      const first = this.#pending.shift();
      assert(first, 'a thread answers what it was asked');
      first.onMicros?.(micros);
      if (refused) first.reject(new OperationError(refused.code, refused.message));
      else first.resolve(reply);
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', (code) => this.#fail(new Error(`a thread exited with ${code}`)));
  }

  get orders(): number {
    return this.#pending.length;
  }

  ask(order: object, onMicros?: (micros: number) => void): Promise<unknown> {
    const entry: Asked = { ...Promise.withResolvers<unknown>(), onMicros };
    if (this.#death !== undefined) entry.reject(this.#death);
    else {
      this.#pending.push(entry);
      this.#worker.postMessage(order, findBuffers(order));
    }
    return entry.promise;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(death: unknown): void {
    const isGone = (death as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    this.#death ??= isGone ? new OperationError('file', PROGRAM_GONE, death) : death;
    for (const { reject } of this.#pending.splice(0)) reject(this.#death);
  }
}

/** The memory of all typed arrays in a message of plain objects and arrays, to be transferred instead of copied. */
function findBuffers(message: object): readonly ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const collectBuffers = (value: unknown): void => {
    if (ArrayBuffer.isView(value)) {
      if (value.buffer instanceof ArrayBuffer) buffers.add(value.buffer);
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(collectBuffers);
  };
  collectBuffers(message);
  return [...buffers];
}

/**
 * Runs all orders, at most `ahead` at once, and yields their results in the same order. A thread is thus not idle while
 * a result is used. Rejects with the first failure. Before it ends, it waits until no order is in progress. Memory: at
 * most `ahead` results.
 */
export async function* runInOrder<Order, Result>(
  orders: AsyncIterable<Order> | Iterable<Order>,
  ahead: number,
  run: (order: Order) => Promise<Result>,
): AsyncGenerator<Result> {
  const underWay: Promise<Result>[] = [];
  try {
    for await (const order of orders) {
      const result = run(order);
      result.catch(() => undefined);
      underWay.push(result);
      if (underWay.length >= ahead) yield await underWay.shift()!;
    }
    while (underWay.length > 0) yield await underWay.shift()!;
  } finally {
    await Promise.allSettled(underWay);
  }
}
