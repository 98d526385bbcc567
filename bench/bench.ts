// The entry of `npm run bench`: reads the flags, runs a benchmark, prints the tables. Exit codes: 0 measured; 1 a
// budget was exceeded, nothing could be compared, a response was wrong, or an operational error; 2 wrong usage; 128
// plus its number for a signal.
import path from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { OperationError } from '../data/operationError.ts';
import { withProgress } from '../server/commands/terminal.ts';
import { CACHE_DIRECTORY, observationsOf } from './load/dataSet.ts';
import { runArrivals } from './load/arrivals.ts';
import { runLoadBench, type LoadBenchOptions, type LoadObserver, type ScenarioReport } from './load/load.ts';
import { runMixedBench } from './load/mixed.ts';
import { runMicroBench } from './micro/micro.ts';
import { BUDGETED_OBSERVATIONS, type BudgetPlace } from './budgets.ts';
import { runImportRace } from './peers/importRace.ts';
import { runPeerBench } from './peers/peerBench.ts';
import { runProxyBench } from './proxy/proxyBench.ts';
import { endOnSignals } from './processes/ending.ts';
import { hasValgrind } from './processes/instructionCounts.ts';
import { runInstructionBench } from './load/instructions.ts';
import {
  growthJudgement,
  importJudgement,
  jointJudgement,
  loadJudgement,
  microJudgement,
  peerJudgement,
  proxyJudgement,
  soapJudgement,
  tableJudgement,
  type Judgement,
} from './report/judgement.ts';
import { writePage } from './report/page.ts';
import { instructionTable, startTable } from './report/report.ts';
import { WARM_UP } from './load/rounds.ts';
import { runSizes } from './load/sizes.ts';
import { runSoapBench } from './authority/soapBench.ts';
import { runStartBench } from './load/startBench.ts';
import { SCENARIOS } from './scenarios/scenarios.ts';

/** Settings that say which catalogue is measured, and how. */
interface Settings {
  readonly observations: number;
  readonly seed: number;
  readonly dataSet?: string;
  readonly snapshot?: string;
  readonly rounds: number;
  readonly only: readonly string[];
  readonly quick?: boolean;
  readonly against?: string;
  readonly report: string;
}

interface Flags extends Settings {
  readonly peers?: boolean;
  readonly imports?: boolean;
  readonly soap?: boolean;
  readonly proxy?: boolean;
  readonly sizes?: readonly number[];
  readonly micro?: boolean;
  readonly instructions?: boolean;
  readonly start?: boolean;
}

/** A run in place of the load benchmark: its option, and the settings that apply to it. It refuses all others. */
interface Mode {
  readonly flag: string;
  readonly what: string;
  readonly parse?: (text: string) => unknown;
  readonly run: (flags: Flags) => Promise<Judgement>;
  readonly settings: readonly (keyof Settings)[];
}

const DATA = ['observations', 'seed', 'dataSet', 'snapshot'] as const;
const ALL = [...DATA, 'rounds', 'only', 'quick', 'against', 'report'] as const;

const MODES: Readonly<Record<Exclude<keyof Flags, keyof Settings>, Mode>> = {
  peers: {
    flag: '--peers',
    what: 'compare with nginx, Django REST Framework, and Fastify over SQLite and json-server, which it installs; then run --imports and --soap',
    run: runPeers,
    settings: [...DATA, 'rounds', 'quick'],
  },
  imports: {
    flag: '--imports',
    what: 'compare an import with imports into SQLite and DuckDB, which it installs',
    run: runImports,
    settings: [...DATA, 'rounds', 'quick'],
  },
  soap: {
    flag: '--soap',
    what: 'compare the attribute authority with a bare server, RSA signatures, gSOAP in C and node soap',
    run: runSoap,
    settings: ['rounds', 'quick'],
  },
  proxy: {
    flag: '--proxy',
    what: 'send one mix of requests next to a heavy client: directly, and through nginx and HAProxy of deploy/',
    run: runProxy,
    settings: [...DATA, 'quick'],
  },
  sizes: {
    flag: '--sizes <counts>',
    what: 'show how costs grow with these numbers of observations',
    parse: counts,
    run: runGrowth,
    settings: ['seed', 'rounds', 'only', 'quick'],
  },
  micro: {
    flag: '--micro',
    what: 'run the micro-benchmarks; --only names a task',
    run: runMicro,
    settings: [...DATA, 'rounds', 'only', 'quick'],
  },
  instructions: {
    flag: '--instructions',
    what: 'count instructions per request with valgrind, at most 2,000 observations: of record, list and trustedHosts, or of --only',
    run: runInstructions,
    settings: [...DATA, 'only'],
  },
  start: {
    flag: '--start',
    what: 'measure the time and the CPU from the start of the process to its first response',
    run: runStart,
    settings: [...DATA, 'rounds'],
  },
};
const MODE_NAMES = Object.keys(MODES) as (keyof typeof MODES)[];

