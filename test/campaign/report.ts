// Formats the output of a campaign: a line per minute, and the table at its end. Pure: samples in, text out.
import { tableText } from '../../server/commands/terminal.ts';
import { both, type Outcome, type Strain } from './strain.ts';

/** The result of one strain. `worstMs` is the longest wait of the watching client, `what` is what ran during it. */
export interface Tally extends Outcome {
  readonly name: string;
  readonly turns: number;
  readonly worstMs: number;
}

/** The server's memory at a time since the start. */
export interface MemorySample {
  readonly seconds: number;
  readonly residentBytes: number;
}

/** Maximum waits of the watching client: during single requests, and during sixty hostile clients at once. */
const WAIT_MS_MAX = 10;
const CROWD_WAIT_MS_MAX = 25;

/** A wait is measured this many times and the minimum counts: interference of the machine does not recur each time. */
export const WAIT_TRIES = 3;

/** Longest wait of the watching client that a strain may cause. */
export function waitMsMax({ isCrowd }: Pick<Strain, 'isCrowd'>): number {
  return isCrowd === true ? CROWD_WAIT_MS_MAX : WAIT_MS_MAX;
}

const MB = 1 << 20;
const HOUR_SECONDS = 3600;

/** Sums the tallies. */
export function totalOf(tallies: readonly Tally[]): Tally {
  const sum = (of: (tally: Tally) => number): number => tallies.reduce((all, tally) => all + of(tally), 0);
  return {
    name: 'all',
    turns: sum(({ turns }) => turns),
    verified: sum(({ verified }) => verified),
    tried: sum(({ tried }) => tried),
    injected: sum(({ injected }) => injected),
    worstMs: Math.max(0, ...tallies.map(({ worstMs }) => worstMs)),
    finds: tallies.flatMap(({ finds }) => finds),
  };
}

/** Returns the tally with one more turn. */
export function counted(tally: Tally, outcome: Outcome, worstMs: number): Tally {
  return {
    name: tally.name,
    turns: tally.turns + 1,
    ...both(tally, outcome),
    worstMs: Math.max(tally.worstMs, worstMs),
    ...whatOf(worstMs > tally.worstMs ? outcome : tally),
  };
}

function whatOf({ what }: Outcome): Pick<Outcome, 'what'> {
  return what === undefined ? {} : { what };
}

/**
 * Growth of memory in MB an hour: the median of the slopes between all pairs of samples (Theil and Sen). A single step
 * from one level to another moves it less than a least-squares line. 0 for fewer than two samples.
 */
export function memorySlope(samples: readonly MemorySample[]): number {
  const slopes = samples.flatMap((one, i) =>
    samples.slice(i + 1).map((other) => (other.residentBytes - one.residentBytes) / (other.seconds - one.seconds)),
  );
  const ordered = slopes.toSorted((one, other) => one - other);
  const [low, high] = [ordered[(ordered.length - 1) >> 1] ?? 0, ordered[ordered.length >> 1] ?? 0];
  return (((low + high) / 2) * HOUR_SECONDS) / MB;
}

/** Returns a line for each strain that made the watching client wait too long. */
export function slowLines(tallies: readonly Tally[], strains: readonly Pick<Strain, 'name' | 'isCrowd'>[]): string[] {
  return tallies.flatMap(({ name, worstMs, what }) => {
    const most = waitMsMax(strains.find((strain) => strain.name === name) ?? {});
    if (worstMs <= most) return [];
    const beside = what === undefined ? name : `${name} (${what})`;
    return [`the watching client waited ${worstMs.toFixed(1)} ms beside ${beside}, longer than ${most} ms`];
  });
}

export function minuteLine(minute: number, tallies: readonly Tally[], residentBytes: number): string {
  const { verified, tried, injected, worstMs, finds } = totalOf(tallies);
  return (
    `minute ${minute}: ${verified} requests verified, ${tried} hostilities, ${injected} faults injected, ` +
    `worst wait ${worstMs.toFixed(1)} ms, ${Math.round(residentBytes / MB)} MB, ${finds.length} finds`
  );
}

/**
 * Returns the table with a line per strain, and the development of memory. `rest` is the server's memory after a rest.
 */
export function table(tallies: readonly Tally[], memory: readonly MemorySample[], rest: MemorySample): string {
  const head = ['strain', 'turns', 'verified', 'hostile', 'faults', 'worst wait', 'finds'];
  const rows = [...tallies, totalOf(tallies)].map(({ name, turns, verified, tried, injected, worstMs, finds }) => [
    name,
    ...[turns, verified, tried, injected].map(String),
    `${worstMs.toFixed(1)} ms`,
    String(finds.length),
  ]);
  return [tableText([head, ...rows]), memoryLine(memory, rest)].join('\n');
}

function memoryLine(memory: readonly MemorySample[], rest: MemorySample): string {
  const [early] = memory;
  if (!early) return 'memory: too short a campaign to tell';
  const above = ((rest.residentBytes - early.residentBytes) / MB).toFixed(1);
  return `memory: ${memorySlope(memory).toFixed(1)} MB an hour; after a rest ${above} MB above the first sample`;
}

/** The longest waits in milliseconds during one head of a kind and during sixty at once. */
export interface WatchedWaits {
  readonly alone: number;
  readonly crowd: number;
}

/** A kind of expensive heads, and the waits over each transport. */
export interface WatchedKind {
  readonly name: string;
  readonly uws: WatchedWaits;
  readonly node: WatchedWaits;
}

const KIND_WIDTH = 36;
const KIND_CELL_WIDTH = 16;

/** Table head above the lines of kinds. */
export function kindHead(): string {
  return kindRow('longest wait in ms beside', ['one', 'sixty', 'one (HTTP/1.0)', 'sixty']);
}

/** Table line of a kind. Marks waits that are too long. */
export function kindLine({ name, uws, node }: WatchedKind): string {
  const shown = ({ alone, crowd }: WatchedWaits): string[] => [
    marked(alone, WAIT_MS_MAX),
    marked(crowd, CROWD_WAIT_MS_MAX),
  ];
  return kindRow(name, [...shown(uws), ...shown(node)]);
}

export function isShort({ uws, node }: WatchedKind): boolean {
  return [uws, node].every(({ alone, crowd }) => alone <= WAIT_MS_MAX && crowd <= CROWD_WAIT_MS_MAX);
}

function kindRow(name: string, cells: readonly string[]): string {
  return name.padEnd(KIND_WIDTH) + cells.map((cell) => cell.padStart(KIND_CELL_WIDTH)).join('');
}

function marked(waitMs: number, most: number): string {
  return `${waitMs > most ? '! ' : ''}${waitMs.toFixed(1)}`;
}
