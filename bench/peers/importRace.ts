// Races the import against programs that load the same data set into a database: in separate processes, one after the
// other, in interleaved rounds. Peers that cannot be installed or that fail are omitted and reported.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../data/operationError.ts';
import type { MeasuredRatio } from '../budgets.ts';
import { prepareDataSet, type DataSetOptions } from '../load/dataSet.ts';
import type { LoadObserver } from '../load/load.ts';
import { summaryOf, type Summary } from '../load/rounds.ts';
import { cpuSecondsOf } from '../processes/cpuTime.ts';
import { temporaryFolder } from '../processes/ending.ts';
import { peakMemoryBytes } from '../processes/memory.ts';
import { LAUNCHER_FILE } from '../processes/processes.ts';
import { installPeers, type InstalledPeers } from './peerInstall.ts';

/**
 * A program that loads a directory of NDJSON into a file. `pass` and `great` are the maximum of our wall time as a
 * multiple of the peer's. `budget` names the budget of that ratio.
 */
export interface ImportPeer {
  readonly name: string;
  readonly budget: string;
  readonly script: string;
  readonly pass: number;
  readonly great: number;
}

/**
 * All peers, with the indexes for which each is used: SQLite with one for each short scalar column, DuckDB with none.
 */
export const IMPORT_PEERS: readonly ImportPeer[] = [
  { name: 'better-sqlite3', budget: 'importSqlite', script: 'sqliteImport.js', pass: 0.6, great: 0.4 },
  { name: 'DuckDB', budget: 'importDuckDb', script: 'duckDbImport.js', pass: 1.3, great: 0.9 },
];

/** Maximum number of rounds: one takes as long as hundreds of other races. */
const ROUNDS_MAX = 3;

/** The cost of loading a whole data set: seconds of wall time and of CPU, peak memory and the file in bytes. */
export interface ImportCost {
  readonly seconds: Summary;
  readonly cpuSeconds: Summary;
  readonly peakBytes: number;
  readonly fileBytes: number;
}

/** A peer's cost, and our wall time as a multiple of the peer's. */
export interface PeerImport {
  readonly peer: ImportPeer;
  readonly cost: ImportCost;
  readonly ratio: number;
}

/** The cost of our import, and of the peers that ran. */
export interface ImportRaceReport {
  readonly subject: ImportCost;
  readonly peers: readonly PeerImport[];
}

/** A program that loads a data set. Its arguments are `words`, the output file and the directory of the data set. */
export interface ImportContestant {
  /** Undefined for this product. */
  readonly peer: ImportPeer | undefined;
  readonly program: string;
  readonly words: readonly string[];
}

interface OneRun {
  readonly records: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakBytes: number;
  readonly fileBytes: number;
}

/** Runs the race; our import chooses its number of threads. Cost: some 40 s a round at 100,000. */
export async function runImportRace(
  options: DataSetOptions & { readonly rounds: number },
  observer: LoadObserver,
): Promise<ImportRaceReport> {
  const { directory } = await prepareDataSet(options, observer.onProgress);
  const installed = await installPeers(options.cacheDirectory);
  if ('missing' in installed) {
    observer.onStep(`left out ${IMPORT_PEERS.map(({ name }) => name).join(', ')}: ${installed.missing}`);
  }
  const words = [LAUNCHER_FILE, 'import', '--log-format', 'json', '--output'];
  const ours: ImportContestant = { peer: undefined, program: process.execPath, words };
  const peers = 'missing' in installed ? [] : IMPORT_PEERS.map((peer) => contestantOf(installed, peer));
  return raceImports([ours, ...peers], directory, options, observer);
}

function contestantOf({ node, folder }: InstalledPeers, peer: ImportPeer): ImportContestant {
  return { peer, program: node, words: [path.join(folder, peer.script)] };
}

/**
 * Runs our import and the others over a directory. Another program is first in each round, because the first to read a
 * file may wait for the disk. A peer that fails is omitted. Throws if a program has other records than ours.
 */
