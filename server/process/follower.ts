// Follows another catalogue while a server runs: each refresh is a process of its own, whose memory and work are none
// of the supervisor's, and what it put in place is then taken like any new data. One that fails changes nothing.
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { holdData } from '../../data/open.ts';
import { OperationError } from '../../data/operationError.ts';
import { describeHeld } from '../../data/store/load.ts';
import { epochMs, steadyMs } from '../observe/clock.ts';
import type { DataEvent, Level, Report } from '../observe/events.ts';
import { crawlWords } from '../settings/followSettings.ts';
import type { Settings } from '../settings/declarations.ts';
import { releaseFile } from '../generations/data.ts';
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

/** Refreshes a folder; `begin` once its data is served. */
export class Follower {
  readonly #settings: Settings & { readonly follow: string };
  readonly #commandLine: string;
  readonly #report: Report;
  #options: FollowerOptions | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #waiting: Promise<Change> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #child: ChildProcess | undefined;
  #isStopped = false;
  #fetchedMs: number | undefined;
  readonly #startMs = steadyMs();
  #freshMs: number | undefined;
  #lastFailure: string | undefined;

  /** `commandLine` is the script whose `follow` refreshes. */
  constructor(settings: Settings & { readonly follow: string }, commandLine: string, report: Report) {
    this.#settings = settings;
    this.#commandLine = commandLine;
    this.#report = report;
  }

  /** Fetches what is to be served where there is none that can be. Throws OperationError `network` with the reason. */
  async first(): Promise<void> {
    if (isReadable(this.#settings.data)) return;
    this.#report(`there is no data in ${this.#settings.state} yet: it is fetched first`);
    const startMs = steadyMs();
    const reason = await this.#run();
    if (reason !== undefined) throw new OperationError('network', reason);
    this.#fetchedMs = startMs;
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

  /** How long ago a refresh last succeeded, in milliseconds; undefined before the first. */
  ageMs(): number | undefined {
    return this.#freshMs === undefined ? undefined : steadyMs() - this.#freshMs;
  }

  /** Why what it brings is stale, where it is. */
  staleReason(): string | undefined {
    const { maxStaleMs = Infinity } = this.#settings;
    const staleMs = steadyMs() - (this.#freshMs ?? this.#startMs);
    if (staleMs <= maxStaleMs) return undefined;
    const why = this.#lastFailure === undefined ? '' : `: ${this.#lastFailure}`;
    return `the data is stale: for ${Math.round(staleMs / 1000)} s it was not refreshed from ${this.#settings.follow}${why}`;
  }

  /** Ends what is under way: the next run goes on with it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#child?.kill('SIGTERM');
    await this.#last;
  }

  async #refreshed(): Promise<Change> {
    const { reload, served, onRefreshed } = this.#options!;
    const startMs = steadyMs();
    clearTimeout(this.#timer);
    const reason = this.#isStopped ? 'the server ends' : await this.#run();
    const seconds = Math.round(steadyMs() - startMs) / 1000;
    const isEnded = reason === undefined && !this.#isStopped;
    const change: Change = isEnded
      ? await reload()
      : { status: 'refused', served: served(), reason: reason ?? 'the server ends', seconds };
    if (this.#isStopped) return change;
    if (reason !== undefined) {
      const line = `the refresh failed, generation ${served().slice(0, 12)} goes on: ${reason}`;
      this.#report(line, 'error', { event: 'refused', generation: served(), reason, seconds });
    }
    if (change.status === 'refused') this.#lastFailure = change.reason;
    else this.#freshMs = steadyMs();
    onRefreshed(change, epochMs());
    this.#waitFrom(startMs);
    return change;
  }

  #waitFrom(startMs: number): void {
    const waitMs = Math.max(0, startMs + this.#settings.everyMs - steadyMs());
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.refresh(), waitMs);
  }

  /** One refresh in a process; answers why it failed, if it did. */
  #run(): Promise<string | undefined> {
    const { follow, state } = this.#settings;
    const once = ['follow', follow, '-o', state, '--once', '--log-format', 'json'];
    const words = [this.#commandLine, ...once, ...crawlWords(this.#settings)];
    return new Promise((resolve) => {
      // With a channel, so that it ends with this process, however that ends.
      const env = { ...BUILDING_MEMORY, ...process.env };
      const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
      this.#child = child;
      let said = '';
      createInterface({ input: child.stdout! }).on('line', (line) => this.#tell(line));
      child.stderr!.on('data', (piece: Buffer) => (said = (said + piece.toString()).slice(-REASON_CHARACTERS_MAX)));
      child.once('error', (error) => resolve(`no process can be started: ${error.message}`));
      child.once('close', (code, signal) => {
        this.#child = undefined;
        const reason = said.trim().replaceAll(/^catalogue-replica: /gm, '');
        resolve(code === 0 ? undefined : reason || `its process ended with ${signal ?? code}`);
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
    this.#report(message, level, 'event' in step ? (step as DataEvent) : undefined);
  }
}

function isReadable(file: string): boolean {
  try {
    const held = holdData(file);
    if (held) describeHeld(held);
    releaseFile(held);
    return held !== undefined;
  } catch (error) {
    if (error instanceof OperationError) return false;
    throw error;
  }
}
