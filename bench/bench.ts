// The entry of `npm run bench`: reads the flags, runs the load bench or the micro-benchmarks, prints the tables.
// Exit codes: 0 measured, 1 a budget was passed, an answer was wrong or the world failed, 2 wrong usage.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { OperationError } from '../data/operationError.ts';
import { tableText, withProgress } from '../server/commands/terminal.ts';
import { CACHE_DIRECTORY } from './load/dataSet.ts';
import {
  CLIENTS,
  measuredRatio,
  runLoadBench,
  type ClientName,
  type LoadBenchOptions,
  type ScenarioReport,
} from './load/load.ts';
import { runMicroBench } from './micro/micro.ts';
import { guardLines, MICRO_BUDGETS, type BudgetPlace } from './budgets.ts';
import { importRatios, runImportRace } from './peers/importRace.ts';
import { runPeerBench } from './peers/peerBench.ts';
import { proxyFigures, runProxyBench } from './proxy/proxyBench.ts';
import { runFullReport, ofSizes, proxyOptions, runWaits } from './report/fullReport.ts';
import { hasValgrind } from './processes/instructionCounts.ts';
import { runInstructionBench } from './load/instructions.ts';
import { htmlPage } from './report/htmlPage.ts';
import type { WaitReport } from './load/waits.ts';
import {
  growthLines,
  growthTable,
  importTable,
  instructionTable,
  loadTable,
  microTable,
  peerTable,
  proxyTable,
  soapTable,
  startTable,
  waitTable,
} from './report/report.ts';
import { WARM_UP } from './load/rounds.ts';
import { growthsOf, runSizes, type SizeReport } from './load/sizes.ts';
import { runSoapBench } from './authority/soapBench.ts';
import { runStartBench } from './load/startBench.ts';
import { SCENARIOS } from './scenarios/scenarios.ts';

interface Flags {
  readonly observations: number;
  readonly seed: number;
  readonly rounds: number;
  readonly only: readonly string[];
  readonly dataSet?: string;
  readonly snapshot?: string;
  readonly against?: string;
  readonly client: ClientName;
  readonly peers?: boolean;
  readonly imports?: boolean;
  readonly soap?: boolean;
  readonly proxy?: boolean;
  readonly sizes?: readonly number[];
  readonly report?: boolean;
  readonly quick?: boolean;
  readonly micro?: boolean;
  readonly instructions?: boolean;
  readonly start?: boolean;
}

const QUICK_PART = 0.25;
/** More than eight times the last cache of the machines this runs on. */
const FLOOR_BYTES = 256 << 20;
const BATCH_MS = 100;
const MICRO_BITS = 1_000_000;
/** Instructions hardly depend on the number of rows, and loading many takes valgrind minutes. */
const COUNTED_OBSERVATIONS = 2000;
/** One thread, and one a core of the smallest machines that this is for. */
const START_THREADS = [1, 2];
const USAGE_EXIT = 2;

