// Requests that arrive at a fixed rate, whether or not earlier ones were answered, like those of many clients. Measures
// their waits against a bare server with the same arrivals and as many bytes, equally hot.
import { startLoadClient, type LoadOrder, type LoadOutcome } from '../client/loadClient.ts';
import { startControl, startServer } from '../processes/processes.ts';
import { onStage } from '../processes/stage.ts';
import { bareLoad } from '../scenarios/controlLoads.ts';
import { LIST } from '../scenarios/questions.ts';
import { prepareDataSet, type DataSetOptions } from './dataSet.ts';
import type { LoadObserver } from './load.ts';
import type { Load } from './rounds.ts';
import { exchangesOf, waitOf, type WaitReport } from './waits.ts';

/** `rounds` rounds of this many requests, at a fraction of the maximum rate. */
export interface ArrivalOptions extends DataSetOptions {
  readonly rounds: number;
  readonly arrivals: number;
}

/** Fraction of the maximum rate for the same requests. */
const PART_OF_PEAK = 0.7;
const CONNECTIONS = 16;
const WITHIN_MS = 120_000;
/** Pages of 100 near and deep, pages of one, a filter: the requests of harvesters, portals and scripts in turn. */
const TARGETS = ['', '?offset=90000', '?limit=1', '?offset=500&limit=2', '?status=completed&limit=20'].map(
  (query) => `${LIST}${query}`,
);

/** Measures the maximum rate, then the server and the bare server in turn. Rejects if a response changes. */
export async function runArrivals(options: ArrivalOptions, observer: LoadObserver): Promise<readonly WaitReport[]> {
  const { snapshot } = await prepareDataSet(options, observer.onProgress);
  return onStage(async (stage) => {
    const server = await stage.started(startServer(snapshot));
    const client = await stage.started(startLoadClient());
    const exchanges = await exchangesOf(server.port, TARGETS);
    const control = await stage.started(startControl(exchanges.reduce((sum, { bytes }) => sum + bytes, 0)));
    const load: Load = { process: server, exchanges, requests: options.arrivals };
    const [ours, bare] = [orderOf(load), orderOf(bareLoad(control, 'page', load, ''))];
    for (const order of [ours, bare]) await client.run(order);
    const { requests, elapsedMs } = await client.run(ours);
    const perSecond = (PART_OF_PEAK * requests * 1000) / elapsedMs;
    const [waits, controls]: [LoadOutcome[], LoadOutcome[]] = [[], []];
    for (let round = 1; round <= options.rounds; round++) {
      observer.onStep(`measuring at ${perSecond.toFixed(0)} arrivals a second, round ${round} of ${options.rounds}`);
      waits.push(await client.run({ ...ours, perSecond }));
      controls.push(await client.run({ ...bare, perSecond }));
    }
    return MEASURES.map(({ name, part, of }) => {
      const what = `${part} of arrivals at ${PART_OF_PEAK * 100} % of the peak / of a bare server`;
      return { name, what, ...waitOf(waits.map(of), controls.map(of)) };
    });
  });
}

const MEASURES = [
  { name: 'arrivalsP50', part: 'p50', of: ({ p50Ms }: LoadOutcome) => p50Ms },
  { name: 'arrivalsP99', part: 'p99', of: ({ p99Ms }: LoadOutcome) => p99Ms },
  { name: 'arrivalsP999', part: 'p99.9', of: ({ p999Ms }: LoadOutcome) => p999Ms },
] as const;

function orderOf({ process: { port }, exchanges, requests }: Load): LoadOrder {
  return { port, exchanges, requests, connections: CONNECTIONS, withinMs: WITHIN_MS };
}
