// A server that subscribes to a target: asks it for its pointer, fetches what is new beside what is served, has it
// served, and keeps it on disk for a start without the target. Tells how stale it is; whoever loads what it fetched
// judges it.
import { setTimeout as wait } from 'node:timers/promises';
import { addressOf } from '../../data/blocks/blockFiles.ts';
import { SnapshotCache } from '../../data/distribution/cache.ts';
import { distrust, fetchObject } from '../../data/distribution/fetch.ts';
import { blocksName, decodePointer, isOlderData, type Pointer, snapshotName } from '../../data/distribution/pointer.ts';
import { openTarget } from '../../data/distribution/openTarget.ts';
import type { Target } from '../../data/distribution/target.ts';
import { OperationError } from '../../data/operationError.ts';
import { describeHeld, type HeldFile } from '../../data/store/load.ts';
import { epochMs, secondsSince, steadyMs } from '../observe/clock.ts';
import type { Report } from '../observe/events.ts';
import { bytesText } from '../observe/quantities.ts';
import { type Settings, targetAccess } from '../settings/declarations.ts';
import type { TargetFigures } from './administration.ts';
import { Freshness } from './freshness.ts';
import { Keeping } from './keeping.ts';
import { type Generation, releaseFile } from '../generations/data.ts';
import type { Change, Generations } from '../generations/generations.ts';

/** A target may take so long to answer, and to send 64 KiB. */
const TIMEOUT_MS = 30_000;
/** What was refused as damaged is tried again after this time, or at once on an order. */
const REFUSED_MS = 600_000;
/** A target that could not be asked is asked again at the latest after this time, and what was not kept is kept. */
const FAILED_MS = 10_000;
/** A target that watches wakes replicas, but who is not asked confirms nothing: so often within `--max-stale` it is. */
const QUESTIONS_MIN = 3;
/** The waits between two questions differ by so much from `--poll`, so that replicas do not ask together. */
const JITTER = 0.1;

/** When something was last so, in milliseconds since 1970. */
interface Failure {
  readonly atMs: number;
  readonly reason: string;
}

/** Has a generation served; answers why not. */
type Take = (pointer: Pointer) => Promise<Pick<Change, 'reason' | 'failure'> | undefined>;

interface Fetch {
  readonly generation: string;
  readonly bytes: number;
  readonly seconds: number;
}

/** Where the data comes from, for a server with these settings and this base URL. */
export interface SubscriptionOptions {
  readonly settings: Settings & { readonly from: string };
  readonly baseUrl: string;
  readonly report: Report;
}