const REPORT = path.join(CACHE_DIRECTORY, 'report.html');
const QUICK_PART = 0.25;
/** More than eight times the last-level cache of the machines that run this. */
const FLOOR_BYTES = 256 << 20;
const BATCH_MS = 100;
const MICRO_BITS = 1_000_000;
/** Instructions hardly depend on the number of rows, and loading many takes valgrind minutes. */
const COUNTED_OBSERVATIONS = 2000;
/** One thread, and one for each core of the smallest supported machine. */
const START_THREADS = [1, 2];
const USAGE_EXIT = 2;

function command(): Command {
  const program = new Command('npm run bench --')
    .description('Measures CPU per request as a ratio to a control in the same run. Microseconds are for orientation.')
    .option('--observations <count>', 'observations of the generated catalogue', count, BUDGETED_OBSERVATIONS)
    .option('--seed <number>', 'seed of the generated catalogue', integer, 1)
    .addOption(
      new Option('--data-set <dir>', 'directory of NDJSON files instead of a generated catalogue').conflicts(
        'observations',
      ),
    )
    .option('--snapshot <file>', 'snapshot of --data-set; it is not compared with the data')
    .option('--rounds <count>', 'rounds; the lowest of each scenario counts', count, 7)
    .option('--only <name>', `one scenario (repeatable): ${SCENARIOS.map(({ name }) => name).join(', ')}`, oneMore, [])
    .option('--quick', 'send a quarter of the requests in each round; judge by the budgets of CI')
    .option('--report <file>', 'HTML report, written after each scenario', REPORT)
    .option('--against <revision>', 'compare this tree with another revision, in the same rounds')
    .addHelpText('after', helpText())
    .exitOverride()
    .action(async (flags: Flags) => {
      const mode = MODE_NAMES.find((name) => flags[name] !== undefined);
      const { text, isGood } = await (mode === undefined ? runLoad : MODES[mode].run)(flags);
      if (!isGood) process.exitCode = 1;
      process.stdout.write(`${text}\n`);
    });
  for (const name of MODE_NAMES) program.addOption(modeOption(name));
  return program;
}

/** The option of a mode. It conflicts with all other modes and with the settings that do not apply to it. */
function modeOption(name: keyof typeof MODES): Option {
  const { flag, what, parse, settings } = MODES[name];
  const others = [...MODE_NAMES.filter((one) => one !== name), ...ALL.filter((one) => !settings.includes(one))];
  const option = new Option(flag, what).conflicts(others);
  return parse ? option.argParser(parse) : option;
}

function helpText(): string {
  const flagOf = (name: string): string => `--${name.replace('dataSet', 'data-set')}`;
  const lines = MODE_NAMES.map((name) => `  ${flagOf(name).padEnd(16)}${MODES[name].settings.map(flagOf).join(' ')}`);
  return `
Each of these replaces the load bench, and accepts these options:
${lines.join('\n')}

--snapshot needs --data-set. The budgets are for ${BUDGETED_OBSERVATIONS.toLocaleString('en')} observations. At another
size, only --soap, --proxy and --sizes are judged.`;
}

