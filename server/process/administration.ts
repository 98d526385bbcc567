// The data behind the admin port: readiness, status, settings and metrics. It only composes plain data and decides
// nothing about serving.
import { bytesByPart } from '../../data/store/load.ts';
import { type LoadedSnapshot, decodeLoadedMetadata, openSections } from '../../engine/shared.ts';
import type { AuthoritySupervisor } from '../authority/supervisor.ts';
import { type AdminAnswer, type AdminAnswers, jsonAnswer, listenForAdmin } from '../observe/adminListener.ts';
import { epochMs, steadyMs } from '../observe/clock.ts';
import { COMPARISON_KINDS, type Comparisons, type DataEvent } from '../observe/events.ts';
import { type Metrics, newMetrics, type LocalGauge } from '../observe/metrics.ts';
import { requestTallies, type RequestTallies } from './requestTallies.ts';
import type { TalliedHistogram, Tally } from '../observe/tally.ts';
import type { Settings } from '../settings/declarations.ts';
import { loopDelayHistogram, threadTallies, type ThreadTallies } from './threadTallies.ts';
import { packageVersion } from '../settings/values.ts';
import { blockBytes, type Generation, type ServedData } from './loadGeneration.ts';
import { type Change, CHANGE_STATUSES, CHANGES, LastOutcomes, REFRESHES } from './generations.ts';

type Phase = 'loading' | 'ready' | 'draining';

/** Where the data of a server comes from if it is not --data. */
export interface FollowedSource {
  /** Why this source makes the server unready; undefined if it does not. */
  unreadyReason(): string | undefined;
  /** Milliseconds since the last successful refresh; undefined if unknown. */
  ageMs(): number | undefined;
  /** State of a target for `/status` and the metrics; undefined with --follow. */
  status(): unknown;
  figures(): TargetFigures | undefined;
}

export type TargetFigures = Readonly<Record<keyof typeof TARGET_GAUGES, number | undefined>>;

const TARGET_GAUGES = {
  stale: ['target_stale_seconds', 'Time since the target last confirmed the served data.'],
  success: ['target_success_timestamp_seconds', 'Last confirmation by the target, in seconds since 1970.'],
  failure: [
    'target_failure_timestamp_seconds',
    'Last failure of the target, or refusal of its data, in seconds since 1970.',
  ],
  fetchBytes: ['target_fetch_bytes', 'Bytes of the last fetch.'],
  fetchSeconds: ['target_fetch_seconds', 'Duration of the last fetch.'],
} as const;

/** State that the supervisor updates and the admin listener publishes. */
export class Administration {
  readonly metrics: Metrics = newMetrics();
  /** The memory of replaced data; undefined before the server serves. */
  replaced: { status(): unknown } | undefined;
  #phase: Phase = 'loading';
  #served: ServedData | undefined;
  /** Records by collection, read once per generation. */
  #counts: Readonly<Record<string, number>> = {};
  #lastChange: (Change & { readonly at: string }) | undefined;
  readonly #reloads = new LastOutcomes();
  readonly #refreshes = new LastOutcomes();
  readonly #refreshTally: Tally;
  #comparisons: Comparisons = {};
  #commands: AdminAnswers;
  readonly #changes: Tally;
  source: FollowedSource | undefined;
  authority: Pick<AuthoritySupervisor, 'status'> | undefined;
  #listener: Awaited<ReturnType<typeof listenForAdmin>> | undefined;
  readonly #loopDelays: TalliedHistogram;
  readonly #settings: Settings;
  readonly #startMs = steadyMs();

