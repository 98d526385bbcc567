// The follow command as a child process of a server. It refreshes the folder --state and publishes each new generation
// to a target in that folder. The server forwards its log lines and restarts it if it dies.
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { removeDeadLocks } from '../../data/upstream/folder.ts';
import type { OnProgress, Progress } from '../../data/progress.ts';
import type { DataEvent, Level, Report } from '../observe/events.ts';
import type { Settings } from '../settings/declarations.ts';
import { crawlWords } from '../settings/replicaSettings.ts';
import { withoutSettings } from '../settings/sources.ts';

/** glibc settings for a process that builds snapshots. launch.js has the same and gives the reason. */
export const BUILDING_MEMORY = { GLIBC_TUNABLES: 'glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1' };

/** A message from the follow command to its parent process. */
export type FollowMessage =
  | { readonly kind: 'progress'; readonly progress: Progress }
  /** A refresh has ended that covers all orders up to `order`. `reason` is set if it failed. */
  | { readonly kind: 'refreshed'; readonly order: number; readonly seconds: number; readonly reason?: string };

/** Requests a refresh: at once, or again after the current one. */
export interface RefreshOrder {
  readonly order: number;
}

export interface RefreshEnd {
  readonly reason: string | undefined;
  readonly seconds: number;
  /** The process died, so it has not logged the failure itself. */
  readonly isDead: boolean;
  /** The process rejected its arguments: a retry does not help. */
  readonly isUsage: boolean;
  /** Wait before the next attempt; undefined means --every. */
  readonly retryMs: number | undefined;
}

/** How much of standard error, which has errors that are not logged, is quoted as the reason of a failure. */
const REASON_CHARACTERS_MAX = 4096;
/** Wait before the first retry of a process that died or has never refreshed. It doubles up to --every. */
const FIRST_RETRY_MS = 10_000;
const OPERATION = 1;
const USAGE = 2;

interface Waiting extends RefreshOrder {
  readonly resolve: (end: RefreshEnd) => void;
}

/** The child process; it runs only after `start` or `refresh`. */
export class FollowProcess {
  /** Called at the end of each refresh, and when the process dies. */
  onEnd: (end: RefreshEnd) => void = () => undefined;
  onProgress: OnProgress = () => undefined;
  readonly #words: readonly string[];
  readonly #state: string;
  readonly #everyMs: number;
  readonly #report: Report;
  #child: ChildProcess | undefined;
  #lastPid: number | undefined;
  #isStarting = false;
  #closed: Promise<void> = Promise.resolve();
  #waiting: readonly Waiting[] = [];
  #lastOrder = 0;
  #hasRefreshed = false;
  #retryMs = FIRST_RETRY_MS;
  #retry: NodeJS.Timeout | undefined;
  #isStopping = false;

  /** `commandLine` is the script whose `follow` runs. The process publishes to the URL `target`. */
  constructor(settings: Settings & { readonly follow: string }, target: string, commandLine: string, report: Report) {
    const { follow, state, everyMs } = settings;
    const publishing = ['--publish-to', target, '--keep', '1'];
    const words = [
      'follow',
      follow,
      '-o',
      state,
      ...publishing,
      '--probe',
      '--log-format',
      'json',
      ...crawlWords(settings),
    ];
    this.#words = ['--disable-sigusr1', commandLine, ...words];
    this.#state = state;
    this.#everyMs = everyMs;
    this.#report = report;
  }