async function raceImports(
  contestants: readonly ImportContestant[],
  directory: string,
  { rounds, cacheDirectory }: { readonly rounds: number; readonly cacheDirectory: string },
  { onStep }: Pick<LoadObserver, 'onStep'>,
): Promise<ImportRaceReport> {
  const folder = temporaryFolder('imports-', cacheDirectory);
  const last = Math.min(rounds, ROUNDS_MAX);
  const runs = new Map(contestants.map((one) => [one, [] as OneRun[]]));
  const leaveOut = (one: ImportContestant, why: string): void => {
    onStep(`left out ${one.peer!.name}: ${why}`);
    runs.delete(one);
  };
  try {
    for (let round = 1; round <= last; round++) {
      onStep(`importing, round ${round} of ${last}`);
      for (let step = 0; step < contestants.length; step++) {
        const one = contestants[(round + step) % contestants.length]!;
        try {
          if (runs.has(one)) runs.get(one)!.push(await timed(one, path.join(folder.path, 'made'), directory));
        } catch (error) {
          if (one.peer === undefined) throw error;
          // A peer may be too small for the data.
          leaveOut(one, (error as Error).message);
        }
      }
    }
  } finally {
    folder.remove();
  }
  const ours = contestants.find(({ peer }) => peer === undefined)!;
  const { records } = runs.get(ours)![0]!;
  for (const [one, done] of runs) {
    const other = done.find((run) => run.records !== records);
    // Throws instead of omitting the peer: our records may be the wrong ones.
    const name = one.peer?.name ?? 'ours';
    if (other) throw new OperationError('input', `${name} holds ${other.records} records, and not ${records}`);
  }
  const subject = costOf(runs.get(ours)!);
  const peers = [...runs].flatMap(([{ peer }, done]) => {
    const cost = costOf(done);
    return peer ? [{ peer, cost, ratio: subject.seconds.least / cost.seconds.least }] : [];
  });
  return { subject, peers };
}

function costOf(runs: readonly OneRun[]): ImportCost {
  return {
    seconds: summaryOf(runs.map(({ seconds }) => seconds)),
    cpuSeconds: summaryOf(runs.map(({ cpuSeconds }) => cpuSeconds)),
    peakBytes: Math.max(...runs.map(({ peakBytes }) => peakBytes)),
    fileBytes: runs[0]!.fileBytes,
  };
}

/** Runs a program, which must succeed, and removes its output. The program prints how many records it read. */
async function timed({ program, words }: ImportContestant, file: string, directory: string): Promise<OneRun> {
  const [cpuBefore, start] = [cpuSecondsOf(process.pid, 'children'), performance.now()];
  const child = spawn(program, [...words, file, directory], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  const [told, complaint] = [text(child.stdout), text(child.stderr)];
  const watching = new AbortController();
  const peak = peakBytesOf(child.pid!, watching.signal);
  try {
    const [code, signal] = await ended;
    const seconds = (performance.now() - start) / 1000;
    if (code !== 0) throw new Error(`it ended with ${code ?? signal}: ${(await complaint).trim().split('\n').at(-1)}`);
    const records = Number(/"parsed":(\d+)/.exec(await told)?.[1]);
    const { size: fileBytes } = await stat(file);
    watching.abort();
    const cpuSeconds = cpuSecondsOf(process.pid, 'children') - cpuBefore;
    return { records, seconds, cpuSeconds, peakBytes: await peak, fileBytes };
  } finally {
    watching.abort();
    await rm(file, { force: true });
  }
}

/** Peak memory of a process, by polling until it exits. */
async function peakBytesOf(pid: number, signal: AbortSignal): Promise<number> {
  let peak = 0;
  while (!signal.aborted) {
    peak = Math.max(peak, peakMemoryBytes(pid));
    await delay(50, undefined, { signal }).catch(() => {});
  }
  return peak;
}

/** Our wall time relative to each peer's, for its budget. */
export function importRatios({ subject, peers }: ImportRaceReport): readonly MeasuredRatio[] {
  return peers.map(({ peer, cost, ratio }) => ({
    name: peer.budget,
    ratio,
    spread: cost.seconds.spread,
    ownSpread: subject.seconds.spread,
  }));
}