  constructor(settings: Settings) {
    this.#settings = settings;
    // Commands that arrive during the loading get 503 and may be retried. A 404 would suggest that the path is unknown.
    const orders = ['/reload', '/rollback', ...(settings.follow === undefined ? [] : ['/refresh'])];
    const unready = (): AdminAnswer => ({ ...jsonAnswer(503, this.#readiness()), headers: { 'Retry-After': '1' } });
    this.#commands = Object.fromEntries(orders.map((path) => [path, unready]));
    this.#loopDelays = loopDelayHistogram(settings.threads);
    for (const gauge of [...this.#gauges(), ...this.#refreshGauges()]) this.metrics.gauge(gauge);
    this.#changes = this.metrics.tally(CHANGES);
    this.#refreshTally = this.metrics.tally(REFRESHES);
  }

  /** Listens on this port and resolves to the actual port. Throws OperationError `port`. */
  async listen(port: number, onError: (error: unknown) => void): Promise<number> {
    const options = { host: this.#settings.adminHost, port, onError };
    const views: AdminAnswers = {
      '/livez': () => jsonAnswer(200, { status: 'alive' }),
      '/readyz': () => {
        const readiness = this.#readiness();
        return jsonAnswer(readiness.status === 'ready' ? 200 : 503, readiness);
      },
      '/metrics': () => this.#scrape(),
      '/status': () => jsonAnswer(200, this.#status()),
    };
    this.#listener = await listenForAdmin(options, () => ({ views, commands: this.#commands }));
    return this.#listener.port;
  }

  requestTallies(): RequestTallies {
    return requestTallies(this.metrics.tally);
  }

  threadTallies(thread: number): ThreadTallies {
    return threadTallies(thread, this.#loopDelays, this.metrics.tally);
  }

  begin(served: ServedData): void {
    this.#served = served;
    this.#counts = readCounts(served.generation.loaded);
    this.#phase = 'ready';
  }

  /** Accepts these commands by POST. The response follows when the command has ended: 200, or 422 if it was refused. */
  command(orders: Readonly<Record<string, () => Promise<Change>>>): void {
    const handlers = Object.entries(orders).map(([path, order]) => {
      const answer = async (): Promise<AdminAnswer> => {
        const change = await order();
        return jsonAnswer(change.status === 'refused' ? 422 : 200, change);
      };
      return [path, answer] as const;
    });
    this.#commands = Object.fromEntries(handlers);
  }

  changed(change: Change): void {
    const atMs = epochMs();
    if (this.#served) this.#counts = readCounts(this.#served.generation.loaded);
    this.#lastChange = { ...change, at: new Date(atMs).toISOString() };
    this.#reloads.ended(change.status, change.reason, atMs);
    this.#changes[CHANGE_STATUSES.indexOf(change.status)]! += 1;
  }

  refreshed({ status, reason }: Change, atMs: number): void {
    this.#refreshes.ended(status, reason, atMs);
    this.#refreshTally[CHANGE_STATUSES.indexOf(status)]! += 1;
  }

  noteStep(step: DataEvent): void {
    if (step.collections) this.#comparisons = step.collections;
  }

  drain(): void {
    this.#phase = 'draining';
  }

  stop(): void {
    this.#listener?.stop();
  }

  #readiness(): { readonly status: Phase | 'stale'; readonly reason?: string } {
    const reason = this.#phase === 'draining' ? undefined : this.source?.unreadyReason();
    if (reason === undefined) return { status: this.#phase };
    return { status: this.#phase === 'ready' ? 'stale' : this.#phase, reason };
  }

  async #scrape(): Promise<AdminAnswer> {
    return { status: 200, type: this.metrics.contentType, text: await this.metrics.text() };
  }

  #gauges(): readonly LocalGauge[] {
    const loaded = (): LoadedSnapshot | undefined => this.#served?.generation.loaded;
    return [
      {
        name: 'ready',
        help: '1 if the server is ready, else 0.',
        valuesOf: () => toValues(this.#readiness().status === 'ready' ? 1 : 0),
      },
      {
        name: 'build_info',
        help: 'The version of the program, as a label.',
        label: 'version',
        valuesOf: () => toValues(1, packageVersion()),
      },
      {
        name: 'data_info',
        help: 'The generation that is served, as a label.',
        label: 'generation',
        valuesOf: () => toValues(loaded() && 1, loaded()?.generation),
      },
      {
        name: 'data_created_timestamp_seconds',
        help: 'Creation of the data, in seconds since 1970.',
        valuesOf: () => toValues(this.#createdSeconds()),
      },
      {
        name: 'data_age_seconds',
        help: 'Age of the data.',
        valuesOf: () => toValues(this.#dataAge()),
      },
      {
        name: 'last_reload_timestamp_seconds',
        help: 'Last reload or rollback with this outcome, in seconds since 1970.',
        label: 'status',
        valuesOf: () => this.#reloads.seconds,
      },
      {
        name: 'records',
        help: 'Served records, by collection.',
        label: 'collection',
        valuesOf: () => Object.entries(this.#counts),
      },
      {
        name: 'authority_expiry_timestamp_seconds',
        help: 'Earliest expiry among these of the authority, in seconds since 1970; 0 for CRLs if one is missing.',
        label: 'what',
        valuesOf: () => Object.entries(this.authority?.status().expires ?? {}),
      },
      {
        name: 'authority_unusable_files',
        help: 'CA and CRL files that the authority cannot read and ignores.',
        valuesOf: () => toValues(this.authority?.status().unusableFiles),
      },
      ...Object.entries(TARGET_GAUGES).map(([figure, [name, help]]) => ({
        name,
        help,
        valuesOf: () => toValues(this.source?.figures()?.[figure as keyof TargetFigures]),
      })),
    ];
  }

  #refreshGauges(): readonly LocalGauge[] {
    return [
      {
        name: 'last_refresh_timestamp_seconds',
        help: 'Last refresh of the followed catalogue with this outcome, in seconds since 1970.',
        label: 'status',
        valuesOf: () => this.#refreshes.seconds,
      },
      {
        name: 'refresh_age_seconds',
        help: 'Time since the last successful refresh began to compare; with --from, since its pointer changed.',
        valuesOf: () => toValues(this.#refreshAge()),
      },
      {
        name: 'refresh_collections',
        help: 'Collections by how the last successful refresh compared them.',
        label: 'compared',
        valuesOf: () => this.#collectionsByCompared(),
      },
      {
        name: 'refresh_last_full_read_timestamp_seconds',
        help: 'Start of the last full read of a collection, in seconds since 1970.',
        label: 'collection',
        valuesOf: () =>
          Object.entries(this.#comparisons).map(([name, { lastFullRead }]) => [name, Date.parse(lastFullRead) / 1000]),
      },
    ];
  }

  #collectionsByCompared(): readonly (readonly [how: string, count: number])[] {
    if (this.#settings.follow === undefined) return [];
    const all = Object.values(this.#comparisons);
    return COMPARISON_KINDS.map((kind) => [kind, all.filter(({ compared }) => compared === kind).length]);
  }

  /** Seconds; undefined before the first success. */
  #refreshAge(): number | undefined {
    const ageMs = this.source?.ageMs();
    return ageMs === undefined ? undefined : Math.round(ageMs) / 1000;
  }

  /** Age of the data in seconds; NaN if the data has no date. */
  #dataAge(): number {
    return epochMs() / 1000 - this.#createdSeconds();
  }

  #createdSeconds(): number {
    return Date.parse(this.#served?.generation.loaded.created ?? '') / 1000;
  }

  #refreshStatus(): unknown {
    const { follow, everyMs } = this.#settings;
    if (follow === undefined) return null;
    return {
      from: follow,
      everySeconds: everyMs / 1000,
      ...this.#refreshes.status(),
      ageSeconds: this.#refreshAge() ?? null,
      collections: this.#comparisons,
    };
  }

  #authorityStatus(): unknown {
    if (!this.authority) return null;
    const { loadedAt, expires, refused: refusal, ...status } = this.authority.status();
    const expiries = Object.entries(expires).map(([kind, at]) => [kind, formatInstant(at)]);
    return {
      ...status,
      loaded: formatInstant(loadedAt),
      expires: Object.fromEntries(expiries),
      refused: refusal ? { at: formatInstant(refusal.at), mistakes: refusal.mistakes } : null,
    };
  }

  #status(): unknown {
    const served = this.#served?.generation;
    const target = this.source?.status();
    return {
      version: packageVersion(),
      ...this.#readiness(),
      uptimeSeconds: Math.round((steadyMs() - this.#startMs) / 1000),
      data: served && {
        from: this.#settings.data,
        generation: served.loaded.generation,
        created: served.loaded.created ?? null,
        // JSON has no NaN: this becomes null if the data has no date.
        ageSeconds: Math.round(this.#dataAge()),
        baseUrl: served.loaded.baseUrl,
        records: this.#counts,
      },
      ...(target !== undefined && { target }),
      memory: { residentBytes: process.memoryUsage.rss(), ...(served && { dataBytes: countBytes(served) }) },
      replaced: this.replaced?.status() ?? null,
      lastChange: this.#lastChange ?? null,
      reloads: this.#reloads.status(),
      refresh: this.#refreshStatus(),
      authority: this.#authorityStatus(),
      threads: { serving: this.#settings.threads },
      settings: this.#settings,
    };
  }
}

function formatInstant(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

/** A list of the value, empty if it is undefined or NaN. */
function toValues(value: number | undefined, labelValue = ''): readonly (readonly [of: string, value: number])[] {
  return value === undefined || Number.isNaN(value) ? [] : [[labelValue, value]];
}

function readCounts(loaded: LoadedSnapshot): Readonly<Record<string, number>> {
  const { collections } = decodeLoadedMetadata(openSections(loaded));
  return Object.fromEntries(collections.map(({ name, records }) => [name, records]));
}

function countBytes({ loaded, blocks }: Generation): Readonly<Record<string, number>> {
  return { ...bytesByPart(loaded), 'compressed records': blocks ? blockBytes(blocks) : 0 };
}
