// The entry of a serving thread: a listener on the shared port that serves the current generation. The thread imports
// the program at once and listens when it gets its data. It is never terminated while its App is open; it exits by
// itself after `drain`.
import { closeSync, openSync } from 'node:fs';
import { OperationError, reasonOf } from '../../data/operationError.ts';
import assert from 'node:assert/strict';
import { getHeapStatistics } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { Slices } from '../../workers/slices.ts';
import type { OnLostThread } from '../../workers/starvation.ts';
import { steadyMs } from '../observe/clock.ts';
import { MEGABYTE } from '../observe/quantities.ts';
import { healthBefore, type Unready } from '../http/health.ts';
import type { Listener, ListenerLoad, ListenOptions } from '../http/listener.ts';
import { listenUws } from '../http/uws/transport.ts';
import { uwsLoadError } from '../http/uws/library.ts';
import { type LastingData, ordersFrom, send, stackText, type SwapOrders, type ThreadStart } from './messages.ts';
import { checkReleases, whenReleased } from './release.ts';
import { type ThreadServices, ThreadGenerations } from './threadGenerations.ts';

/** No descriptor is left in the process (EMFILE) or in the system (ENFILE). */
const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);

/** Pause in each turn while no descriptor is left. Requests on open connections take that much longer. */
const TURN_MS = 5;

/**
 * Slows the event loop while no descriptor is left: uWebSockets.js tries to accept in each turn and would use a whole
 * core.
 */
class Exhaustion {
  readonly #never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #isExhausted = false;

  /** Returns the error code of the system if no descriptor is left. Cost: two system calls. */
  look(): string | undefined {
    const reason = refusal();
    const wasExhausted = this.#isExhausted;
    this.#isExhausted = reason !== undefined;
    if (reason !== undefined && !wasExhausted) this.#turn();
    return reason;
  }

