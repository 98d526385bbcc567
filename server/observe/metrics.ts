// The metrics of the whole process in Prometheus text format: tallies of threads, figures of the supervisor, and Node's
// metrics. Loaded only with an admin port.
import { collectDefaultMetrics, Counter, Gauge, Registry, type Metric } from '@prometheus-io/client';
import { type Observer, REFUSALS, type ServiceEvent, THREAD_KINDS } from './events.ts';
import {
  makeCurves,
  type Labels,
  METRIC_PREFIX,
  newTally,
  addTallies,
  type TalliedHistogram,
  type TalliedMetric,
  type Tally,
} from './tally.ts';

/** A counter of events. */
interface EventMetric {
  readonly name: string;
  readonly help: string;
  /** Cells that are exported from the start, with 0. */
  readonly known: readonly Labels[];
  /** The cell of an event; undefined if it does not count. */
  readonly labelsOf: (event: ServiceEvent) => Labels | undefined;
}

const EVENT_METRICS: readonly EventMetric[] = [
  {
    name: 'authority_authorisations_total',
    help: 'Authorisation requests, by status and reason.',
    known: [
      { status: 'AccessGranted', reason: '' },
      ...Object.entries(REFUSALS).map(([reason, status]) => ({ status, reason })),
    ],
    labelsOf: (event) => (event.kind === 'authorisation' ? { status: event.status, reason: event.reason } : undefined),
  },
  {
    name: 'authority_loads_total',
    help: 'Configurations of the authority that were loaded or refused.',
    known: [{ outcome: 'loaded' }, { outcome: 'refused' }],
    labelsOf: ({ kind }) => {
      if (kind === 'authorityLoaded') return { outcome: 'loaded' };
      return kind === 'authorityReloadRefused' ? { outcome: 'refused' } : undefined;
    },
  },
  {
    name: 'authority_bugs_total',
    help: 'Authorisation requests that hit a bug.',
    known: [{}],
    labelsOf: ({ kind }) => (kind === 'authorityBug' ? {} : undefined),
  },
  {
    name: 'threads_replaced_total',
    help: 'Threads that died and were replaced, by kind.',
    known: THREAD_KINDS.map((thread) => ({ thread })),
    labelsOf: (event) => (event.kind === 'threadDied' ? { thread: event.thread } : undefined),
  },
  {
    name: 'thread_starts_failed_total',
    help: 'Failed starts of threads for lack of descriptors, threads or memory, by kind.',
    known: THREAD_KINDS.map((thread) => ({ thread })),
    labelsOf: (event) => (event.kind === 'threadStarved' ? { thread: event.thread } : undefined),
  },
];

export interface LocalGauge {
  readonly name: string;
  readonly help: string;
  readonly label?: string;
  readonly valuesOf: () => readonly (readonly [of: string, value: number])[];
}

export type Metrics = ReturnType<typeof newMetrics>;

/** Labels come from closed sets, so their number is bounded. Every cell is exported from 0 on. */
export function newMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: METRIC_PREFIX });
  const tallies = new Map<TalliedMetric | TalliedHistogram, Tally[]>();
  return {
    contentType: registry.contentType,
    observe: eventCounters(registry),
    /** Adds a tally of a metric for one thread. The metric is the sum of all its tallies. */
    tally: (metric: TalliedMetric | TalliedHistogram): Tally => {
      const sums = tallies.get(metric) ?? [];
      if (sums.length === 0) addMetric(registry, metric, sums);
      tallies.set(metric, sums);
      sums.push(newTally(metric));
      return sums.at(-1)!;
    },
    gauge: ({ name, help, label, valuesOf }: LocalGauge): void => {
      const labelNames = label === undefined ? [] : [label];
      const collect = function (this: Gauge<string>): void {
        this.reset();
        const values = valuesOf();
        // prom-client would export a metric without labels as 0 if it has no value.
        if (label === undefined && values.length === 0) this.remove();
        for (const [labelValue, value] of values) this.set(label === undefined ? {} : { [label]: labelValue }, value);
      };
      registry.registerMetric(new Gauge({ name: METRIC_PREFIX + name, help, labelNames, registers: [], collect }));
    },
    text: (): Promise<string> => registry.metrics(),
  };
}

function eventCounters(registry: Registry): Observer {
  const counters = EVENT_METRICS.map(({ name, help, known, labelsOf }) => {
    const labelNames = Object.keys(known[0]!);
    const counter = new Counter({ name: METRIC_PREFIX + name, help, labelNames, registers: [registry] });
    for (const labels of known) counter.inc(labels, 0);
    return { counter, labelsOf };
  });
  const count = (event: ServiceEvent): void => {
    for (const { counter, labelsOf } of counters) {
      const labels = labelsOf(event);
      if (labels) counter.inc(labels);
    }
  };
  return (events) => events.forEach(count);
}

/** Exports the sums of tallies as a metric. `tallies` may grow later. */
function addMetric(registry: Registry, metric: TalliedMetric | TalliedHistogram, tallies: readonly Tally[]): void {
  const name = METRIC_PREFIX + metric.name;
  const { help } = metric;
  if ('curves' in metric)
    return registry.registerMetric(histogram(name, help, () => makeCurves(metric, addTallies(tallies))));
  const labelNames = Object.keys(metric.cells[0]!);
  const Kind = metric.kind === 'gauge' ? Gauge : Counter;
  const collect = function (this: Counter<string> | Gauge<string>): void {
    this.reset();
    for (const [i, sum] of addTallies(tallies).entries()) this.inc(metric.cells[i]!, sum);
  };
  registry.registerMetric(new Kind({ name, help, labelNames, registers: [], collect }));
}

/** A histogram with values counted elsewhere. The library's histogram can only count by itself. */
function histogram(name: string, help: string, curves: () => ReturnType<typeof makeCurves>): Metric {
  const get = async (): Promise<unknown> => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: curves().flatMap(({ labels, below, count, sum }) => [
      ...[...below, ['+Inf', count] as const].map(([le, value]) => {
        return { metricName: `${name}_bucket`, labels: { ...labels, le }, value };
      }),
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ]),
  });
  // A registry uses only the name and the values of a metric.
  return { name, get } as unknown as Metric;
}
