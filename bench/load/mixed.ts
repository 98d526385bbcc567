// One expensive client next to cheap ones: how much slower these get, as ratios of interleaved rounds within one run.
// It measures waits of clients, not CPU time.
import assert from 'node:assert/strict';
import { prepareDataSet, type DataSetOptions } from './dataSet.ts';
import type { LoadObserver } from './load.ts';
import { startLoadClient, type LoadOutcome } from '../client/loadClient.ts';
import { startServer } from '../processes/processes.ts';
import { LIST } from '../scenarios/questions.ts';
import { onStage } from '../processes/stage.ts';
import { exchangesOf, waitOf, type WaitReport } from './waits.ts';

/** `rounds` rounds alone and next to the expensive client, with this many cheap requests in each. */
export interface MixedOptions extends DataSetOptions {
  readonly rounds: number;
  readonly cheapRequests: number;
}

const CONNECTIONS = 4;
const WITHIN_MS = 120_000;
const HEAVY_REQUESTS = 1_000_000;
const CHEAP = [`${LIST}?limit=1`, `${LIST}?limit=2&offset=90000`, `${LIST}?status=completed&limit=1&offset=500`];
/** No abstract has two of these in a row. Two characters are too few for an index, so all abstracts are read. */
const RARE = ['%7E', '%5E', '%7C', '%7B', '%7D', '%40', '%5C', '%60'];
const NOTHING_FOUND = '{"count":0,"next":null,"previous":null,"results":[]}';
/** Lists that read all abstracts and find nothing. */
export const HEAVY_LISTS: readonly string[] = RARE.flatMap((one) =>
  RARE.map((other) => `${LIST}?abstract__contains=${one}${other}`),
);

/** Runs the benchmark. Rejects if a response changes, or if no expensive list was answered next to the cheap ones. */
export async function runMixedBench(options: MixedOptions, observer: LoadObserver): Promise<readonly WaitReport[]> {
  const { snapshot } = await prepareDataSet(options, observer.onProgress);
  return onStage(async (stage) => {
    const { port } = await stage.started(startServer(snapshot));
    const cheapClient = await stage.started(startLoadClient());
    const heavyClient = await stage.started(startLoadClient());
    const order = { port, connections: CONNECTIONS, withinMs: WITHIN_MS };
    const heavy = { ...order, exchanges: await exchangesOf(port, HEAVY_LISTS) };
    assert(
      heavy.exchanges.every(({ bytes }) => bytes === NOTHING_FOUND.length),
      'a heavy list has found something',
    );
    const cheap = { ...order, exchanges: await exchangesOf(port, CHEAP), requests: options.cheapRequests };
    const askCheaply = (): Promise<LoadOutcome> => cheapClient.run(cheap);
    const [alone, beside]: [LoadOutcome[], LoadOutcome[]] = [[], []];
    await askCheaply();
    let heavyAnswers = 0;
    for (let round = 1; round <= options.rounds; round++) {
      observer.onStep(`measuring, round ${round} of ${options.rounds}`);
      alone.push(await askCheaply());
      // Some are answered before the cheap ones start.
      await heavyClient.run({ ...heavy, requests: CONNECTIONS });
      const asking = heavyClient.run({ ...heavy, requests: HEAVY_REQUESTS });
      beside.push(await askCheaply());
      heavyClient.enough();
      heavyAnswers += (await asking).requests;
    }
    if (heavyAnswers === 0) throw new Error('no heavy list was answered beside the cheap ones');
    observer.onStep(`${heavyAnswers} heavy lists were answered beside the cheap ones`);
    return MEASURES.map(({ of, ...told }) => ({ ...told, ...waitOf(beside.map(of), alone.map(of)) }));
  });
}

const MEASURES = [
  {
    name: 'mixedP99',
    what: 'cheap p99 beside a heavy client / alone',
    pass: 3,
    great: 1.5,
    of: ({ p99Ms }: LoadOutcome) => p99Ms,
  },
  {
    name: 'mixedP999',
    what: 'cheap p99.9 beside a heavy client / alone',
    pass: 3,
    great: 1.5,
    of: ({ p999Ms }: LoadOutcome) => p999Ms,
  },
  {
    name: 'mixedTime',
    what: 'time for the cheap requests beside a heavy client / alone',
    pass: 1 / 0.5,
    great: 1 / 0.8,
    of: ({ elapsedMs }: LoadOutcome) => elapsedMs,
  },
] as const;
