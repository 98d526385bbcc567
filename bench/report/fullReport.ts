// All that a report shows, measured one after the other: load, waits, peers, imports, the authority, proxies and sizes.
// Composition only.
import { execFile } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { promisify } from 'node:util';
import { bytesText } from '../../server/observe/quantities.ts';
import { isEnding } from '../processes/ending.ts';
import { observationsOf } from '../load/dataSet.ts';
import { runLoadBench, type LoadObserver, type LoadBenchOptions, type ScenarioReport } from '../load/load.ts';
import { runArrivals } from '../load/arrivals.ts';
import { runMixedBench } from '../load/mixed.ts';
import type { WaitReport } from '../load/waits.ts';
import { runImportRace, type ImportRaceReport } from '../peers/importRace.ts';
import { runPeerBench, type PeerReport } from '../peers/peerBench.ts';
import { runSoapBench, type SoapReport } from '../authority/soapBench.ts';
import { hasProxies, runProxyBench, type ProxyOptions, type ProxyPoint } from '../proxy/proxyBench.ts';
import { runSizes, type SizeReport } from '../load/sizes.ts';

/** What was measured, and on what; `failures` says which parts could not be, and why. */
export interface FullReport {
  readonly machine: string;
  readonly revision: string;
  readonly observations: number | undefined;
  readonly load: readonly ScenarioReport[];
  readonly waits: readonly WaitReport[];
  readonly peers: readonly PeerReport[];
  readonly imports: ImportRaceReport | undefined;
  readonly soap: readonly SoapReport[];
  readonly proxied: readonly ProxyPoint[];
  readonly sizes: readonly SizeReport[];
  readonly failures: readonly string[];
}

/** Cheap requests of a round of the mixed bench. */
const CHEAP_REQUESTS = 16_000;
/** Requests of a round at a fixed rate: ten of them are beyond p99.9. */
const ARRIVALS = 10_000;
/** Smaller catalogues beside the one of the options, for what is drawn against the number of records. */
const SIZES = [1000, 10_000, 100_000];

/**
 * Runs all. What fails behind the load bench, of others' programs mostly, is left out and told, so that what took
 * minutes is not lost. Cost: some minutes at 100,000 observations.
 */
export async function runFullReport(options: LoadBenchOptions, observer: LoadObserver): Promise<FullReport> {
  const observations = await observationsOf(options);
  const load = await runLoadBench(options, observer);
  const { measured, failures } = reportParts(observer);
  const waits = await measured('waits', () => runWaits(options, observer), []);
  const peers = await measured('peers', () => runPeerBench(options, observer), []);
  const imports = await measured('imports', () => runImportRace(options, observer), undefined);
  const soap = await measured('authority', () => runSoapBench(options, observer), []);
  const runProxies = () => runProxyBench(proxyOptions(options), observer);
  const hasAll = hasProxies();
  if (!hasAll) observer.onStep('left out the proxies: nginx, HAProxy or openssl is not installed');
  const proxied = hasAll ? await measured('proxies', runProxies, []) : [];
  const smaller = ofSizes(
    options,
    SIZES.filter((size) => observations !== undefined && size < observations),
  );
  const sizes = await measured('sizes', () => runSizes([...smaller, options], observer, load), []);
  return {
    machine: machineText(),
    revision: await revisionText(),
    observations,
    load,
    waits,
    peers,
    imports,
    soap,
    proxied,
    sizes,
    failures,
  };
}

/** Measures part by part; one that fails is `none`, and stands in `failures`, unless a signal ends all. */
export function reportParts({ onStep }: Pick<LoadObserver, 'onStep'>): {
  readonly failures: readonly string[];
  measured<T>(name: string, measure: () => Promise<T>, none: T): Promise<T>;
} {
  const failures: string[] = [];
  return {
    failures,
    measured: async (name, measure, none) => {
      try {
        return await measure();
      } catch (error) {
        if (await isEnding()) throw error;
        const failure = `not measured: ${name}, ${error instanceof Error ? error.message : String(error)}`;
        onStep(failure);
        failures.push(failure);
        return none;
      }
    },
  };
}

/** What clients wait for, beside a heavy one and where requests arrive at a fixed rate. */
export async function runWaits(options: LoadBenchOptions, observer: LoadObserver): Promise<readonly WaitReport[]> {
  const part = (requests: number): number => Math.max(1, Math.round(requests * options.requestsPart));
  return [
    ...(await runMixedBench({ ...options, cheapRequests: part(CHEAP_REQUESTS) }, observer)),
    ...(await runArrivals({ ...options, arrivals: part(ARRIVALS) }, observer)),
  ];
}

/** Requests of the mix in a round as fast as they go. */
const PROXY_REQUESTS = 4000;
/** Parts of what the replicas do directly; two cores have proxy and client to bear too. */
const PROXY_PARTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
const PROXY_SECONDS = 3;
const PROXY_ROUNDS = 2;

/** The options of the proxies that belong to those of the load bench. */
export function proxyOptions(options: LoadBenchOptions): LoadBenchOptions & ProxyOptions {
  const requests = Math.max(1, Math.round(PROXY_REQUESTS * options.requestsPart));
  return {
    ...options,
    rounds: PROXY_ROUNDS,
    requests,
    seconds: PROXY_SECONDS * options.requestsPart,
    parts: PROXY_PARTS,
  };
}

/**
 * The options for generated catalogues of these sizes, ascending, on which nothing is raced, nor measured again for
 * budgets that are of another size.
 */
export function ofSizes(options: LoadBenchOptions, sizes: readonly number[]): readonly LoadBenchOptions[] {
  const alone = { dataSet: undefined, snapshot: undefined, against: undefined, place: undefined };
  return sizes.toSorted((a, b) => a - b).map((observations) => ({ ...options, ...alone, observations }));
}

function machineText(): string {
  const [first] = cpus();
  return `${cpus().length} cores of ${first?.model ?? 'an unknown model'}, ${bytesText(totalmem())}, Node ${process.version}`;
}

async function revisionText(): Promise<string> {
  try {
    const run = promisify(execFile);
    return (await run('git', ['describe', '--always', '--dirty'], { cwd: import.meta.dirname })).stdout.trim();
  } catch {
    return 'unknown';
  }
}