  /** Starts the process unless it runs. It refreshes at once, then every --every. */
  start(): void {
    if (this.#child || this.#isStarting || this.#isStopping) return;
    clearTimeout(this.#retry);
    this.#isStarting = true;
    // Without this, the locks of a dead process would make its successor fail for 5 minutes.
    const unlocking = this.#lastPid === undefined ? Promise.resolve() : removeDeadLocks(this.#lastPid, this.#state);
    void unlocking
      .catch(() => undefined)
      .finally(() => {
        this.#isStarting = false;
        if (this.#isStopping) this.#end(STOPPED, Infinity);
        else this.#start();
      });
  }

  #start(): void {
    this.#lastOrder = 0;
    let isOver = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closed = promise;
    const end = (reason: string, isUsage: boolean): void => {
      if (isOver) return;
      isOver = true;
      this.#child = undefined;
      resolve();
      this.#end({ reason, seconds: 0, isDead: true, isUsage }, Infinity);
    };
    const child = spawnFollow(this.#words, (error) => end(`no process can be started: ${error.message}`, false));
    if (!child?.stdout || !child.stderr) return;
    this.#child = child;
    this.#lastPid = child.pid;
    let errors = '';
    let refusal: string | undefined;
    createInterface({ input: child.stdout }).on('line', (line) => (refusal = this.#forward(line) ?? refusal));
    child.stderr.on('data', (piece: Buffer) => (errors = (errors + piece.toString()).slice(-REASON_CHARACTERS_MAX)));
    child.on('message', (message: FollowMessage) => {
      if (message.kind === 'progress') return this.onProgress(message.progress);
      const { order, seconds, reason } = message;
      const text = reason === undefined ? undefined : joinToLine(reason);
      this.#end({ reason: text, seconds, isDead: false, isUsage: false }, order);
    });
    child.once('close', (code, signal) => {
      const reason = joinToLine(errors.trim().replaceAll(/^catalogue-replica: /gm, ''));
      end(reason || (code === OPERATION && refusal) || `its process ended with ${signal ?? code}`, code === USAGE);
    });
  }

  /** Refreshes at once, or again after the current refresh. Never rejects. */
  refresh(): Promise<RefreshEnd> {
    const { promise, resolve } = Promise.withResolvers<RefreshEnd>();
    const order = this.#child ? ++this.#lastOrder : 0;
    this.#waiting = [...this.#waiting, { order, resolve }];
    // If the message is lost, the order is resolved when the process closes.
    if (this.#child) this.#child.send({ order } satisfies RefreshOrder, () => undefined);
    else if (this.#isStopping) this.#end(STOPPED, order);
    else this.start();
    return promise;
  }

  /** Stops the process. The next one resumes its work. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#retry);
    this.#child?.kill('SIGTERM');
    await this.#closed;
  }

  #end(end: Omit<RefreshEnd, 'retryMs'>, order: number): void {
    let retryMs: number | undefined;
    if (end.reason === undefined) {
      this.#hasRefreshed = true;
      this.#retryMs = FIRST_RETRY_MS;
    } else if (!this.#isStopping && (end.isDead || !this.#hasRefreshed)) {
      retryMs = Math.min(this.#retryMs, this.#everyMs);
      this.#retryMs = retryMs * 2;
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => void this.refresh(), retryMs);
    }
    const whole = { ...end, retryMs };
    this.onEnd(whole);
    const finished = this.#waiting.filter((waiter) => waiter.order <= order);
    this.#waiting = this.#waiting.filter((waiter) => waiter.order > order);
    for (const { resolve } of finished) resolve(whole);
  }

  /** Returns the reason if the line logs a failure. */
  #forward(line: string): string | undefined {
    let parsed: { readonly message?: string; readonly level?: Level } = {};
    try {
      parsed = JSON.parse(line) as typeof parsed;
    } catch {
      // Not JSON, such as a warning of Node: forwarded unchanged.
    }
    const { message = line, level, ...step } = parsed;
    this.#report(message, level, 'event' in step ? (step as DataEvent) : undefined);
    return level === 'error' ? message : undefined;
  }
}

const STOPPED = { reason: 'the server is stopping', seconds: 0, isDead: true, isUsage: false };

/**
 * Starts a process. If descriptors or memory run out, calls `onError` and returns undefined or a process without pipes.
 */
function spawnFollow(words: readonly string[], onError: (error: Error) => void): ChildProcess | undefined {
  // The follow command rejects server settings in its environment.
  const env = { ...BUILDING_MEMORY, ...withoutSettings(process.env) };
  try {
    // The channel carries orders and progress. It also ends the child with this process, however this process ends.
    const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    return child.on('error', onError);
  } catch (error) {
    onError(error as Error);
    return undefined;
  }
}

/** Of more than two lines, keeps the first and the last, such as the first error and the number of errors. */
function joinToLine(text: string): string {
  const lines = text.split('\n');
  return lines.length > 2 ? `${lines[0]} ... ${lines.at(-1)}` : lines.join('; ');
}
