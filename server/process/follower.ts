// Follows another catalogue while a server runs: each refresh is a process of its own, whose memory and work are none
// of the supervisor's, and what it put in place is then taken like any new data. One that fails changes nothing.
import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { holdData } from '../../data/open.ts';
import { pathsIn, refreshedMs } from '../../data/follow/folder.ts';
import { attempt } from '../../data/files.ts';
import { OperationError } from '../../data/operationError.ts';
import type { OnProgress, Progress } from '../../data/progress.ts';
import { describeHeld, type HeldFile } from '../../data/store/load.ts';
import { epochMs, secondsSince, steadyMs } from '../observe/clock.ts';
import type { DataEvent, Level, Report } from '../observe/events.ts';
import { crawlWords } from '../settings/replicaSettings.ts';
import type { Settings } from '../settings/declarations.ts';
import { withoutSettings } from '../settings/sources.ts';
import { releaseFile, type ShowProgress } from '../generations/data.ts';
import type { Change } from '../generations/generations.ts';

/** What a follower does with new data, and who is told of the end of each refresh. */
export interface FollowerOptions {
  /** Takes what is in place now. */
  reload(): Promise<Change>;
  /** The generation that is served. */
  served(): string;
  onRefreshed(change: Change, atMs: number): void;
}

/** How glibc is to hand out memory to a process that builds a snapshot: launch.js, which says why, has the same. */
export const BUILDING_MEMORY = { GLIBC_TUNABLES: 'glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1' };

/** Of what a process says of its failure, so much is told. */
const REASON_CHARACTERS_MAX = 4096;
/** A catalogue that could not be had at all is asked again after this time, then after twice it, up to `--every`. */
const FIRST_WAIT_MS = 10_000;
/** What the `follow` of a process ends with that was called wrongly, which no time mends. */
const USAGE = 2;

/** How a refresh in a process of its own failed. */
interface Failure {
  readonly reason: string;
  readonly isLasting: boolean;
}

/** Refreshes a folder; `begin` once its data is served. Times are of the steady clock. */
export class Follower {
  readonly #settings: Settings & { readonly follow: string };
  readonly #commandLine: string;
  readonly #report: Report;
  #options: FollowerOptions | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting: Promise<Change> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #child: ChildProcess | undefined;
  readonly #stop = new AbortController();
  #fetchedMs: number | undefined;
  readonly #startMs = steadyMs();
  /** When the last comparison of a successful refresh began. */
  #freshMs: number | undefined;
  #comparedMs: number | undefined;
  #lastFailure: string | undefined;
  #isWaiting = false;
  #onProgress: OnProgress | undefined;
  /** What the last refresh has put in place, or found there, and what of that was taken or found to be served. */
  #placed: string | undefined;
  #taken: string | undefined;

  /** `commandLine` is the script whose `follow` refreshes. */
  constructor(settings: Settings & { readonly follow: string }, commandLine: string, report: Report) {
    this.#settings = settings;
    this.#commandLine = commandLine;
    this.#report = report;
    const refreshed = refreshedMs(pathsIn(settings.state));
    // A clock that was wrong makes old data no fresher.
    if (refreshed !== undefined) this.#freshMs = steadyMs() - Math.abs(epochMs() - refreshed);
  }

