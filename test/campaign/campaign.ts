// Command line of a campaign, `npm run campaign -- --minutes 10 --seed 7`. Prints a line per minute and the table at
// the end, also on Ctrl-C. Saves each find as a file that `--repeat` runs again. `--soak` applies steady load instead;
// `--dear` measures how long other clients wait during expensive requests. Exit codes: 0 no find and all limits kept, 1
// a find or an exceeded limit, 2 wrong usage.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { OperationError } from '../../data/operationError.ts';
import { drawSeed } from '../support/random.ts';
import { dearWaits } from './dear.ts';
import { isShort, kindHead, kindLine, minuteLine, slowLines, table, totalOf } from './report.ts';
import { campaign, type Find, repeated } from './run.ts';
import { soak } from './soak.ts';
import { STRAINS } from './strains/all.ts';

interface Flags {
  readonly minutes: number;
  readonly seed: number;
  readonly observations: number;
  readonly repeat?: Find;
  readonly soak?: boolean;
  readonly dear?: boolean;
}

/** After 70 s without work a server has stopped its pool threads and collected its garbage. */
const REST_MS = 100_000;
/** Allowed growth of memory from the first minute to the time after the rest. */
const MEMORY_BYTES_MAX = 50 << 20;
/**
 * Observations of a soak (the number that the performance targets are for), and its growth limit in MB an hour once
 * warm.
 */
const SOAK_OBSERVATIONS = 100_000;
const SOAK_SLOPE_MAX = 1;
/** Minimum of verified responses for each planned minute: 3,000,000 in half an hour. */
const SOAK_ANSWERS_MIN = 100_000;
const USAGE_EXIT = 2;

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0)) throw new InvalidArgumentError('It must be a number from 0.');
  return value;
}

/** Reads a saved find. */
function savedFind(file: string): Find {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Find;
  } catch (error) {
    throw new InvalidArgumentError(`It must be the file of a find: ${(error as Error).message}`);
  }
}

const program = new Command('npm run campaign --')
  .description('Hostile clients, bytes and data against a server whose every answer is verified.')
  .option('--minutes <number>', 'how long', number, 10)
  .option('--seed <number>', 'start of the random numbers; another one in each run without it', number, drawSeed())
  .option(
    '--observations <number>',
    'generated ones instead of a small random catalogue that the oracle knows',
    number,
    0,
  )
  .addOption(new Option('--repeat <file>', 'runs the turn of a saved find again').argParser(savedFind))
  .addOption(
    new Option('--soak', 'no hostility: 80 % of the highest load, every body of every answer checked').conflicts([
      'repeat',
      'dear',
    ]),
  )
  .addOption(
    new Option('--dear', 'what others wait for beside each kind of dear request, alone and sixty at once').conflicts(
      'repeat',
    ),
  )
  .exitOverride();
let isInterrupted = false;
const isOver = (): boolean => isInterrupted;
try {
  process.exitCode = await ran(program.parse().opts<Flags>());
} catch (error) {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : USAGE_EXIT;
  else if (error instanceof OperationError && error.code === 'usage') {
    process.stderr.write(`campaign: ${error.message}\n`);
    process.exitCode = USAGE_EXIT;
  } else throw error;
}

function ran(flags: Flags): Promise<number> {
  if (flags.repeat !== undefined) return repeat(flags.repeat);
  // A terminal sends Ctrl-C twice, because npm forwards it.
  process.on('SIGINT', () => (isInterrupted = true));
  if (flags.soak === true) return runSoak(flags);
  return flags.dear === true ? runDear(flags) : run(flags);
}

async function repeat(find: Find): Promise<number> {
  const finds = await repeated(find);
  process.stdout.write(finds.length === 0 ? 'not found again\n' : `${finds.join('\n')}\n`);
  return finds.length === 0 ? 0 : 1;
}

async function runSoak({ minutes, seed, observations }: Flags): Promise<number> {
  const { answers, fault, slope } = await soak({
    seed,
    observations: observations || SOAK_OBSERVATIONS,
    minutes,
    isOver,
    onStep: (line) => process.stdout.write(`${line}\n`),
  });
  const growth = slope === undefined ? 'too short to tell how memory grows' : `memory ${slope.toFixed(1)} MB an hour`;
  process.stdout.write(`${answers} answers checked, ${fault ?? 'none of them wrong'}; ${growth}\n`);
  const isThin = !isOver() && answers < SOAK_ANSWERS_MIN * minutes;
  if (isThin) process.stdout.write(`that is too few: at least ${SOAK_ANSWERS_MIN} a minute\n`);
  return fault === undefined && !isThin && (slope ?? 0) < SOAK_SLOPE_MAX ? 0 : 1;
}

async function runDear({ seed, observations }: Flags): Promise<number> {
  process.stdout.write(`${kindHead()}\n`);
  const kinds = await dearWaits({
    seed,
    observations,
    isOver,
    onWorld: leaveCores,
    onKind: (kind) => process.stdout.write(`${kindLine(kind)}\n`),
  });
  return kinds.every(isShort) ? 0 : 1;
}

/**
 * Lowers the priority of this process, so that the hostile clients leave the cores to the server and the watching
 * client.
 */
function leaveCores(): void {
  setPriority(constants.priority.PRIORITY_LOW);
}

async function run({ minutes, seed, observations }: Flags): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'campaign-finds-'));
  process.stdout.write(`seed ${seed}; finds are saved in ${directory}\n`);
  let saved = 0;
  const { tallies, memory, rest } = await campaign({
    seed,
    observations,
    seconds: minutes * 60,
    restMs: REST_MS,
    isOver,
    onWorld: leaveCores,
    onMinute: (...sample) => process.stdout.write(`${minuteLine(...sample)}\n`),
    onFind: (find) => {
      const file = join(directory, `${++saved}.json`);
      writeFileSync(file, `${JSON.stringify(find, undefined, 2)}\n`);
      process.stdout.write(`${find.strain}: ${find.finds[0]?.slice(0, 300)} (npm run campaign -- --repeat ${file})\n`);
    },
    onLeak: (line) => process.stdout.write(`${line}\n`),
  });
  process.stdout.write(`${table(tallies, memory, rest)}\n`);
  const { finds } = totalOf(tallies);
  const slow = slowLines(tallies, STRAINS);
  const isLarge = rest.residentBytes - (memory[0]?.residentBytes ?? rest.residentBytes) > MEMORY_BYTES_MAX;
  for (const line of slow) process.stdout.write(`${line}\n`);
  if (isLarge) process.stdout.write(`memory did not come back within ${MEMORY_BYTES_MAX >> 20} MB\n`);
  return finds.length > 0 || slow.length > 0 || isLarge ? 1 : 0;
}