/** One target and what a server has of it. */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #target: Target;
  readonly #cache: SnapshotCache;
  readonly #keeping: Keeping;
  readonly #stop = new AbortController();
  /** What is served, or will be before anything else is. */
  #taken: Pointer | undefined;
  /** What was fetched and is being tried. */
  #tried: Pointer | undefined;
  #validator: string | undefined;
  #refused: { readonly text: string; readonly ms: number; readonly error: OperationError } | undefined;
  readonly #freshness: Freshness;
  #lastSuccessMs: number | undefined;
  #lastFailure: Failure | undefined;
  #isFailing = false;
  #lastFetch: Fetch | undefined;
  #checking: Promise<OperationError | undefined> | undefined;
  #wake = new AbortController();

  private constructor(options: SubscriptionOptions, target: Target, cache: SnapshotCache) {
    this.#options = options;
    this.#target = target;
    this.#cache = cache;
    this.#keeping = new Keeping(cache, options.report);
    this.#freshness = new Freshness(cache.confirmedMs());
  }

  /** Opens the target and the cache of the settings. Throws OperationError `usage` or `file`. Asks nobody yet. */
  static async open(options: SubscriptionOptions): Promise<Subscription> {
    const { from, cache } = options.settings;
    const target = await openTarget(from, { timeoutMs: TIMEOUT_MS, ...targetAccess(options.settings) });
    return new Subscription(options, target, await SnapshotCache.open(cache, target.name));
  }

  /** Where the snapshot lies that is to be served now. Throws OperationError `file` before there is one. */
  dataPath(): string {
    const pointer = this.#tried ?? this.#taken;
    if (pointer) return this.#cache.snapshotFile(pointer);
    throw new OperationError('file', `nothing was fetched from ${this.#target.name} yet`);
  }

  /**
   * The first generation: of the cache, the newest that loads, else of the target, for which it waits however long that
   * takes. Rejects with what `load` rejects with but for OperationErrors about the file.
   */
  async first(load: (held: HeldFile | undefined) => Promise<Generation>): Promise<Generation> {
    const { pointers, fetched } = this.#cache;
    for (const pointer of pointers) {
      const generation = await this.#loaded(pointer, load);
      if (!generation) continue;
      // Who went back from what was fetched last stays there until there is more.
      const isLast = pointer === pointers[0];
      this.#taken = isLast ? fetched : pointer;
      if (this.#taken) this.#freshness.note(this.#taken, false);
      if (isLast) await this.serves(pointer.generation);
      if (this.#isHeldBack) this.#options.report(this.#heldBackText(pointer));
      return generation;
    }
    for (;;) {
      let generation: Generation | undefined;
      await this.#check(true, async (pointer) => {
        generation = await this.#loaded(pointer, load);
        return generation ? undefined : { reason: 'it cannot be loaded' };
      });
      if (generation) return generation;
      if (this.#stop.signal.aborted) throw new OperationError('network', `${this.#target.name} is not asked any more`);
      await this.#pause();
    }
  }

  /** Asks from now on, at once and then every `--poll`, until `stop`. */
  begin(generations: () => Promise<Generations>): void {
    this.#target.watch?.(() => this.#wake.abort(), this.#stop.signal);
    void (async () => {
      while (!this.#stop.signal.aborted) {
        await this.#checkOnce(generations, false);
        await this.#pause();
      }
    })();
  }

  /** An order to take what the target has now; answers what came of it. */
  async order(generations: () => Promise<Generations>): Promise<Change> {
    let taken: Change | undefined;
    const failure = await this.#checkOnce(generations, true, (change) => (taken = change));
    if (!this.#keeping.isKept) this.#wake.abort();
    // One order ends once: what was found new was ordered already, and how that ended is the answer.
    if (taken && (taken.status === 'refused') === (failure !== undefined)) return taken;
    return failure ? (await generations()).refuse(failure) : (await generations()).reload();
  }

  /** A generation is served now: a start without the target begins with it. Never rejects. */
  async serves(generation: string): Promise<void> {
    await this.#keeping.serves(generation);
  }

  /** The file of a generation of the cache beside the one that is served, held open; undefined where there is none. */
  async other(served: string): Promise<HeldFile | undefined> {
    const other = this.#cache.pointers.find(({ generation }) => generation !== served);
    try {
      return other && (await this.#cache.hold(other));
    } catch (error) {
      if (error instanceof OperationError) return undefined;
      throw error;
    }
  }

  /** Why the server is not ready, though it may serve; undefined where it is. */
  unreadyReason(): string | undefined {
    const { from, maxStaleMs } = this.#options.settings;
    const why = this.#isFailing && this.#lastFailure ? `: ${this.#lastFailure.reason}` : '';
    if (!this.#taken) return `waiting for the first snapshot of ${from}${why}`;
    return this.#freshness.staleReason(maxStaleMs, from, why);
  }

  /** How long ago the publisher last refreshed the data, in milliseconds; undefined where it does not say. */
  ageMs(): number | undefined {
    return this.#freshness.ageMs;
  }

  /** Whether somebody went back (`POST /rollback`) from what was fetched last. */
  get #isHeldBack(): boolean {
    return this.#cache.fetched !== this.#cache.pointers[0];
  }

  #heldBackText({ generation }: Pointer): string {
    const [served, left] = [generation, this.#cache.fetched!.generation].map((name) => name.slice(0, 12));
    return `generation ${served} is served, to which somebody went back from ${left}: until something newer is published`;
  }

  /** What `/status` says of it. */
  status(): unknown {
    const failure = this.#lastFailure;
    return {
      target: this.#target.name,
      generation: this.#taken?.generation ?? null,
      sequence: this.#taken?.sequence ?? null,
      created: this.#taken?.created ?? null,
      refreshed: this.#taken?.refreshed ?? null,
      heldBack: this.#isHeldBack,
      staleSeconds: this.#taken ? Math.round(this.#freshness.staleSeconds) : null,
      lastSuccess: this.#lastSuccessMs === undefined ? null : new Date(this.#lastSuccessMs).toISOString(),
      lastFailure: failure ? { at: new Date(failure.atMs).toISOString(), reason: failure.reason } : null,
      lastFetch: this.#lastFetch ?? null,
      kept: this.#cache.pointers.map(({ generation }) => generation),
    };
  }

  /** What `/metrics` says of it; times are in seconds since 1970. */
  figures(): TargetFigures {
    const seconds = (ms: number | undefined): number | undefined => ms && ms / 1000;
    return {
      stale: this.#taken ? this.#freshness.staleSeconds : undefined,
      success: seconds(this.#lastSuccessMs),
      failure: seconds(this.#lastFailure?.atMs),
      fetchBytes: this.#lastFetch?.bytes,
      fetchSeconds: this.#lastFetch?.seconds,
    };
  }

  /** Asks no more, and lets go of the target. What was fetched of an object is gone on with by the next run. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#checking?.catch(() => undefined);
    await this.#target.close();
  }

  /** Waits for about `--poll`, or until the target or `stop` wakes it; several times within `--max-stale` it asks. */
  async #pause(): Promise<void> {
    const { pollMs, maxStaleMs = Infinity } = this.#options.settings;
    const everyMs = Math.min(pollMs, maxStaleMs / QUESTIONS_MIN);
    const ms =
      (this.#isFailing || !this.#keeping.isKept ? Math.min(everyMs, FAILED_MS) : everyMs) *
      (1 + JITTER * (2 * Math.random() - 1));
    const signal = AbortSignal.any([this.#stop.signal, this.#wake.signal]);
    await wait(ms, undefined, { signal }).catch(() => undefined);
    this.#wake = new AbortController();
  }

  /** One check at a time: who comes meanwhile waits for it, and an order then has its own. */
  async #checkOnce(
    generations: () => Promise<Generations>,
    isOrder: boolean,
    onTaken: (change: Change) => void = () => undefined,
  ): Promise<OperationError | undefined> {
    while (this.#checking) await this.#checking.catch(() => undefined);
    this.#checking = this.#check(isOrder, async () => {
      const change = await (await generations()).reload();
      onTaken(change);
      return change.status === 'refused' ? change : undefined;
    }).finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  /** Asks, fetches and has it taken. Answers what was wrong, told to people when it is so the first time. */
  async #check(isOrder: boolean, take: Take): Promise<OperationError | undefined> {
    try {
      // Whatever comes of the target: a restart may be without it.
      if (!this.#keeping.isKept) await this.#keeping.keepAgain(this.#taken!);
      const found = await this.#target.readPointer(isOrder ? undefined : this.#validator, this.#stop.signal);
      if (found === undefined) throw new OperationError('network', `${this.#target.name}: nothing is published there`);
      if (found !== 'unchanged') {
        await this.#follow(found.text, isOrder, take);
        this.#validator = found.validator;
      }
      await this.#confirm();
      return undefined;
    } catch (error) {
      if (!(error instanceof OperationError)) throw error;
      if (!this.#stop.signal.aborted) this.#fail(error);
      return error;
    }
  }

  async #follow(text: string, isOrder: boolean, take: Take): Promise<void> {
    const refused = this.#refused;
    if (refused?.text === text && !isOrder && steadyMs() - refused.ms < REFUSED_MS) throw refused.error;
    try {
      const pointer = decodePointer(text, this.#target.name);
      if (pointer.sha256 !== this.#taken?.sha256) {
        this.#assertNewer(pointer);
        await this.#bring(pointer);
        await this.#try(pointer, take);
      } else if (pointer.sequence < this.#taken.sequence) return; // Of a mirror that is behind.
      const isAnother = pointer.sequence !== this.#taken?.sequence || pointer.sha256 !== this.#taken.sha256;
      // `/status` has it once a restart begins with it.
      if (isAnother) await this.#keeping.keep(pointer);
      this.#taken = pointer;
      this.#freshness.note(this.#taken, this.#lastSuccessMs !== undefined && !this.#isFailing);
      this.#refused = undefined;
    } catch (error) {
      // The network may be there again with the next question, and room on the disk.
      const isPassing = !(error instanceof OperationError) || error.code === 'network' || error.code === 'file';
      if (!isPassing) this.#refused = { text, ms: steadyMs(), error };
      throw error;
    }
  }

  /** By the times of the data; where they do not say, by the order of the pointers. No clock is asked. */
  #assertNewer(pointer: Pointer): void {
    const taken = this.#taken;
    if (!taken || this.#options.settings.allowRollback) return;
    const isBefore = !isOlderData(taken, pointer) && pointer.sequence <= taken.sequence;
    if (!isOlderData(pointer, taken) && !isBefore) return;
    const of = ({ generation, created, sequence }: Pointer): string =>
      `generation ${generation.slice(0, 12)} (number ${sequence}${created === undefined ? '' : `, data of ${created}`})`;
    const how = this.#isHeldBack ? 'was fetched before' : 'is served';
    const what = `${of(pointer)} is older than ${of(taken)}, which ${how}`;
    throw new OperationError('refused', `${this.#target.name}: ${what}; --allow-rollback takes it`);
  }

  /** Fetches a generation that the cache has not, its blocks where they can be had, and compares its header. */
  async #bring(pointer: Pointer): Promise<void> {
    const { baseUrl, report, settings } = this.#options;
    const startMs = steadyMs();
    const makeRoom = (): Promise<void> => this.#cache.removeOthers([pointer]);
    const shared = { target: this.#target, signal: this.#stop.signal, stallMs: TIMEOUT_MS, makeRoom };
    const file = this.#cache.snapshotFile(pointer);
    const generation = pointer.generation.slice(0, 12);
    let bytes = await fetchObject({ ...shared, name: snapshotName(pointer), stored: pointer, file });
    const held = await this.#cache.hold(pointer);
    let created: string | undefined;
    try {
      const found = describeHeld(held);
      const what = `${this.#target.name}: the snapshot is of generation ${found.generation}, expected ${pointer.generation}`;
      if (found.generation !== pointer.generation) throw new OperationError('snapshot', what);
      ({ created } = found);
    } catch (error) {
      await distrust(file);
      throw error;
    } finally {
      releaseFile(held);
    }
    // Otherwise a publisher of the pointer alone could date an old generation as new. The file is intact, so it stays.
    if (created !== pointer.created) {
      const [own, claimed] = [created, pointer.created].map((time) => time ?? 'no time');
      const what = `the pointer dates generation ${generation} ${claimed}, but its snapshot has ${own}`;
      throw new OperationError('refused', `${this.#target.name}: ${what}: publish it again`);
    }
    const address = addressOf(baseUrl);
    const blocks = settings.gzip === 'stored' ? pointer.blocks.find((one) => one.address === address) : undefined;
    if (blocks) {
      const at = this.#cache.blocksFile(pointer, address);
      const fetched = fetchObject({ ...shared, name: blocksName(blocks), stored: blocks, file: at });
      bytes += await fetched.catch((error: unknown) => {
        if (!(error instanceof OperationError) || this.#stop.signal.aborted) throw error;
        report(`records are compressed here, since what was published cannot be had: ${error.message}`, 'warn');
        return 0;
      });
    }
    const seconds = secondsSince(startMs);
    if (bytes > 0) this.#lastFetch = { generation: pointer.generation, bytes, seconds };
    const line = `fetched and verified generation ${generation} of ${this.#target.name}: ${bytesText(bytes)} in ${seconds} s`;
    const figures = { target: this.#target.name, generation: pointer.generation, bytes, seconds };
    report(line, 'info', { event: 'fetched', ...figures });
  }

  async #try(pointer: Pointer, take: Take): Promise<void> {
    this.#tried = pointer;
    try {
      const refusal = await take(pointer);
      if (!refusal) return;
      const { reason = '', failure } = refusal;
      // Else replicas that share the cache may serve it, or this one later.
      if (failure === 'snapshot') await distrust(this.#cache.snapshotFile(pointer));
      throw new OperationError('refused', reason);
    } finally {
      this.#tried = undefined;
    }
  }

  /** Loads a generation of the cache; undefined, and told, where its file is not what it should be. */
  async #loaded(
    pointer: Pointer,
    load: (held: HeldFile | undefined) => Promise<Generation>,
  ): Promise<Generation | undefined> {
    const file = this.#cache.snapshotFile(pointer);
    let held: HeldFile | undefined;
    try {
      held = await this.#cache.hold(pointer);
      return await load(held);
    } catch (error) {
      releaseFile(held);
      if (!(error instanceof OperationError) || error.code === 'memory') throw error;
      const what = `generation ${pointer.generation.slice(0, 12)} of the cache`;
      this.#options.report(`${what} is not taken: ${error.message}`, 'warn');
      // What could not be read now may be read by the next start.
      if (error.code === 'snapshot') await distrust(file);
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
    const goesOn = this.#taken ? `generation ${this.#taken.generation.slice(0, 12)} goes on` : 'nothing to serve yet';
    const step = { event: 'refused', target: this.#target.name, reason: message } as const;
    if (isNew) this.#options.report(`not taken, ${goesOn}: ${message}`, 'warn', step);
  }
}
