// The metrics: counters of events by operation and status, in the text form that Prometheus reads.
// An observer; one for all threads, in the supervisor. Declared once in METRICS; names are never reused.
import type { Observer, ServiceEvent } from './events.ts';
import { newTally, sumOf, type TalliedMetric, type Tally } from './tally.ts';

/** A counter: its name, what it counts, and the labels of an event it counts, or undefined for others. */
interface Metric {
  readonly name: string;
  readonly help: string;
  readonly labelsOf: (event: ServiceEvent) => Readonly<Record<string, string>> | undefined;
}

/** All counters. */
const METRICS: readonly Metric[] = [
  {
    name: 'authority_authorisations_total',
    help: 'Requests to be authorised, by status and reason.',
    labelsOf: (event) => (event.kind === 'authorisation' ? { status: event.status, reason: event.reason } : undefined),
  },
  {
    name: 'authority_loads_total',
    help: 'Configurations of the authority that were loaded or refused.',
    labelsOf: ({ kind }) => {
      if (kind === 'authorityLoaded') return { outcome: 'loaded' };
      return kind === 'authorityReloadRefused' ? { outcome: 'refused' } : undefined;
    },
  },
  {
    name: 'authority_bugs_total',
    help: 'Requests to be authorised that met a bug.',
    labelsOf: ({ kind }) => (kind === 'authorityBug' ? {} : undefined),
  },
];

/** Counters that start at nothing. */
export interface Metrics {
  readonly observe: Observer;
  /** One more tally of a metric, for one thread to count in; the text has the sums of all. */
  tally(metric: TalliedMetric): Tally;
  /** The counters in the Prometheus text format, in a fixed order; label sets that were never met are left out. */
  text(): string;
}

/** Makes counters. Labels are taken from closed sets, so their number is bounded. */
export function newMetrics(): Metrics {
  const counts = METRICS.map(() => new Map<string, number>());
  const count = (event: ServiceEvent): void => {
    METRICS.forEach(({ labelsOf }, i) => {
      const labels = labelsOf(event);
      const key = labels && keyOf(labels);
      if (key !== undefined) counts[i]!.set(key, (counts[i]!.get(key) ?? 0) + 1);
    });
  };
  const observe: Observer = (events) => events.forEach(count);
  const tallies = new Map<TalliedMetric, Tally[]>();
  const tally = (metric: TalliedMetric): Tally => {
    const added = newTally(metric);
    tallies.set(metric, [...(tallies.get(metric) ?? []), added]);
    return added;
  };
  const text = (): string =>
    [
      ...METRICS.flatMap((metric, i) => linesOf(metric, inOrder(counts[i]!))),
      ...[...tallies].flatMap(([metric, of]) => linesOf(metric, countsOf(metric, of))),
    ]
      .map((line) => `${line}\n`)
      .join('');
  return { observe, tally, text };
}

function keyOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');
}

type Counts = readonly (readonly [key: string, count: number])[];

function inOrder(counts: ReadonlyMap<string, number>): Counts {
  return [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function countsOf(metric: TalliedMetric, tallies: readonly Tally[]): Counts {
  const sums = sumOf(tallies, metric);
  return metric.cells.map((labels, i) => [keyOf(labels), sums[i]!] as const).filter(([, count]) => count > 0);
}

function linesOf({ name, help }: Pick<Metric, 'name' | 'help'>, counts: Counts): readonly string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} counter`,
    ...counts.map(([key, count]) => `${name}${key === '' ? '' : `{${key}}`} ${count}`),
  ];
}