function command(): Command {
  return new Command('npm run bench --')
    .description(
      'Measures CPU per request as ratios to bare controls in the same run; microseconds are for orientation.',
    )
    .option('--observations <count>', 'observations of the generated catalogue', count, 100_000)
    .option('--seed <number>', 'seed of the generated catalogue', integer, 1)
    .option('--data-set <dir>', 'a directory of NDJSON instead of a generated one')
    .option('--snapshot <file>', 'its snapshot, where there is one already; it is trusted to be of this data')
    .option('--rounds <count>', 'interleaved rounds, of which the least counts', count, 7)
    .option('--only <name>', `one scenario (repeatable): ${SCENARIOS.map(({ name }) => name).join(', ')}`, oneMore, [])
    .addOption(
      new Option('--client <name>', 'who asks, of the scenarios').choices(Object.keys(CLIENTS)).default('built-in'),
    )
    .option('--quick', 'a quarter of the requests a round, judged as CI judges')
    .option('--against <revision>', 'race this tree against another revision, in the same rounds')
    .option(
      '--peers',
      'race against Fastify over SQLite, json-server and nginx, the first two installed for it; then --imports, --soap',
    )
    .option('--imports', 'an import alone, beside imports into SQLite and DuckDB, which are installed for it')
    .option('--soap', 'the attribute authority alone: beside a bare server, RSA signatures, gSOAP in C and node soap')
    .option('--proxy', 'one mix of requests beside a heavy client, directly, through nginx and HAProxy of deploy/')
    .option('--sizes <counts>', 'how costs grow from one of these numbers of observations to the next', counts)
    .option('--report', 'all of these, and how costs grow, as tables and plots in bench/report.html')
    .option('--micro', 'the micro-benchmarks instead of the load bench; --only then names a task')
    .option(
      '--instructions',
      'instructions per request of record, list and trustedHosts, or of --only, as valgrind counts them',
    )
    .option('--start', 'from the start of the process to its first answer, and the CPU that takes')
    .exitOverride()
    .action(async (flags: Flags) => {
      const table = await benchOf(flags)(flags);
      process.stdout.write(`${table}\n`);
    });
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

function benchOf({
  micro,
  peers,
  imports,
  soap,
  proxy,
  sizes,
  report,
  instructions,
  start,
  only,
}: Flags): (flags: Flags) => Promise<string> {
  if (instructions === true) return runInstructions;
  if (start === true) return runStart;
  if (micro === true) return runMicro;
  if (imports === true) return runImports;
  if (soap === true) return runSoap;
  if (proxy === true) return runProxy;
  if (peers === true) return runPeers;
  if (sizes !== undefined) return runGrowth;
  if (report === true) return runReport;
  return only.length > 0 ? runLoad : runWhole;
}

function optionsOf(flags: Flags): LoadBenchOptions {
  const requestsPart = flags.quick === true ? QUICK_PART : 1;
  const warmUp = WARM_UP / requestsPart;
  return {
    ...flags,
    place: placeOf(flags),
    requestsPart,
    warmUp,
    floorBytes: FLOOR_BYTES,
    cacheDirectory: CACHE_DIRECTORY,
  };
}

function onStep(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function runPeers(flags: Flags): Promise<string> {
  const options = optionsOf(flags);
  const peers = await withProgress(process.stderr, (onProgress) => runPeerBench(options, { onProgress, onStep }));
  return [tableText(peerTable(peers)), await runImports(flags), await runSoap(flags)].join('\n\n');
}

async function runImports(flags: Flags): Promise<string> {
  const options = optionsOf(flags);
  const report = await withProgress(process.stderr, (onProgress) => runImportRace(options, { onProgress, onStep }));
  const { lines, isGood } = guardLines(importRatios(report), placeOf(flags));
  // A machine that has no peers is told so, and has lost nothing.
  if (!isGood && report.peers.length > 0) process.exitCode = 1;
  return [tableText(importTable(report)), lines.join('\n')].join('\n\n');
}

async function runSoap(flags: Flags): Promise<string> {
  return tableText(soapTable(await runSoapBench(optionsOf(flags), { onStep })));
}

async function runProxy(flags: Flags): Promise<string> {
  const options = proxyOptions(optionsOf(flags));
  const points = await withProgress(process.stderr, (onProgress) => runProxyBench(options, { onProgress, onStep }));
  const { lines, isGood } = guardLines(proxyFigures(points), placeOf(flags));
  const errors = points.reduce((sum, point) => sum + point.errors, 0);
  if (!isGood || errors > 0) process.exitCode = 1;
  return [tableText(proxyTable(points)), lines.join('\n')].join('\n\n');
}

async function runLoad(flags: Flags): Promise<string> {
  const options = optionsOf(flags);
  const reports = await withProgress(process.stderr, (onProgress) => runLoadBench(options, { onProgress, onStep }));
  return judged(flags, reports, []);
}

/** All scenarios, and unless it has to be quick what clients wait for. */
async function runWhole(flags: Flags): Promise<string> {
  if (flags.quick === true) return runLoad(flags);
  const options = optionsOf(flags);
  return withProgress(process.stderr, async (onProgress) => {
    const reports = await runLoadBench(options, { onProgress, onStep });
    return judged(flags, reports, await runWaits(options, { onProgress, onStep }));
  });
}

const REPORT_FILE = fileURLToPath(new URL('./report.html', import.meta.url));

async function runReport(flags: Flags): Promise<string> {
  const options = optionsOf(flags);
  const report = await withProgress(process.stderr, (onProgress) => runFullReport(options, { onProgress, onStep }));
  await writeFile(REPORT_FILE, htmlPage(report, placeOf(flags)));
  // Beside a small catalogue there is no smaller one.
  const growth = report.sizes.length > 1 ? [grown(report.sizes)] : [];
  const tables = [judged(flags, report.load, report.waits), ...growth, tableText(peerTable(report.peers))];
  return [...tables, `wrote ${REPORT_FILE}`].join('\n\n');
}

async function runGrowth(flags: Flags): Promise<string> {
  const sizes = ofSizes(optionsOf(flags), flags.sizes!);
  return grown(await withProgress(process.stderr, (onProgress) => runSizes(sizes, { onProgress, onStep })));
}

/** How costs grow, and below the table what grew too much, which is the exit code. */
function grown(sizes: readonly SizeReport[]): string {
  const growths = growthsOf(sizes);
  const { lines, isGood } = growthLines(growths);
  if (!isGood) process.exitCode = 1;
  return [tableText(growthTable(growths)), lines.join('\n')].join('\n\n');
}

/** The tables, and below them what the budgets say; a budget that is passed is the exit code. */
function judged(flags: Flags, reports: readonly ScenarioReport[], waits: readonly WaitReport[]): string {
  const place = placeOf(flags);
  const ratios = reports.map(measuredRatio);
  const { lines, isGood } = guardLines([...ratios, ...waits], place);
  if (!isGood) process.exitCode = 1;
  const tables = [
    tableText(loadTable(reports, place)),
    ...(waits.length > 0 ? [tableText(waitTable(waits, place))] : []),
  ];
  return [...tables, lines.join('\n')].join('\n\n');
}

function placeOf({ quick }: Flags): BudgetPlace {
  return quick === true ? 'ci' : 'hand';
}

async function runMicro(flags: Flags): Promise<string> {
  const batchMs = flags.quick === true ? BATCH_MS * QUICK_PART : BATCH_MS;
  const options = { ...flags, batchMs, bits: MICRO_BITS, cacheDirectory: CACHE_DIRECTORY };
  const reports = await withProgress(process.stderr, (onProgress) => runMicroBench(options, onProgress));
  const place = placeOf(flags);
  const { lines, isGood } = guardLines(reports, place, MICRO_BUDGETS, 'micro');
  if (!isGood) process.exitCode = 1;
  const isWhole = flags.only.length > 0 || reports.some(({ name }) => name === 'memmem');
  const skipped = isWhole ? [] : ['memmem was skipped: there is no C compiler (cc)'];
  return [tableText(microTable(reports, place)), [...lines, ...skipped].join('\n')].join('\n\n');
}

async function runInstructions(flags: Flags): Promise<string> {
  if (!(await hasValgrind())) return 'not counted: valgrind is not installed';
  const observations = Math.min(flags.observations, COUNTED_OBSERVATIONS);
  const options = { ...flags, observations, cacheDirectory: CACHE_DIRECTORY };
  return tableText(
    instructionTable(
      await withProgress(process.stderr, (onProgress) => runInstructionBench(options, { onProgress, onStep })),
    ),
  );
}

async function runStart(flags: Flags): Promise<string> {
  return tableText(startTable(await runStartBench({ ...optionsOf(flags), threads: START_THREADS }, onStep)));
}

try {
  await command().parseAsync();
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_EXIT;
  else if (error instanceof OperationError) {
    process.stderr.write(`bench: ${error.message}\n`);
    process.exitCode = error.code === 'usage' ? USAGE_EXIT : 1;
  } else throw error;
}
