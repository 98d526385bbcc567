// The pool of a serving thread: runs expensive plans in separate threads, with a bounded queue. Each serving thread has
// one, so that an expensive client of one thread cannot fill the queue of another. A running task polls a flag that
// cancels it. Aborting it in Piscina ends its thread, so that is only for tasks that do not poll.
import type { Disconnection } from './waiter.ts';
import type { LoadedSnapshot } from '../engine/engine.ts';
import { HeavyThreads } from './heavyThreads.ts';
import type { OnLostThread } from './starvation.ts';
import { type HeavyFinding, type HeavyQuery, type MissReason, type PoolData, TaskFlag } from './protocol.ts';

/** Waiting requests of one connection. Only pipelined requests reach more than one. */
export const CONNECTION_WAITING_MAX = 16;

/** At most `waitingMax` requests wait, each for at most `waitMsMax`. */
interface WaitingLimits {
  readonly waitingMax: number;
  readonly waitMsMax: number;
}

/** The limits of every server. */
export const WAITING_LIMITS: WaitingLimits = { waitingMax: 256, waitMsMax: 5000 };

/** The number of a permit. `gone`: the client has left. `busy`: too many wait, or this request waited too long. */
export type Permit = number | 'gone' | 'busy';

/** `permits` permits, numbered from 0. Each connection gets one in turn. */
export class Semaphore {
  waiting = 0;
  readonly #permits: number;
  readonly #free: number[];
  readonly #limits: WaitingLimits;
  /** Requests that wait, by connection in the order of their turns. */
  readonly #queues = new Map<object, Set<(permit: Permit) => void>>();
  #onIdle: (() => void) | undefined;

  constructor(permits: number, limits: WaitingLimits = WAITING_LIMITS) {
    this.#permits = permits;
    this.#free = Array.from({ length: permits }, (_, permit) => permit);
    this.#limits = limits;
  }

  get held(): number {
    return this.#permits - this.#free.length;
  }

  /**
   * Resolves to a permit, to be returned with `release`. The limit per connection applies separately to each client
   * without a connection.
   */
  async acquire(client: Disconnection): Promise<Permit> {
    if (client.isGone()) return 'gone';
    const free = this.#free.pop();
    if (free !== undefined) return free;
    const { waitingMax, waitMsMax } = this.#limits;
    const connection = client.connection ?? client;
    const queue = this.#queues.get(connection) ?? new Set();
    if (this.waiting >= waitingMax || queue.size >= CONNECTION_WAITING_MAX) return 'busy';
    return new Promise((resolve) => {
      const end = (permit: Permit): void => {
        if (!queue.delete(end)) return;
        this.waiting--;
        if (queue.size === 0) this.#queues.delete(connection);
        clearTimeout(timer);
        resolve(permit);
      };
      const timer = setTimeout(end, waitMsMax, 'busy');
      this.waiting++;
      this.#queues.set(connection, queue.add(end));
      client.onGone(() => end('gone'));
    });
  }

  /** Gives a permit to the first request of the next connection. That connection then waits after all others. */
  release(permit: number): void {
    for (const [connection, queue] of this.#queues) {
      this.#queues.delete(connection);
      if (queue.size > 1) this.#queues.set(connection, queue);
      for (const end of queue) return end(permit);
    }
    this.#free.push(permit);
    if (this.held === 0) this.#onIdle?.();
  }

  /** Ends all waiting with `gone`. Resolves when every permit is back. */
  async close(): Promise<void> {
    for (const queue of this.#queues.values()) for (const end of queue) end('gone');
    if (this.held > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
  }
}

/** The limits of a pool. No query runs longer than `taskMsMax`. A request that is `busy` is answered 503 (A108). */
export interface PoolLimits extends WaitingLimits {
  readonly taskMsMax: number;
}

/** Limits of every server. 10 s is enough to search 1 GB of text with an ordinary pattern. */
export const POOL_LIMITS: PoolLimits = { ...WAITING_LIMITS, taskMsMax: 10_000 };

/** Runs an expensive query outside this thread, or returns why not. A rejection is a bug. */
export type RunHeavy = (query: HeavyQuery, waiter: Disconnection) => Promise<HeavyFinding | MissReason>;

/** The current state of a pool, and the outcomes of all queries since its start. */
export interface PoolStatistics {
  readonly running: number;
  readonly waiting: number;
  readonly outcomes: Readonly<Record<'found' | MissReason, number>>;
}

/**
 * A pool over one snapshot. If a thread dies, its task fails and the next task starts another thread. If no thread can
 * start, for lack of descriptors, threads or memory, the task is `busy` and the next one tries again.
 */
export interface HeavyPool {
  readonly run: RunHeavy;
  statistics(): PoolStatistics;
  /** Cancels all tasks and ends the threads. `run` must not be called afterwards. */
  close(): Promise<void>;
  /**
   * Ends the threads once nothing runs or waits, for a snapshot that new queries do not use. A late query still runs,
   * then the threads end again.
   */
  retire(): Promise<void>;
}

/** Makes a pool of `threads` threads. Piscina is loaded and threads start with the first expensive query. */
export function startPool(
  loaded: LoadedSnapshot,
  threads: number,
  limits: PoolLimits = POOL_LIMITS,
  onLost: OnLostThread = () => undefined,
): HeavyPool {
  const flags = new Int32Array(new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT));
  const workerData: PoolData = { loaded, flags, taskMsMax: limits.taskMsMax };
  const semaphore = new Semaphore(threads, limits);
  const outcomes = { found: 0, busy: 0, gone: 0, overtime: 0 };
  const heavy = new HeavyThreads(threads, workerData, onLost);
  let isRetired = false;
  let isClosing = false;
  const runOnce: RunHeavy = async (query, waiter) => {
    const slot = await semaphore.acquire(waiter);
    if (typeof slot === 'string') return slot;
    try {
      if (isClosing) return 'gone';
      return (await runWhileWanted(flags, slot, waiter, () => heavy.run({ ...query, slot }))) ?? 'gone';
    } finally {
      semaphore.release(slot);
      if (isRetired) await endIdle();
    }
  };
  const endIdle = async (): Promise<void> => {
    if (semaphore.held === 0) await heavy.close();
  };
  return {
    run: async (query, waiter) => {
      const outcome = await runOnce(query, waiter);
      outcomes[typeof outcome === 'string' ? outcome : 'found']++;
      return outcome;
    },
    statistics: () => ({ running: semaphore.held, waiting: semaphore.waiting, outcomes }),
    retire: async () => {
      isRetired = true;
      await endIdle();
    },
    close: async () => {
      isClosing = true;
      flags.fill(TaskFlag.cancelled);
      // Piscina waits only for running tasks, and reports queued ones as failed.
      await semaphore.close();
      await heavy.close();
    },
  };
}

/** Runs work, and sets the flag of its slot to `cancelled` if the client leaves before the work ends. */
async function runWhileWanted<T>(
  flags: Int32Array,
  slot: number,
  waiter: Disconnection,
  work: () => Promise<T>,
): Promise<T> {
  Atomics.store(flags, slot, TaskFlag.wanted);
  // A client may also leave while it reads the response. The slot then belongs to another task.
  let isHeld = true;
  waiter.onGone(() => {
    if (isHeld) Atomics.store(flags, slot, TaskFlag.cancelled);
  });
  try {
    return await work();
  } finally {
    isHeld = false;
  }
}