  /**
   * Fetches what is to be served where there is none that can be, for which it waits however long that takes. Throws
   * OperationError `usage` where it is asked for wrongly.
   */
  async first(showProgress: ShowProgress): Promise<void> {
    if (isReadable(this.#settings.data)) return;
    this.#report(`there is no data in ${this.#settings.state} yet: it is fetched first`);
    this.#isWaiting = true;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, this.#settings.everyMs)) {
      const startMs = steadyMs();
      const failure = await showProgress((onProgress) => {
        this.#onProgress = onProgress;
        return this.#run();
      });
      if (!failure) {
        this.#fetchedMs = startMs;
        break;
      }
      if (failure.isLasting || this.#stop.signal.aborted) throw new OperationError('usage', failure.reason);
      this.#lastFailure = failure.reason;
      const line = `nothing to serve yet, ${this.#settings.follow} is asked again in ${waitMs / 1000} s: ${failure.reason}`;
      this.#report(line, 'error', { event: 'refused', reason: failure.reason });
      await wait(waitMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
    this.#onProgress = undefined;
    this.#isWaiting = false;
    this.#freshMs = this.#comparedMs;
  }

  /** What is loaded. A damaged snapshot, or one of another version, is removed, and what is followed asked first. */
  async orBuilt<T>(load: () => Promise<T>, showProgress: ShowProgress): Promise<T> {
    try {
      return await load();
    } catch (error) {
      if (!(error instanceof OperationError && error.code === 'snapshot')) throw error;
      this.#report(`it is built again: ${error.message}`, 'warn');
      attempt(`cannot remove ${this.#settings.data}`, () => rmSync(this.#settings.data, { force: true }));
    }
    await this.first(showProgress);
    return load();
  }

  /** Refreshes now, unless the data was just fetched, and again after each period. */
  begin(options: FollowerOptions): void {
    this.#options = options;
    if (this.#fetchedMs === undefined) void this.refresh();
    else this.#waitFrom(this.#fetchedMs);
  }

  /** Refreshes at once, or after the one that is under way. Orders that wait together are one. Never rejects. */
  refresh(): Promise<Change> {
    if (this.#waiting) return this.#waiting;
    const change = this.#last.then(() => {
      this.#waiting = undefined;
      return this.#refreshed();
    });
    this.#waiting = change;
    this.#last = change;
    return change;
  }

  /** How long ago the last comparison of a successful refresh began, in milliseconds; undefined before the first. */
  ageMs(): number | undefined {
    return this.#freshMs === undefined ? undefined : steadyMs() - this.#freshMs;
  }

  /** Why the server is not ready, though it may serve; undefined where it is. */
  unreadyReason(): string | undefined {
    const { maxStaleMs = Infinity } = this.#settings;
    const why = this.#lastFailure === undefined ? '' : `: ${this.#lastFailure}`;
    if (this.#isWaiting) return `waiting for the first data of ${this.#settings.follow}${why}`;
    const staleMs = steadyMs() - (this.#freshMs ?? this.#startMs);
    if (staleMs <= maxStaleMs) return undefined;
    return `the data is stale: for ${Math.round(staleMs / 1000)} s it was not refreshed from ${this.#settings.follow}${why}`;
  }

  /** Ends what is under way: the next run goes on with it. */
  async stop(): Promise<void> {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#child?.kill('SIGTERM');
    await this.#last;
  }

  async #refreshed(): Promise<Change> {
    const { served, onRefreshed } = this.#options!;
    const startMs = steadyMs();
    clearTimeout(this.#timer);
    const { signal } = this.#stop;
    const reason = signal.aborted ? ENDS : (await this.#run())?.reason;
    const seconds = secondsSince(startMs);
    const isEnded = reason === undefined && !signal.aborted;
    const change: Change = isEnded
      ? await this.#take(seconds)
      : { status: 'refused', served: served(), reason: reason ?? ENDS, seconds };
    if (signal.aborted) return change;
    if (reason !== undefined) {
      const line = `the refresh failed, generation ${served().slice(0, 12)} goes on: ${reason}`;
      this.#report(line, 'error', { event: 'refused', generation: served(), reason, seconds });
    }
    this.#lastFailure = change.status === 'refused' ? change.reason : undefined;
    if (change.status !== 'refused') this.#freshMs = this.#comparedMs;
    onRefreshed(change, epochMs());
    this.#waitFrom(startMs);
    return change;
  }

  /** Has served what is in place, unless it was before: whoever went back from it stays there until there is more. */
  async #take(seconds: number): Promise<Change> {
    const { reload, served } = this.#options!;
    if (this.#placed !== undefined && this.#placed === this.#taken)
      return { status: 'unchanged', served: served(), seconds };
    const change = await reload();
    if (change.status !== 'refused') this.#taken = this.#placed;
    return change;
  }

  #waitFrom(startMs: number): void {
    const waitMs = Math.max(0, startMs + this.#settings.everyMs - steadyMs());
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), waitMs);
  }

  /** One refresh in a process; answers why it failed, if it did. */
  #run(): Promise<Failure | undefined> {
    const { follow, state } = this.#settings;
    const once = ['follow', follow, '-o', state, '--once', '--log-format', 'json'];
    const words = ['--disable-sigusr1', this.#commandLine, ...once, ...crawlWords(this.#settings)];
    return new Promise((resolve) => {
      const failed = (reason: string, isLasting = false): void => resolve({ reason, isLasting });
      const child = started(words, (error) => failed(`no process can be started: ${error.message}`));
      if (!child?.stdout || !child.stderr) return;
      this.#child = child;
      let said = '';
      this.#placed = undefined;
      createInterface({ input: child.stdout }).on('line', (line) => this.#tell(line));
      child.on('message', (progress) => this.#onProgress?.(progress as Progress));
      child.stderr.on('data', (piece: Buffer) => (said = (said + piece.toString()).slice(-REASON_CHARACTERS_MAX)));
      child.once('close', (code, signal) => {
        this.#child = undefined;
        // Who ends well and has not told of a refresh was ended before it.
        if (code === 0 && this.#placed !== undefined) resolve(undefined);
        else failed(reasonIn(said) || `its process ended with ${signal ?? code}`, code === USAGE);
      });
    });
  }

  /** A line of the process, which is an event, is one of ours. */
  #tell(line: string): void {
    let told: { readonly message?: string; readonly level?: Level } = {};
    try {
      told = JSON.parse(line) as typeof told;
    } catch {
      // Told as it is.
    }
    const { message = line, level, ...step } = told;
    const event = 'event' in step ? (step as DataEvent) : undefined;
    if (event?.event === 'refreshed') {
      this.#placed = String(event['generation']);
      this.#comparedMs = steadyMs() - Number(event['ageSeconds']) * 1000;
    }
    this.#report(message, level, event);
  }
}

const ENDS = 'the server ends';

/** A process; without pipes, or none at all, where descriptors or memory are wanting, which `onError` is told. */
function started(words: readonly string[], onError: (error: Error) => void): ChildProcess | undefined {
  // Settings of a server, which is no refresh, would be refused there.
  const env = { ...BUILDING_MEMORY, ...withoutSettings(process.env) };
  try {
    // With a channel, so that it ends with this process, however that ends; its progress comes there.
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    return child.on('error', onError);
  } catch (error) {
    onError(error as Error);
    return undefined;
  }
}

/** What a process said of its failure, in one line: of many the first and the last, such as faults and their number. */
function reasonIn(said: string): string {
  const lines = said
    .trim()
    .replaceAll(/^catalogue-replica: /gm, '')
    .split('\n');
  return lines.length > 2 ? `${lines[0]} ... ${lines.at(-1)}` : lines.join('; ');
}

function isReadable(file: string): boolean {
  let held: HeldFile | undefined;
  try {
    held = holdData(file);
    if (held) describeHeld(held);
    return held !== undefined;
  } catch (error) {
    if (error instanceof OperationError) return false;
    throw error;
  } finally {
    releaseFile(held);
  }
}
