// How new data reaches a server. The pointer of a target changes; the snapshot that it names is fetched into a cache,
// loaded, swapped in and kept for a restart. With --follow, a child process publishes to a target in --state, and the
// end of each refresh replaces a poll.
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { SnapshotCache } from '../../data/distribution/cache.ts';
import { invalidateCached } from '../../data/distribution/fetch.ts';
import { openTarget } from '../../data/distribution/openTarget.ts';
import {
  decodePointer,
  isOlderData,
  type Pointer,
  refreshedAgoMs,
  type Target,
} from '../../data/distribution/target.ts';
import { OperationError } from '../../data/operationError.ts';
import type { HeldFile } from '../../data/store/load.ts';
import { type Generation, releaseFile, type ShowProgress } from './loadGeneration.ts';
import type { Change, Generations } from './generations.ts';
import { epochMs, steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { type Settings, targetAccess } from '../settings/declarations.ts';
import type { FollowedSource, TargetFigures } from './administration.ts';
import { type FetchFigures, fetchGeneration } from './fetchGeneration.ts';
import { FollowProcess, type RefreshEnd } from './followProcess.ts';
import { Keeping } from './keeping.ts';

/** Time limit for a target to respond, and to send 64 KiB. */
const TIMEOUT_MS = 30_000;
/** Wait before data that was refused as damaged is tried again. A reload tries at once. */
const REFUSED_MS = 600_000;
/** The longest wait after a failed poll, and before a failed note for the restart is written again. */
const FAILED_MS = 10_000;
/** Polls within --max-stale. Needed even if the target pushes notifications, because only a poll confirms freshness. */
const POLLS_MIN = 3;
/** Relative variation of --poll, so that replicas do not poll at the same time. */
const JITTER = 0.1;

interface Failure {
  readonly atMs: number;
  readonly reason: string;
}

/** Loads and serves a snapshot, and closes its file if it is not kept. Resolves to the refusal, if any. */
type Take = (pointer: Pointer, held: HeldFile) => Promise<Pick<Change, 'reason' | 'failure'> | undefined>;

/** Options of a server that gets its data from a target. */
export interface ArrivalOptions {
  readonly settings: Settings;
  readonly baseUrl: string;
  /** The script whose `follow` command runs as the child. */
  readonly commandLine: string;
  readonly report: Report;
}

interface ServingServer {
  readonly generations: Generations;
  readonly served: () => string;
  readonly onRefreshed: (change: Change, atMs: number) => void;
}

export class Arrival implements FollowedSource {
  readonly #options: ArrivalOptions;
  readonly #target: Target;
  readonly #cache: SnapshotCache;
  readonly #keeping: Keeping;
  readonly #child: FollowProcess | undefined;
  readonly #freshness: Freshness;
  readonly #stop = new AbortController();
  /** The last accepted pointer. Its snapshot is served unless an operator rolled back. */
  #current: Pointer | undefined;
  #validator: string | undefined;
  #refusal: { readonly text: string; readonly ms: number; readonly error: OperationError } | undefined;
  #lastSuccessMs: number | undefined;
  #lastFailure: Failure | undefined;
  #isFailing = false;
  #lastFetch: FetchFigures | undefined;
  #checking: Promise<OperationError | undefined> | undefined;
  #wake = new AbortController();
  /** The outcome of the child's last refresh. */
  #refresh: Promise<Change> | undefined;
  /** Why the last refresh failed. */
  #refreshFailure: string | undefined;

  private constructor(options: ArrivalOptions, target: Target, cache: SnapshotCache, child: FollowProcess | undefined) {
    this.#options = options;
    this.#target = target;
    this.#cache = cache;
    this.#child = child;
    this.#keeping = new Keeping(cache, options.report);
    this.#freshness = new Freshness(cache.confirmedMs());
  }

  /** Opens target and cache without polling or starting anything. Throws OperationError `usage` or `file`. */
  static async open(options: ArrivalOptions): Promise<Arrival> {
    const { settings, commandLine, report } = options;
    const { follow, state } = settings;
    const access = { timeoutMs: TIMEOUT_MS, ...targetAccess(settings) };
    if (follow === undefined) {
      const target = await openTarget(settings.from!, access);
      return new Arrival(options, target, await SnapshotCache.open(settings.cache, target.name), undefined);
    }
    const url = pathToFileURL(path.resolve(state, 'target')).href;
    const child = new FollowProcess({ ...settings, follow }, url, commandLine, report);
    // Relative to the cache, so that the folder can be moved.
    const cache = await SnapshotCache.open(path.join(state, 'served'), '../target', '--state');
    return new Arrival(options, await openTarget(url, access), cache, child);
  }

  get directory(): string {
    return this.#cache.directory;
  }

  /**
   * Resolves to the newest generation of the cache that loads, else to that of the target. Retries the target until it
   * succeeds or the server stops.
   */
  async first(load: (held: HeldFile) => Promise<Generation>, showProgress: ShowProgress): Promise<Generation> {
    const { pointers, fetched } = this.#cache;
    for (const pointer of pointers) {
      const generation = await this.#loadCached(pointer, load);
      if (!generation) continue;
      // After a rollback the older generation stays until something newer arrives.
      const isLast = pointer === pointers[0];
      this.#current = isLast ? fetched : pointer;
      if (this.#current) this.#freshness.note(this.#current, false);
      if (isLast) await this.#keeping.serves(pointer.generation);
      if (this.#isRolledBack) this.#options.report(this.#rolledBackText(pointer));
      return generation;
    }
    if (this.#child) await this.#firstRefresh(this.#child, showProgress);
    for (;;) {
      let generation: Generation | undefined;
      await this.#check(true, async (pointer, held) => {
        releaseFile(held);
        generation = await this.#loadCached(pointer, load);
        return generation ? undefined : { reason: 'it cannot be loaded' };
      });
      if (generation) return generation;
      if (this.#stop.signal.aborted) throw new OperationError('network', `${this.#target.name}: the server stops`);
      await this.#pause();
    }
  }

  /** Starts swapping in new data: after each poll or, with --follow, after each refresh. Ends with `stop`. */
  begin(serving: ServingServer): void {
    const child = this.#child;
    if (child) {
      child.onEnd = (end) => void (this.#refresh = this.#refreshed(end, serving));
      child.start();
      return;
    }
    this.#target.watch?.(() => this.#wake.abort(), this.#stop.signal);
    void (async () => {
      while (!this.#stop.signal.aborted) {
        await this.#checkOnce(serving, false);
        await this.#pause();
      }
    })();
  }

  /** Polls the target and loads its data, even after a rollback. Resolves to the outcome. */
  async reload(serving: ServingServer): Promise<Change> {
    let change: Change | undefined;
    const failure = await this.#checkOnce(serving, true, (result) => (change = result));
    if (!this.#keeping.isKept) this.#wake.abort();
    // If there was new data, its outcome is that of the reload.
    if (change) return change;
    const { generations } = serving;
    if (failure) return generations.refuse(failure);
    try {
      return await this.#swap(await this.#cache.hold(this.#current!), serving);
    } catch (error) {
      if (error instanceof OperationError) return generations.refuse(error);
      throw error;
    }
  }

  /** With --follow: refreshes at once, or again after the current refresh. */
  async refresh(): Promise<Change> {
    await this.#child!.refresh();
    // Assigned right before the refresh resolved.
    return this.#refresh!;
  }

  /** Opens the cached snapshot of a generation other than `served`; undefined if the cache has only that. */
  async other(served: string): Promise<HeldFile | undefined> {
    const other = this.#cache.pointers.find(({ generation }) => generation !== served);
    try {
      return other && (await this.#cache.hold(other));
    } catch (error) {
      if (error instanceof OperationError) return undefined;
      throw error;
    }
  }

  /** Notes which generation is served, so that a restart begins with it. Never rejects. */
  serves(generation: string): Promise<void> {
    return this.#keeping.serves(generation);
  }

  unreadyReason(): string | undefined {
    const { from, follow, maxStaleMs = Infinity } = this.#options.settings;
    const failure = follow === undefined && this.#isFailing ? this.#lastFailure?.reason : this.#refreshFailure;
    const cause = failure === undefined ? '' : `: ${failure}`;
    if (!this.#current) return `waiting for the first ${follow ? `data of ${follow}` : `snapshot of ${from!}`}${cause}`;
    const { staleMs, ageMs = 0 } = this.#freshness;
    const stale = (ms: number, subject: string): string =>
      `the data is stale: for ${Math.round(ms / 1000)} s ${subject}`;
    if (follow !== undefined)
      return ageMs > maxStaleMs ? stale(ageMs, `it was not refreshed from ${follow}${cause}`) : undefined;
    if (staleMs > maxStaleMs) return stale(staleMs, `it was not confirmed by ${from!}${cause}`);
    if (ageMs <= maxStaleMs) return undefined;
    return stale(ageMs, `the publisher of ${from!} did not refresh it; does it run?`);
  }

  ageMs(): number | undefined {
    return this.#freshness.ageMs;
  }

  status(): unknown {
    if (this.#child) return undefined;
    const failure = this.#lastFailure;
    return {
      target: this.#target.name,
      generation: this.#current?.generation ?? null,
      sequence: this.#current?.sequence ?? null,
      created: this.#current?.created ?? null,
      refreshed: this.#current?.refreshed ?? null,
      heldBack: this.#isRolledBack,
      staleSeconds: this.#current ? Math.round(this.#freshness.staleMs / 1000) : null,
      lastSuccess: this.#lastSuccessMs === undefined ? null : new Date(this.#lastSuccessMs).toISOString(),
      lastFailure: failure ? { at: new Date(failure.atMs).toISOString(), reason: failure.reason } : null,
      lastFetch: this.#lastFetch ?? null,
      kept: this.#cache.pointers.map(({ generation }) => generation),
    };
  }

  figures(): TargetFigures | undefined {
    if (this.#child) return undefined;
    const seconds = (ms: number | undefined): number | undefined => ms && ms / 1000;
    return {
      stale: this.#current ? this.#freshness.staleMs / 1000 : undefined,
      success: seconds(this.#lastSuccessMs),
      failure: seconds(this.#lastFailure?.atMs),
      fetchBytes: this.#lastFetch?.bytes,
      fetchSeconds: this.#lastFetch?.seconds,
    };
  }

  /** Stops polls, fetches and the child. The next run resumes a partial download. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#child?.stop();
    await this.#checking?.catch(() => undefined);
    await this.#target.close();
  }

  /** Resolves when the child has refreshed and published for the first time. */
  #firstRefresh(child: FollowProcess, showProgress: ShowProgress): Promise<void> {
    const { settings, report } = this.#options;
    report(`there is no data in ${settings.state} yet: it is fetched first`);
    return showProgress(
      (onProgress) =>
        new Promise((resolve, reject) => {
          child.onProgress = onProgress;
          child.onEnd = ({ reason, isUsage, retryMs = 0 }) => {
            this.#refreshFailure = reason;
            if (reason === undefined) return resolve();
            if (isUsage || this.#stop.signal.aborted) return reject(new OperationError('usage', reason));
            const retry = `${settings.follow!} is asked again in ${retryMs / 1000} s`;
            report(`nothing to serve yet, ${retry}: ${reason}`, 'error', { event: 'refused', reason });
          };
          child.start();
        }),
    );
  }

  /** Swaps in what a refresh has published. A rollback stays in force if the refresh published nothing new. */
  async #refreshed({ reason, seconds, isDead }: RefreshEnd, serving: ServingServer): Promise<Change> {
    let change: Change | undefined;
    let failure = reason;
    if (reason === undefined) {
      const error = await this.#checkOnce(serving, true, (result) => (change = result));
      failure = error?.message;
    } else if (isDead && !this.#stop.signal.aborted) {
      const generation = serving.served();
      const line = `the refresh failed, generation ${generation.slice(0, 12)} goes on: ${reason}`;
      this.#options.report(line, 'error', { event: 'refused', generation, reason, seconds });
    }
    const served = serving.served();
    change ??=
      failure === undefined
        ? { status: 'unchanged', served, seconds }
        : { status: 'refused', served, reason: failure, seconds };
    if (this.#stop.signal.aborted) return change;
    this.#refreshFailure = change.status === 'refused' ? change.reason : undefined;
    serving.onRefreshed(change, epochMs());
    return change;
  }

  /** Whether an operator rolled back (`POST /rollback`) from the last fetched generation. */
  get #isRolledBack(): boolean {
    return this.#cache.fetched !== this.#cache.pointers[0];
  }

  #rolledBackText({ generation }: Pointer): string {
    const [served, skipped] = [generation, this.#cache.fetched!.generation].map((name) => name.slice(0, 12));
    return `generation ${served} is served after a rollback from ${skipped}, until something newer is published`;
  }

  /** Waits for about --poll, less if --max-stale requires it. The target and `stop` end the wait. */
  async #pause(): Promise<void> {
    const { pollMs, maxStaleMs = Infinity } = this.#options.settings;
    const everyMs = Math.min(pollMs, maxStaleMs / POLLS_MIN);
    const ms =
      (this.#isFailing || !this.#keeping.isKept ? Math.min(everyMs, FAILED_MS) : everyMs) *
      (1 + JITTER * (2 * Math.random() - 1));
    const signal = AbortSignal.any([this.#stop.signal, this.#wake.signal]);
    await wait(ms, undefined, { signal }).catch(() => undefined);
    this.#wake = new AbortController();
  }

  /** Runs one check at a time; a second call waits for the first. `onChange` receives the outcome of new data. */
  async #checkOnce(
    serving: ServingServer,
    isOrder: boolean,
    onChange: (change: Change) => void = () => undefined,
  ): Promise<OperationError | undefined> {
    while (this.#checking) await this.#checking.catch(() => undefined);
    this.#checking = this.#check(isOrder, async (_, held) => {
      const change = await this.#swap(held, serving);
      onChange(change);
      return change.status === 'refused' ? change : undefined;
    }).finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  async #swap(held: HeldFile, { generations }: ServingServer): Promise<Change> {
    let change: Change | undefined;
    try {
      change = await generations.take(held);
      return change;
    } finally {
      if (change?.status !== 'swapped') releaseFile(held);
    }
  }

  /** Polls, fetches and calls `take` for new data. Resolves to the error, if any, which is logged the first time. */
  async #check(isOrder: boolean, take: Take): Promise<OperationError | undefined> {
    try {
      // Before the poll: the target may be unreachable at the next restart.
      if (!this.#keeping.isKept) await this.#keeping.keep(this.#current!);
      const pointer = await this.#target.readPointer(isOrder ? undefined : this.#validator, this.#stop.signal);
      if (pointer === undefined)
        throw new OperationError('network', `${this.#target.name}: nothing is published there`);
      if (pointer !== 'unchanged') {
        await this.#accept(pointer.text, isOrder, take);
        this.#validator = pointer.validator;
      }
      await this.#confirm();
      return undefined;
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      if (!this.#stop.signal.aborted) this.#fail(error);
      return error;
    }
  }

  async #accept(text: string, isOrder: boolean, take: Take): Promise<void> {
    const refusal = this.#refusal;
    if (refusal?.text === text && !isOrder && steadyMs() - refusal.ms < REFUSED_MS) throw refusal.error;
    try {
      const pointer = decodePointer(text, this.#target.name);
      const current = this.#current;
      if (pointer.sha256 !== current?.sha256) {
        this.#assertNewer(pointer);
        await this.#download(pointer, take);
      } else if (pointer.sequence < current.sequence) return; // A mirror lags behind.
      if (pointer.sequence !== current?.sequence || pointer.sha256 !== current.sha256)
        await this.#keeping.keep(pointer);
      // Assigned after the generation is kept, so that /status names the generation with which a restart begins.
      this.#current = pointer;
      // A change observed as it happens counts as of now, even if the clocks of the two machines differ. A child shares
      // the server's clock.
      const isSeen = !this.#child && this.#lastSuccessMs !== undefined && !this.#isFailing;
      this.#freshness.note(pointer, isSeen);
      this.#refusal = undefined;
    } catch (error) {
      // A network or disk error may be gone at the next poll, so only other errors are remembered.
      const isPassing = !(error instanceof OperationError) || error.code === 'network' || error.code === 'file';
      if (!isPassing) this.#refusal = { text, ms: steadyMs(), error };
      throw error;
    }
  }

  /**
   * Compares the dates of the data; if they are equal or unknown, the sequence numbers of the pointers. Uses no clock.
   */
  #assertNewer(pointer: Pointer): void {
    const current = this.#current;
    if (!current || this.#options.settings.allowRollback) return;
    const isBefore = !isOlderData(current, pointer) && pointer.sequence <= current.sequence;
    if (!isOlderData(pointer, current) && !isBefore) return;
    const text = ({ generation, created, sequence }: Pointer): string =>
      `generation ${generation.slice(0, 12)} (number ${sequence}${created === undefined ? '' : `, data of ${created}`})`;
    const state = this.#isRolledBack ? 'was fetched before' : 'is served';
    const reason = `${text(pointer)} is older than ${text(current)}, which ${state}`;
    throw new OperationError('refused', `${this.#target.name}: ${reason}; --allow-rollback accepts it`);
  }

  async #download(pointer: Pointer, take: Take): Promise<void> {
    const { baseUrl, report, settings } = this.#options;
    const { held, figures } = await fetchGeneration(pointer, {
      target: this.#target,
      cache: this.#cache,
      signal: this.#stop.signal,
      stallMs: TIMEOUT_MS,
      blocksFor: settings.gzip === 'stored' ? baseUrl : undefined,
      report,
    });
    if (figures.bytes > 0) this.#lastFetch = figures;
    const refusal = await take(pointer, held);
    if (!refusal) return;
    // Only a damaged file is discarded. After any other failure, other replicas or the next attempt may need it.
    if (refusal.failure === 'snapshot') await invalidateCached(this.#cache.snapshotFile(pointer));
    throw new OperationError('refused', refusal.reason ?? '');
  }

  /** Loads a snapshot of the cache. If its file is damaged or unreadable, logs that and resolves to undefined. */
  async #loadCached(pointer: Pointer, load: (held: HeldFile) => Promise<Generation>): Promise<Generation | undefined> {
    let held: HeldFile | undefined;
    try {
      held = await this.#cache.hold(pointer);
      return await load(held);
    } catch (error) {
      releaseFile(held);
      if (!(error instanceof OperationError) || error.code === 'memory') throw error;
      const subject = `generation ${pointer.generation.slice(0, 12)} of the cache`;
      this.#options.report(`${subject} is not taken: ${error.message}`, 'warn');
      // An unreadable file stays, because it may be readable at the next start.
      if (error.code === 'snapshot') await invalidateCached(this.#cache.snapshotFile(pointer));
      return undefined;
    }
  }

  async #confirm(): Promise<void> {
    this.#lastSuccessMs = epochMs();
    this.#freshness.confirm();
    await this.#keeping.confirm(this.#lastSuccessMs);
    if (this.#isFailing) this.#options.report(`${this.#target.name}: what is served is current again`);
    this.#isFailing = false;
  }

  #fail({ message }: OperationError): void {
    const isNew = !this.#isFailing || this.#lastFailure?.reason !== message;
    this.#isFailing = true;
    this.#lastFailure = { atMs: epochMs(), reason: message };
    const goesOn = this.#current
      ? `generation ${this.#current.generation.slice(0, 12)} goes on`
      : 'nothing to serve yet';
    const step = { event: 'refused', target: this.#target.name, reason: message } as const;
    if (isNew) this.#options.report(`not taken, ${goesOn}: ${message}`, 'warn', step);
  }
}

class Freshness {
  /** When the target last confirmed the data, on the steady clock. */
  #confirmedMs: number | undefined;
  /** The publisher's last refresh: the time in the pointer, and the same on the steady clock. */
  #refreshed: { readonly text: string; readonly ms: number } | undefined;

  /** `confirmedMs` is the last confirmation before this run, in milliseconds since 1970. */
  constructor(confirmedMs: number | undefined) {
    // The absolute value: a wrong clock never makes old data look fresher.
    if (confirmedMs !== undefined) this.#confirmedMs = steadyMs() - Math.abs(epochMs() - confirmedMs);
  }

  confirm(): void {
    this.#confirmedMs = steadyMs();
  }

  /** Notes the refresh that a pointer names: as of now if `isSeen`, else as of the pointer's time. */
  note({ refreshed }: Pointer, isSeen: boolean): void {
    if (refreshed === this.#refreshed?.text) return;
    const agoMs = (text: string): number => (isSeen ? 0 : refreshedAgoMs(text, epochMs()));
    this.#refreshed = refreshed === undefined ? undefined : { text: refreshed, ms: steadyMs() - agoMs(refreshed) };
  }

  /** Milliseconds since the last confirmation; 0 before the first. */
  get staleMs(): number {
    return this.#confirmedMs === undefined ? 0 : steadyMs() - this.#confirmedMs;
  }

  /** Milliseconds since the publisher's last refresh; undefined if the pointer has none. */
  get ageMs(): number | undefined {
    return this.#refreshed && steadyMs() - this.#refreshed.ms;
  }
}
