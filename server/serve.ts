// The supervisor: takes the port, loads the data, starts the serving threads and stops them. Serves nothing itself.
// Composition only; called by the serve command.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { openData } from '../data/open.ts';
import { OperationError } from '../data/operationError.ts';
import type { OnProgress } from '../data/progress.ts';
import { COLLECTIONS } from '../engine/schema/catalogue.ts';
import type { LoadedSnapshot } from '../engine/snapshot/open.ts';
import { decodeMetadata, METADATA_SECTION } from '../engine/snapshot/metadata.ts';
import { sectionsOf } from '../engine/snapshot/open.ts';
import { steadyMs } from './clock.ts';
import type { Settings } from './config.ts';
import { claimPort } from './http/ports.ts';
import { raiseHeadLimit } from './http/uwsLibrary.ts';
import { bytesText, countText } from './quantities.ts';
import { receive, send, type FromThread, type ServingData } from './threads.ts';

/** Answers in flight get this long to finish when the server stops; slow readers of large pages may be cut off. */
const DRAIN_MS = 10_000;

/** The list with most to filter by, for the line that people paste. */
const EXAMPLE_LIST = `/api/v3/${COLLECTIONS.toSorted((a, b) => b.filters.length - a.filters.length)[0]!.name}/`;

/** A server that runs. `stop` drains: no new connections, answers in flight finish, threads end. */
export interface Server {
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

/**
 * Serves what the settings name. `report` gets lines for people: what was loaded, the URLs, a line to try, later bugs.
 * Throws OperationError: `port` in use, `file`, `input` or `snapshot` for the data; nothing is left running then.
 */
export async function serve(
  settings: Settings,
  report: (line: string) => void,
  onProgress: OnProgress,
): Promise<Server> {
  const startMs = steadyMs();
  raiseHeadLimit();
  const ports = await claimPorts(settings);
  const baseUrl = settings.baseUrl ?? `http://localhost:${ports.port}`;
  const loaded = await openData(settings.data, { baseUrl, threads: settings.threads }, onProgress);
  report(loadedLine(settings.data, loaded, steadyMs() - startMs));
  const threads = await startThreads(settings, ports, loaded, report);
  const urls = reportUrls(settings, ports, baseUrl, report);
  return { urls, stop: () => stopThreads(threads) };
}

interface Ports {
  readonly port: number;
  readonly http10Port: number | undefined;
}

async function claimPorts({ host, port, http10Port }: Settings): Promise<Ports> {
  return {
    port: await claimPort(host, port),
    http10Port: http10Port === undefined ? undefined : await claimPort(host, http10Port),
  };
}

function loadedLine(data: string, loaded: LoadedSnapshot, ms: number): string {
  const { collections } = decodeMetadata(sectionsOf(loaded).bytes(METADATA_SECTION));
  const records = collections.reduce((sum, collection) => sum + collection.records, 0);
  const bytes = loaded.placements.reduce((sum, placement) => sum + placement.bytes, 0);
  const generation = loaded.generation.slice(0, 12);
  return `loaded ${countText(records)} records (${bytesText(bytes)}) of ${data} in ${(ms / 1000).toFixed(1)} s, generation ${generation}`;
}

async function startThreads(
  settings: Settings,
  ports: Ports,
  loaded: LoadedSnapshot,
  report: (line: string) => void,
): Promise<readonly Worker[]> {
  const baseUrl = loaded.baseUrl;
  const workers = Array.from({ length: settings.threads }, (_, i) => {
    const data: ServingData = {
      loaded,
      settings: { ...settings, baseUrl },
      host: settings.host,
      port: ports.port,
      http10Port: i === 0 ? ports.http10Port : undefined,
      poolThreads: 1,
    };
    return new Worker(new URL('./servingThread.ts', import.meta.url), { workerData: data });
  });
  try {
    await Promise.all(workers.map((worker) => listening(worker, report)));
  } catch (error) {
    await stopThreads(workers);
    throw error;
  }
  return workers;
}

/** Resolves when the thread listens. An error that ends a thread later ends the process: half a server is none. */
function listening(worker: Worker, report: (line: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    receive<FromThread>(worker, (message) => {
      if (message.kind === 'refused') reject(new OperationError('port', message.message));
      else if (message.kind === 'bug') report(`a request met a bug, please report it: ${message.stack}`);
      else if (message.kind === 'listening') {
        worker.off('error', reject);
        worker.once('error', (error) => {
          throw error;
        });
        resolve();
      }
    });
  });
}

async function stopThreads(workers: readonly Worker[]): Promise<void> {
  await Promise.all(
    workers.map(async (worker) => {
      const ended = once(worker, 'exit');
      send(worker, { kind: 'drain', withinMs: DRAIN_MS });
      await ended;
    }),
  );
}

function reportUrls(
  settings: Settings,
  ports: Ports,
  baseUrl: string,
  report: (line: string) => void,
): readonly string[] {
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
  const url = `http://${host}:${ports.port}`;
  const urls = [url];
  report(`listening on ${url}`);
  if (ports.http10Port !== undefined) {
    urls.push(`http://${host}:${ports.http10Port}`);
    report(`listening on ${urls[1]} (HTTP/1.0)`);
  }
  report(`links start with ${baseUrl}`);
  report(`try: curl '${url}${EXAMPLE_LIST}?limit=1'`);
  return urls;
}
