// A serving thread: its own listener on the shared port, its own view of the shared snapshot, its own heavy pool
// and cache of row sets.
// Started and stopped by serve.ts; never terminated while its App is open, it ends by itself after `drain`.
import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { OperationError } from '../data/operationError.ts';
import { openBlocks, openSnapshot } from '../engine/engine.ts';
import { startPool } from '../workers/pool.ts';
import { routerOver } from '../workers/router.ts';
import { RowSetCache } from '../workers/rowSetCache.ts';
import { openAuthority } from './authority/service.ts';
import { catalogueHandler } from './catalogue.ts';
import type { Listener } from './http/listener.ts';
import { listenNode } from './http/node.ts';
import { listenUws } from './http/uws.ts';
import { soapHandler } from './soap/service.ts';
import { receive, send, type ServingData, type ToThread } from './threads.ts';

const supervisor = parentPort;
assert(supervisor, 'servingThread.ts runs as a thread of serve.ts');
const {
  loaded,
  blocks,
  settings,
  host,
  port,
  http10Port,
  poolThreads,
  rowSetCacheBytes,
  authority: link,
  soapAnswers,
  ignoredParameters,
} = workerData as ServingData;
const catalogue = openSnapshot(loaded);
const pool = startPool(loaded, poolThreads);
const authority = link && openAuthority(link);

const handler = soapHandler({
  authority: () => authority?.current(),
  settings,
  tally: soapAnswers,
  otherwise: catalogueHandler({
    generation: loaded.generation,
    created: loaded.created,
    blocks: blocks && openBlocks(blocks, catalogue),
    collections: (name) => catalogue.collection(name),
    settings,
    ignored: ignoredParameters,
    router: routerOver({ generation: loaded.generation, cache: new RowSetCache(rowSetCacheBytes), runHeavy: pool.run }),
  }),
});

function onError(error: unknown): void {
  send(supervisor!, { kind: 'bug', stack: stackOf(error) });
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Both listeners or none: one that stayed open would keep the thread from ending. */
async function listen(): Promise<readonly Listener[]> {
  const main = await listenUws({ host, port, handler, exclusive: false, onError });
  if (http10Port === undefined) return [main];
  try {
    return [main, await listenNode({ host, port: http10Port, handler, exclusive: true, onError })];
  } catch (error) {
    await main.drain(0);
    throw error;
  }
}

async function drain(listeners: readonly Listener[], withinMs: number): Promise<void> {
  await Promise.all(listeners.map((listener) => listener.drain(withinMs)));
  await Promise.all([pool.close(), authority?.close()]);
  send(supervisor!, { kind: 'drained' });
  supervisor!.close();
}

try {
  const listeners = await listen();
  let drained: Promise<void> | undefined;
  receive<ToThread>(supervisor, ({ withinMs }) => void (drained ??= drain(listeners, withinMs)));
  // A thread that dies with its App open takes the process with it, without a word: the supervisor closes it first.
  process.on('uncaughtException', (error) => send(supervisor, { kind: 'broken', stack: stackOf(error) }));
  send(supervisor, { kind: 'listening' });
} catch (error) {
  if (!(error instanceof OperationError)) throw error;
  send(supervisor, { kind: 'refused', message: error.message });
}
