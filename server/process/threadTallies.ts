// Figures that a serving thread publishes once a second, in cells shared with the supervisor: connections, pool, caches
// and event loop delay. They cost requests nothing. To add a metric, add a row to READINGS.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { PoolStatistics } from '../../workers/pool.ts';
import type { RouterStatistics } from '../../workers/router.ts';
import type { MemoryStatistics } from '../catalogue/requestMemory.ts';
import type { ListenerLoad } from '../http/listener.ts';
import {
  observeValue,
  type TalliedHistogram,
  type TalliedMetric,
  type Tally,
  type TallyMaker,
} from '../observe/tally.ts';

/** Counters over all generations, and gauges of the served one. */
export interface GenerationStatistics {
  readonly pool: PoolStatistics;
  readonly router: RouterStatistics;
  readonly answers: MemoryStatistics;
}

export interface ThreadStatistics extends GenerationStatistics {
  readonly load: ListenerLoad;
}

interface Reading {
  readonly metric: TalliedMetric;
  readonly read: (statistics: ThreadStatistics) => readonly number[];
}

const LOOKUPS = [{ outcome: 'hit' }, { outcome: 'miss' }] as const;

const READINGS: readonly Reading[] = [
  {
    metric: { name: 'connections', help: 'Open client connections.', kind: 'gauge', cells: [{}] },
    read: ({ load }) => [load.connections],
  },
  {
    metric: {
      name: 'requests_in_flight',
      help: 'Requests in progress that did not complete in the turn in which they arrived.',
      kind: 'gauge',
      cells: [{}],
    },
    read: ({ load }) => [load.answers],
  },
  {
    metric: {
      name: 'pool_queries',
      help: 'Expensive queries that run in the pool or wait for it.',
      kind: 'gauge',
      cells: [{ state: 'running' }, { state: 'waiting' }],
    },
    read: ({ pool }) => [pool.running, pool.waiting],
  },
  {
    metric: {
      name: 'pool_queries_total',
      help: 'Expensive queries given to the pool, by outcome; gone means cancelled.',
      cells: [{ outcome: 'found' }, { outcome: 'busy' }, { outcome: 'gone' }, { outcome: 'overtime' }],
    },
    read: ({ pool: { outcomes } }) => [outcomes.found, outcomes.busy, outcomes.gone, outcomes.overtime],
  },
  {
    metric: {
      name: 'lists_found_total',
      help: 'Lists, by where their rows were found: serving thread, pool, or an identical query in progress.',
      cells: [{ place: 'inline' }, { place: 'pool' }, { place: 'joined' }],
    },
    read: ({ router }) => [router.inline, router.pooled, router.joined],
  },
  {
    metric: { name: 'row_set_cache_lookups_total', help: 'Lookups in the row set cache.', cells: LOOKUPS },
    read: ({ router }) => [router.hits, router.misses],
  },
  {
    metric: { name: 'row_set_cache_bytes', help: 'Bytes in the row set cache.', kind: 'gauge', cells: [{}] },
    read: ({ router }) => [router.bytes],
  },
  {
    metric: { name: 'answer_cache_lookups_total', help: 'Lookups of cached responses and tags.', cells: LOOKUPS },
    read: ({ answers }) => [answers.hits, answers.misses],
  },
];

/** The longest delay of each second, by thread. The number of labels is a setting, which no client controls. */
export function loopDelayHistogram(threads: number): TalliedHistogram {
  return {
    name: 'event_loop_delay_seconds',
    help: 'The longest delay of the event loop in each second, by serving thread.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    curves: Array.from({ length: threads }, (_, i) => ({ thread: String(i) })),
  };
}

/** Where one thread writes: a tally for each row of READINGS, and its curve of the shared histogram. */
export interface ThreadTallies {
  readonly readings: readonly Tally[];
  readonly delays: TalliedHistogram;
  readonly delayTally: Tally;
  readonly thread: number;
}

export function threadTallies(thread: number, delays: TalliedHistogram, make: TallyMaker): ThreadTallies {
  const readings = READINGS.map(({ metric }) => make(metric));
  return { readings, delays, delayTally: make(delays), thread };
}

const EVERY_MS = 1000;
const RESOLUTION_MS = 10;
const NS_PER_MS = 1e6;

/** Starts writing the readings once a second. Keeps no thread alive. Cost: 10 us a second, and a timer of 10 ms. */
export function publishEverySecond(tallies: ThreadTallies, read: () => ThreadStatistics): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const publish = (): void => {
    const statistics = read();
    for (const [i, reading] of READINGS.entries()) tallies.readings[i]!.set(reading.read(statistics));
    // The monitor measures the time between two timers, which includes their interval.
    const seconds = Math.max(0, delay.max / NS_PER_MS - RESOLUTION_MS) / 1000;
    delay.reset();
    observeValue(tallies.delayTally, tallies.delays, tallies.thread, seconds);
  };
  setInterval(publish, EVERY_MS).unref();
}
