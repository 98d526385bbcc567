// The entry of `npm run bench`: reads the flags, runs the load bench or the micro-benchmarks, prints the tables.
// Exit codes: 0 measured, 1 an answer was wrong or the world failed, 2 wrong usage. Judges nothing: guards are tests.
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { OperationError } from '../data/operationError.ts';
import { withProgress } from '../server/terminal.ts';
import { CACHE_DIRECTORY } from './dataSet.ts';
import { runLoadBench } from './load.ts';
import { runMicroBench } from './micro.ts';
import { loadTable, microTable } from './report.ts';
import { SCENARIOS } from './scenarios.ts';

interface Flags {
  readonly observations: number;
  readonly seed: number;
  readonly rounds: number;
  readonly only: readonly string[];
  readonly quick?: boolean;
  readonly micro?: boolean;
}

const QUICK_PART = 0.25;
/** More than eight times the last cache of the machines this runs on. */
const FLOOR_BYTES = 256 << 20;
const BATCH_MS = 100;
const MICRO_BITS = 1_000_000;
const USAGE_EXIT = 2;

function command(): Command {
  return new Command('npm run bench --')
    .description(
      'Measures CPU per request as ratios to bare controls in the same run; microseconds are for orientation.',
    )
    .option('--observations <count>', 'observations of the generated catalogue', count, 100_000)
    .option('--seed <number>', 'seed of the generated catalogue', integer, 1)
    .option('--rounds <count>', 'interleaved rounds, of which the least counts', count, 7)
    .option('--only <name>', `one scenario (repeatable): ${SCENARIOS.map(({ name }) => name).join(', ')}`, oneMore, [])
    .option('--quick', 'a quarter of the requests a round')
    .option('--micro', 'the micro-benchmarks instead of the load bench; --only then names a task')
    .exitOverride()
    .action(async (flags: Flags) => {
      const table = flags.micro === true ? await micro(flags) : await load(flags);
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

function oneMore(name: string, names: readonly string[]): readonly string[] {
  return [...names, name];
}

async function load(flags: Flags): Promise<string> {
  const requestsPart = flags.quick === true ? QUICK_PART : 1;
  const options = { ...flags, requestsPart, floorBytes: FLOOR_BYTES, cacheDirectory: CACHE_DIRECTORY };
  const onStep = (line: string): void => void process.stderr.write(`${line}\n`);
  return loadTable(await withProgress(process.stderr, (onProgress) => runLoadBench(options, { onProgress, onStep })));
}

async function micro(flags: Flags): Promise<string> {
  const batchMs = flags.quick === true ? BATCH_MS * QUICK_PART : BATCH_MS;
  const options = { ...flags, batchMs, bits: MICRO_BITS, cacheDirectory: CACHE_DIRECTORY };
  return microTable(await withProgress(process.stderr, (onProgress) => runMicroBench(options, onProgress)));
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
