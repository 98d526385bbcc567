// Work dealt to threads, its results in the order of the work: decoding, building of columns, deflating and loading
// use this. A thread answers each order with one message.
import assert from 'node:assert/strict';
import { parentPort, Worker } from 'node:worker_threads';
import { OperationError } from './operationError.ts';

/** The program may be replaced on disk while it runs. The code of threads that start later is then missing. */
export const PROGRAM_GONE = 'the program is not where it was when the server started: start the server again';

/** Threads of one program that take orders, each the one after the other. */
export class OrderThreads {
  readonly #threads: OrderThread[] = [];

  /**
   * Starts so many, which are given `workerData` and take orders as soon as they have read their program. Throws what
   * the system says that has not so many, and leaves none then.
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
   * Has the thread with the fewest orders do one, and answers its reply; the memory of typed arrays in it is handed
   * over. `onMicros` is told the CPU time that it takes. Rejects if the thread dies.
   */
  ask<Reply>(order: object, onMicros?: (micros: number) => void): Promise<Reply> {
    const idlest = this.#threads.reduce((best, one) => (one.orders < best.orders ? one : best));
    return idlest.ask(order, onMicros) as Promise<Reply>;
  }

  /** Has each thread do an order behind all that it was asked, and answers all replies. Rejects if one dies. */
  askAll<Reply>(order: object): Promise<readonly Reply[]> {
    return Promise.all(this.#threads.map((thread) => thread.ask(order) as Promise<Reply>));
  }

  /** Ends the threads and waits until they are gone. */
  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}

/** What a thread answers to an order: its reply, or why the world refused it, and the CPU time that this took. */
interface Answer {
  readonly reply: object;
  readonly refused?: Pick<OperationError, 'code' | 'message'>;
  readonly micros: number;
}

/**
 * Makes this thread one of `OrderThreads`: `act` does an order and answers its reply, whose memory is handed over; that
 * of the order is let go. `micros` tells CPU time.
 */
export function takeOrders(act: (order: never) => object | Promise<object>, micros: () => number = () => 0): void {
  const port = parentPort;
  assert(port, 'orders are taken by a thread');
  const take = async (order: object): Promise<void> => {
    const before = micros();
    const done = await outcomeOf(() => act(order as never));
    const answer: Answer = { ...done, micros: micros() - before };
    port.postMessage(answer, memoryOf(done.reply));
    letGo(order);
  };
  let last = Promise.resolve();
  port.on('message', (order: object) => {
    last = last.then(() => take(order));
  });
}

/** An error of the world keeps its code, which an error that ends a thread loses. */
async function outcomeOf(act: () => object | Promise<object>): Promise<Omit<Answer, 'micros'>> {
  try {
    return { reply: await act() };
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    return { reply: {}, refused: { code: error.code, message: error.message } };
  }
}

/**
 * Gives the memory of all typed arrays in a message back at once, which is empty then; the next collection of garbage,
 * which would do it, comes when a thread is busy again, and much of what is touched meanwhile is fresh.
 */
export function letGo(message: object): void {
  for (const memory of memoryOf(message)) if (!memory.detached) memory.transfer(0);
}

interface Asked extends PromiseWithResolvers<unknown> {
  readonly onMicros: ((micros: number) => void) | undefined;
}

class OrderThread {
  readonly #worker: Worker;
  readonly #asked: Asked[] = [];
  #death: unknown;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', ({ reply, refused, micros }: Answer) => {
      const first = this.#asked.shift();
      assert(first, 'a thread answers what it was asked');
      first.onMicros?.(micros);
      if (refused) first.reject(new OperationError(refused.code, refused.message));
      else first.resolve(reply);
    });
    worker.on('error', (error) => this.#fail(error));
    worker.on('exit', (code) => this.#fail(new Error(`a thread ended with ${code}`)));
  }

  get orders(): number {
    return this.#asked.length;
  }

  ask(order: object, onMicros?: (micros: number) => void): Promise<unknown> {
    const asked: Asked = { ...Promise.withResolvers<unknown>(), onMicros };
    if (this.#death !== undefined) asked.reject(this.#death);
    else {
      this.#asked.push(asked);
      this.#worker.postMessage(order, memoryOf(order));
    }
    return asked.promise;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #fail(death: unknown): void {
    const isGone = (death as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND';
    this.#death ??= isGone ? new OperationError('file', PROGRAM_GONE, death) : death;
    for (const { reject } of this.#asked.splice(0)) reject(this.#death);
  }
}

/** The memory of all typed arrays in a message of plain objects and arrays: handed over, it is not copied. */
function memoryOf(message: object): readonly ArrayBuffer[] {
  const found = new Set<ArrayBuffer>();
  const look = (value: unknown): void => {
    if (ArrayBuffer.isView(value)) {
      if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
    } else if (typeof value === 'object' && value !== null) Object.values(value).forEach(look);
  };
  look(message);
  return [...found];
}

/**
 * The results of all orders, in their order; `ahead` of them are under way, so that no thread idles while results are
 * used. Rejects with the first failure. However it ends, no order is under way then. Cost: at most `ahead` results are
 * held.
 */
export async function* inOrder<Order, Result>(
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
