// A campaign: runs strains in turn against one world until the time is over. One seed determines everything. Each turn
// has its own seed, which is enough to repeat it. Prints nothing itself.
import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../data/operationError.ts';
import { holdingsOf } from '../support/commandProcess.ts';
import { leakedDescriptors } from '../support/fuzz.ts';
import { randomOf } from '../support/random.ts';
import { counted, type MemorySample, type Tally, WAIT_TRIES, waitMsMax } from './report.ts';
import { STRAINS } from './strains/all.ts';
import { both, type Outcome, type Strain } from './strain.ts';
import { type World, worldOf, type WorldOptions } from './world.ts';

/** A turn that found something: how to repeat it, and what was wrong. */
export interface Find extends WorldOptions {
  readonly strain: string;
  readonly turnSeed: number;
  readonly finds: readonly string[];
}

/**
 * Duration (at least one turn of each strain), seed and callbacks. If `isOver` returns true, the campaign ends after
 * the current turn. `restMs` is the idle time before memory is measured for the last time. `onWorld` is called once the
 * server and the watching client run, `onLeak` for a find after the turns, which no turn repeats.
 */
export interface CampaignOptions extends WorldOptions {
  readonly seconds: number;
  readonly restMs: number;
  readonly isOver: () => boolean;
  readonly onWorld?: () => void;
  readonly onFind: (find: Find) => void;
  readonly onLeak: (line: string) => void;
  readonly onMinute: (minute: number, tallies: readonly Tally[], residentBytes: number) => void;
}

/** The result of a campaign. `rest` is the memory after an idle time. */
export interface Campaign {
  readonly tallies: readonly Tally[];
  readonly memory: readonly MemorySample[];
  readonly rest: MemorySample;
}

const MINUTE_SECONDS = 60;
/** Interval at which the end of the rest is polled. */
const LOOK_MS = 500;
/** Rounds of all strains until all threads and caches exist. */
const WARM_ROUNDS = 4;
/** Only a hang makes a turn this long. */
const TURN_MS_MAX = 180_000;

/** Runs a campaign to its end. */
export async function campaign(options: CampaignOptions): Promise<Campaign> {
  const world = await worldOf(options);
  try {
    options.onWorld?.();
    return await against(world, options);
  } finally {
    await world.close();
  }
}

async function against(world: World, options: CampaignOptions): Promise<Campaign> {
  const { seed, observations, seconds, restMs, isOver, onFind, onLeak, onMinute } = options;
  const random = randomOf(seed);
  const tallies: Tally[] = STRAINS.map(({ name }) => ({
    name,
    turns: 0,
    verified: 0,
    tried: 0,
    injected: 0,
    worstMs: 0,
    finds: [],
  }));
  const memory: MemorySample[] = [];
  const started = performance.now();
  const past = (): number => (performance.now() - started) / 1000;
  const sample = (): MemorySample => ({ seconds: past(), residentBytes: holdingsOf(world.server.pid).residentBytes });
  let descriptors = 0;
  await world.watcher.look();
  let minutes = 0;
  for (let turn = 0; !isOver() && (past() < seconds || turn < STRAINS.length); turn++) {
    const at = turn % STRAINS.length;
    const turnSeed = random.integer(0, 2 ** 32);
    const { outcome, worstMs } = await leastWait(STRAINS[at]!, turnSeed, world, isOver);
    // A terminal's Ctrl-C stops the servers too, so the interrupted turn proves nothing.
    if (isOver()) break;
    tallies[at] = counted(tallies[at]!, outcome, worstMs);
    const { finds } = outcome;
    if (finds.length > 0) onFind({ strain: STRAINS[at]!.name, seed, observations, turnSeed, finds });
    if (turn < WARM_ROUNDS * STRAINS.length) continue;
    if (memory.length === 0) {
      memory.push(sample());
      ({ descriptors } = holdingsOf(world.server.pid));
    }
    if (past() < (minutes + 1) * MINUTE_SECONDS) continue;
    minutes = Math.floor(past() / MINUTE_SECONDS);
    memory.push(sample());
    onMinute(minutes, tallies, memory.at(-1)!.residentBytes);
  }
  if (isOver()) return { tallies, memory, rest: memory.at(-1) ?? { seconds: past(), residentBytes: 0 } };
  const leaked = descriptors === 0 ? 0 : await leakedDescriptors(world.server, descriptors);
  if (leaked > 0) {
    const line = `${leaked} descriptors were not given back`;
    tallies.push({ name: 'afterwards', turns: 1, verified: 0, tried: 0, injected: 0, worstMs: 0, finds: [line] });
    onLeak(`afterwards: ${line}`);
  }
  // A server that it polls is not idle.
  await world.watcher.close();
  for (const until = performance.now() + restMs; performance.now() < until && !isOver();) await delay(LOOK_MS);
  return { tallies, memory, rest: sample() };
}

/** The outcome of a turn, and the longest wait of the watching client during it. */
interface Taken {
  readonly outcome: Outcome;
  readonly worstMs: number;
}

/**
 * Runs one turn, and repeats it if the watching client waited too long: the shortest wait counts, and every find. A
 * repeated turn misses the cost of anything that the server has cached by then.
 */
async function leastWait(strain: Strain, seed: number, world: World, isOver: () => boolean): Promise<Taken> {
  let taken = await oneTurn(strain, seed, world);
  for (let tries = 1; tries < WAIT_TRIES && taken.worstMs > waitMsMax(strain) && !isOver(); tries++) {
    const { outcome, worstMs } = await oneTurn(strain, seed, world);
    taken = { outcome: { ...outcome, ...both(taken.outcome, outcome) }, worstMs: Math.min(taken.worstMs, worstMs) };
  }
  return taken;
}

/** Runs one turn while the watching client polls. An exception counts as a find. */
async function oneTurn(strain: Strain, seed: number, world: World): Promise<Taken> {
  const failed = (text: string): Outcome => ({ verified: 0, tried: 0, injected: 0, finds: [text] });
  const over = new AbortController();
  const outcome = await Promise.race([
    strain
      .run(randomOf(seed), world)
      .catch((error: unknown) => failed(error instanceof Error ? (error.stack ?? error.message) : String(error))),
    delay(TURN_MS_MAX, failed('hangs'), { signal: over.signal }).catch(() => failed('')),
  ]);
  over.abort();
  const { worstMs, faults } = await world.watcher.look();
  return { outcome: { ...outcome, finds: [...outcome.finds, ...faults] }, worstMs };
}

/**
 * Runs the turn of a find again in a new world. Returns what it finds now. Throws OperationError `usage` for an unknown
 * strain.
 */
export async function repeated({ strain, turnSeed, ...options }: Find): Promise<readonly string[]> {
  const chosen = STRAINS.find(({ name }) => name === strain);
  if (!chosen) {
    const names = STRAINS.map(({ name }) => name).join(', ');
    throw new OperationError('usage', `there is no strain ${strain}; the strains are ${names}`);
  }
  const world = await worldOf(options);
  try {
    await world.watcher.look();
    return (await oneTurn(chosen, turnSeed, world)).outcome.finds;
  } finally {
    await world.close();
  }
}