  #turn(): void {
    if (!this.#isExhausted) return;
    Atomics.wait(this.#never, 0, 0, TURN_MS);
    setImmediate(() => this.#turn());
  }
}

function refusal(): string | undefined {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return undefined;
  } catch (error) {
    const reason = reasonOf(error);
    return EXHAUSTED.has(reason) ? reason : undefined;
  }
}

/** Interval between signs that the event loop turns. */
const BEAT_MS = 1000;
/**
 * Fraction of the heap limit that stops the thread. At a full heap V8 would end it without running JavaScript, and the
 * open App would abort the process.
 */
const HEAP_PART_MAX = 0.9;
/** How long a drained thread may take to exit by itself. */
const LINGER_MS_MAX = 1000;

const supervisor = parentPort;
assert(supervisor, 'servingThread.ts runs as a thread of servingThreads.ts');
const orders = ordersFrom(supervisor);
const { hasAuthority, hasHttp10, beats } = workerData as ThreadStart;
const exhaustion = new Exhaustion();
setInterval(() => {
  Atomics.add(beats, 0, 1);
  const reason = exhaustion.look();
  if (reason !== undefined) send(supervisor, { kind: 'exhausted', reason });
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  if (used > HEAP_PART_MAX * limit) throw new Error(`its heap of ${Math.round(limit / MEGABYTE)} MB is full`);
}, BEAT_MS).unref();
const [service, noUws] = await Promise.all([
  hasAuthority ? import('../authority/soap/service.ts') : undefined,
  uwsLoadError(),
]);
const nodePart = hasHttp10 || noUws !== undefined ? await import('../http/node/transport.ts') : undefined;
if (noUws !== undefined) send(supervisor, { kind: 'noUws', reason: noUws });

function onError(error: unknown): void {
  send(supervisor!, { kind: 'bug', stack: stackText(error) });
}

const onLostPool: OnLostThread = (error, isStarvation) => {
  if (isStarvation) send(supervisor, { kind: 'starved', reason: reasonOf(error) });
  else send(supervisor, { kind: 'died', stack: stackText(error) });
};

function unready(isDraining: boolean, staleness: Int32Array): Unready {
  if (isDraining) return 'draining';
  return Atomics.load(staleness, 0) === 1 ? 'stale' : undefined;
}

/** Opens both listeners or none: a listener left open would keep the thread from exiting. */
async function listen(
  { host, port, http10Port }: LastingData,
  { handler, slices, watch }: Pick<ListenOptions, 'handler' | 'slices' | 'watch'>,
): Promise<readonly Listener[]> {
  const shared = { host, handler, slices, watch, onError };
  const listenMain = noUws === undefined || !nodePart ? listenUws : nodePart.listenNode;
  const main = await listenMain({ ...shared, port, exclusive: false });
  if (http10Port === undefined || !nodePart) return [main];
  try {
    return [main, await nodePart.listenNode({ ...shared, port: http10Port, exclusive: true })];
  } catch (error) {
    await main.drain({ graceMs: 0, withinMs: 0 });
    throw error;
  }
}

function loadOf(listeners: readonly Listener[]): ListenerLoad {
  const loads = listeners.map(({ flight }) => flight.load());
  const sum = (figure: keyof ListenerLoad): number => loads.reduce((total, load) => total + load[figure], 0);
  return { connections: sum('connections'), answers: sum('answers'), replacedReaders: sum('replacedReaders') };
}

/** If a generation cannot be opened, it is refused and the current one stays. */
function swapOrders(generations: ThreadGenerations, listeners: readonly Listener[]): SwapOrders {
  return {
    prepare: (data) => {
      try {
        generations.prepare(data);
        send(supervisor!, { kind: 'prepared' });
      } catch (error) {
        send(supervisor!, { kind: 'unprepared', stack: stackText(error) });
      }
    },
    commit: (swap) => {
      for (const { flight } of listeners) flight.swapped(swap);
      // No variable for the previous generation: a closure next to it would keep it in memory.
      const release = whenReleased(generations.commit());
      send(supervisor!, { kind: 'committed' });
      void release.then(() => send(supervisor!, { kind: 'released', swap }));
    },
    abandon: () => generations.abandon(),
    closeReaders: (swap) => {
      for (const { flight } of listeners) flight.cutReaders(swap);
      checkReleases();
    },
  };
}

/** A separate function, so that no stack frame keeps the first generation in memory. */
function openGenerations(
  data: LastingData,
  services: Pick<ThreadServices, 'slices' | 'trustedHosts'>,
): ThreadGenerations {
  return new ThreadGenerations(orders.first(), { ...data, ...services, onLostPool });
}

/**
 * Serves until the drain. If it cannot listen, reports why and waits for the drain. Resolves to the number of cut
 * responses.
 */
async function serve(data: LastingData): Promise<number> {
  const { settings, authority: link, soapAnswers: tally } = data;
  const slices = new Slices(steadyMs);
  const generations = openGenerations(data, { slices, trustedHosts: () => part?.authority.trustedHosts() });
  const part = link && service?.openAuthority(link, { settings, tally, fallback: generations.handler });
  const isWatched = data.requests !== undefined || data.accessLog !== undefined;
  const watch = isWatched ? await (await import('./threadWatch.ts')).threadWatch(data) : undefined;
  let listeners: readonly Listener[] = [];
  let isDraining = false;
  try {
    const handler = healthBefore(part?.handler ?? generations.handler, () => unready(isDraining, data.staleness));
    listeners = await listen(data, { handler, slices, watch: watch?.watch });
    if (data.readings) {
      const { publishEverySecond } = await import('./threadTallies.ts');
      publishEverySecond(data.readings, () => ({ ...generations.statistics(), load: loadOf(listeners) }));
    }
    // The supervisor ends the process, after the threads have finished what they can.
    process.on('uncaughtException', (error) => send(supervisor!, { kind: 'broken', stack: stackText(error) }));
    orders.obey(swapOrders(generations, listeners));
    setInterval(() => Atomics.store(beats, 1, loadOf(listeners).replacedReaders), BEAT_MS).unref();
    // Otherwise the authority would refuse the first requests.
    await part?.authority.started;
    send(supervisor!, { kind: 'listening' });
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    send(supervisor!, { kind: 'refused', message: error.message });
  }
  const time = await orders.drain;
  isDraining = true;
  const counts = await Promise.all(listeners.map((listener) => listener.drain(time)));
  part?.authority.close();
  await Promise.all([generations.close(), watch?.close()]);
  return counts.reduce((sum, count) => sum + count, 0);
}

const data = await Promise.race([orders.data, orders.drain]);
const cutCount = 'settings' in data ? await serve(data) : 0;
send(supervisor, { kind: 'drained', cut: cutCount });
supervisor.close();
// A pool thread that failed during its start is referenced nowhere and would keep this thread alive.
setTimeout(() => process.exit(), LINGER_MS_MAX).unref();
