// A serving thread: its own listener on the shared port, its own view of the shared snapshot, its own heavy pool
// and cache of row sets. Reads the program at once, and begins when it gets the data.
// Never terminated while its App is open, it ends by itself after `drain`.
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { OperationError } from '../../data/operationError.ts';
import { openBlocks, openSnapshot } from '../../engine/engine.ts';
import { startPool } from '../../workers/pool.ts';
import { routerOver } from '../../workers/router.ts';
import { RowSetCache } from '../../workers/rowSetCache.ts';
import { Slices } from '../../workers/slices.ts';
import { catalogueHandler, requestMemory } from '../catalogue/handler.ts';
import { steadyMs } from '../observe/clock.ts';
import { healthBefore } from '../http/health.ts';
import type { Listener, ListenerLoad, ListenOptions } from '../http/listener.ts';
import { listenUws } from '../http/uws/transport.ts';
import { loadUws } from '../http/uws/library.ts';
import { ordersFrom, send, type ServingData, type ThreadParts } from './messages.ts';

const supervisor = parentPort;
assert(supervisor, 'servingThread.ts runs as a thread of servingThreads.ts');
const orders = ordersFrom(supervisor);
const { hasAuthority, hasHttp10 } = workerData as ThreadParts;
const [authorityPart, http10Part] = await Promise.all([
  hasAuthority ? import('./authorityThread.ts') : undefined,
  hasHttp10 ? import('../http/node/transport.ts') : undefined,
  loadUws(),
]);

function onError(error: unknown): void {
  send(supervisor!, { kind: 'bug', stack: stackOf(error) });
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Both listeners or none: one that stayed open would keep the thread from ending. */
async function listen(
  { host, port, http10Port }: ServingData,
  { handler, slices, watch }: Pick<ListenOptions, 'handler' | 'slices' | 'watch'>,
): Promise<readonly Listener[]> {
  const shared = { host, handler, slices, watch, onError };
  const main = await listenUws({ ...shared, port, exclusive: false });
  if (http10Port === undefined || !http10Part) return [main];
  try {
    return [main, await http10Part.listenNode({ ...shared, port: http10Port, exclusive: true })];
  } catch (error) {
    await main.drain({ graceMs: 0, withinMs: 0 });
    throw error;
  }
}

function loadOf(listeners: readonly Listener[]): ListenerLoad {
  const loads = listeners.map((listener) => listener.load());
  const sum = (of: keyof ListenerLoad): number => loads.reduce((total, load) => total + load[of], 0);
  return { connections: sum('connections'), answers: sum('answers') };
}

/**
 * Serves until it is told to drain, or until then does nothing but say why it cannot listen. Answers how many answers
 * the drain cut.
 */
async function serve(data: ServingData): Promise<number> {
  const { loaded, blocks, settings, authority: link, soapAnswers: tally } = data;
  const catalogue = openSnapshot(loaded);
  const pool = startPool(loaded, data.poolThreads);
  const cache = new RowSetCache(data.rowSetCacheBytes);
  const slices = new Slices(steadyMs);
  const memory = requestMemory(settings);
  const router = routerOver({ generation: loaded.generation, cache, runHeavy: pool.run });
  const otherwise = catalogueHandler({
    generation: loaded.generation,
    created: loaded.created,
    sinceMs: data.sinceMs,
    blocks: blocks && openBlocks(blocks, catalogue),
    collections: (name) => catalogue.collection(name),
    settings,
    slices,
    ignored: data.ignoredParameters,
    memory,
    router,
  });
  const authority = link && authorityPart?.openAuthorityBefore(otherwise, { link, settings, tally });
  const isWatched = data.requests !== undefined || data.accessLog !== undefined;
  const watch = isWatched ? await (await import('./threadWatch.ts')).threadWatch(data) : undefined;
  let listeners: readonly Listener[] = [];
  let isDraining = false;
  try {
    const handler = healthBefore(authority?.handler ?? otherwise, () => isDraining);
    listeners = await listen(data, { handler, slices, watch: watch?.watch });
    if (data.readings) {
      const { publishEverySecond } = await import('./threadTallies.ts');
      publishEverySecond(data.readings, () => {
        const load = loadOf(listeners);
        return { load, pool: pool.statistics(), router: router.statistics(), answers: memory };
      });
    }
    // A thread that dies with its App open takes the process with it, without a word: the supervisor closes it first.
    process.on('uncaughtException', (error) => send(supervisor!, { kind: 'broken', stack: stackOf(error) }));
    send(supervisor!, { kind: 'listening' });
    authority?.start();
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    send(supervisor!, { kind: 'refused', message: error.message });
  }
  const time = await orders.drain;
  isDraining = true;
  const cut = await Promise.all(listeners.map((listener) => listener.drain(time)));
  await Promise.all([pool.close(), authority?.close(), watch?.close()]);
  return cut.reduce((sum, one) => sum + one, 0);
}

const data = await Promise.race([orders.data, orders.drain]);
const cut = 'loaded' in data ? await serve(data) : 0;
send(supervisor, { kind: 'drained', cut });
supervisor.close();