function integer(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function count(text: string): number {
  if (integer(text) === 0) throw new InvalidArgumentError('It must be at least 1.');
  return integer(text);
}

function counts(text: string): readonly number[] {
  const sizes = [...new Set(text.split(',').map(count))];
  if (sizes.length < 2) throw new InvalidArgumentError('It must be two or more, such as 10000,100000,1000000.');
  return sizes;
}

function oneMore(name: string, names: readonly string[]): readonly string[] {
  return [...names, name];
}

async function optionsOf(flags: Flags): Promise<LoadBenchOptions> {
  const requestsPart = flags.quick === true ? QUICK_PART : 1;
  const warmUp = WARM_UP / requestsPart;
  return {
    ...flags,
    place: await sizedPlaceOf(flags),
    requestsPart,
    warmUp,
    floorBytes: FLOOR_BYTES,
    cacheDirectory: CACHE_DIRECTORY,
  };
}

/** Undefined if the catalogue has another size than that of the budgets. */
async function sizedPlaceOf(flags: Flags): Promise<BudgetPlace | undefined> {
  return (await observationsOf(flags)) === BUDGETED_OBSERVATIONS ? placeOf(flags) : undefined;
}

function placeOf({ quick }: Flags): BudgetPlace {
  return quick === true ? 'ci' : 'hand';
}

/** Runs work and shows its progress as a bar and as lines. */
function observed<T>(work: (observer: LoadObserver) => Promise<T>): Promise<T> {
  return withProgress(process.stderr, (onProgress) => work({ onProgress, onStep }));
}

function onStep(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function runPeers(flags: Flags): Promise<Judgement> {
  const options = await optionsOf(flags);
  const peers = await observed((observer) => runPeerBench(options, observer));
  return jointJudgement([peerJudgement(peers, options.place), await runImports(flags), await runSoap(flags)]);
}

async function runImports(flags: Flags): Promise<Judgement> {
  const options = await optionsOf(flags);
  return importJudgement(await observed((observer) => runImportRace(options, observer)), options.place);
}

async function runSoap(flags: Flags): Promise<Judgement> {
  return soapJudgement(await runSoapBench(await optionsOf(flags), { onStep }), placeOf(flags));
}

async function runProxy(flags: Flags): Promise<Judgement> {
  const { requestsPart, ...options } = await optionsOf(flags);
  const requests = Math.max(1, Math.round(PROXY_REQUESTS * requestsPart));
  const run = { ...options, rounds: PROXY_ROUNDS, requests, seconds: PROXY_SECONDS * requestsPart, parts: PROXY_PARTS };
  return proxyJudgement(await observed((observer) => runProxyBench(run, observer)), placeOf(flags));
}

/** Requests of a round at full speed through each proxy. */
const PROXY_REQUESTS = 4000;
/** Offered load as a fraction of the direct maximum of the replicas. Proxy and client share the two cores. */
const PROXY_PARTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
const PROXY_SECONDS = 3;
const PROXY_ROUNDS = 2;

/** Cheap requests of a round next to an expensive client. */
const CHEAP_REQUESTS = 16_000;
/** Requests of a round at a fixed rate: ten of them are beyond p99.9. */
const ARRIVALS = 10_000;

/** Runs the scenarios. A full run of all also measures the waits of clients. */
async function runLoad(flags: Flags): Promise<Judgement> {
  const options = await optionsOf(flags);
  const isWhole = flags.only.length === 0 && flags.quick !== true;
  return observed(async (observer) => {
    const { place } = options;
    const onReports = (measured: readonly ScenarioReport[], missing: number): void =>
      writePage(flags.report, measured, { place, missing });
    const reports = await runLoadBench(options, { ...observer, onReports });
    onReports(reports, 0);
    onStep(`report: ${flags.report}`);
    if (!isWhole) return loadJudgement(reports, [], options.place);
    const mixed = await runMixedBench({ ...options, cheapRequests: CHEAP_REQUESTS }, observer);
    const arrivals = await runArrivals({ ...options, arrivals: ARRIVALS }, observer);
    return loadJudgement(reports, [...mixed, ...arrivals], options.place);
  });
}

async function runGrowth(flags: Flags): Promise<Judgement> {
  const options = await optionsOf(flags);
  return growthJudgement(await observed((observer) => runSizes(options, flags.sizes!, observer)));
}

async function runMicro(flags: Flags): Promise<Judgement> {
  const batchMs = flags.quick === true ? BATCH_MS * QUICK_PART : BATCH_MS;
  const options = { ...flags, batchMs, bits: MICRO_BITS, cacheDirectory: CACHE_DIRECTORY };
  const reports = await observed(({ onProgress }) => runMicroBench(options, onProgress));
  const isWhole = flags.only.length > 0 || reports.some(({ name }) => name === 'memmem');
  const skipped = isWhole ? [] : ['memmem was skipped: there is no C compiler (cc)'];
  return microJudgement(reports, await sizedPlaceOf(flags), skipped);
}

async function runInstructions(flags: Flags): Promise<Judgement> {
  if (!(await hasValgrind())) return { text: 'not counted: valgrind is not installed', isGood: true };
  const observations = Math.min(flags.observations, COUNTED_OBSERVATIONS);
  const options = { ...flags, observations, cacheDirectory: CACHE_DIRECTORY };
  return tableJudgement(instructionTable(await observed((observer) => runInstructionBench(options, observer))));
}

async function runStart(flags: Flags): Promise<Judgement> {
  const options = { ...(await optionsOf(flags)), threads: START_THREADS };
  return tableJudgement(startTable(await runStartBench(options, onStep)));
}

/** Reports why a run failed, and sets the exit code. */
function tell(error: unknown): void {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_EXIT;
  else if (error instanceof OperationError) {
    process.stderr.write(`bench: ${error.message}\n`);
    process.exitCode = error.code === 'usage' ? USAGE_EXIT : 1;
  } else throw error;
}

endOnSignals();
try {
  await command().parseAsync();
} catch (error) {
  tell(error);
}
