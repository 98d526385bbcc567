// The sweeps of the report as a table: one thing varies, all else stays, and a line that should be flat says so. Only
// asks; answers are those whose kin the load scenarios check.
import { LIST, LIMIT } from './questions.ts';
import type { Choice } from './scenario.ts';

/** What one point of a line asks: at `x`, this target, so often a round. */
export interface SweepPoint {
  readonly x: number;
  readonly target: string;
  readonly requests: number;
}

/** A line of a plot. */
export interface SweepLine {
  readonly name: string;
  points(choice: Choice): readonly SweepPoint[];
}

/** A plot. `per` is what its costs are divided by; with `isFlat` the lines should be level. */
export interface Sweep {
  readonly name: string;
  readonly title: string;
  readonly xLabel: string;
  readonly isLog: boolean;
  readonly isFlat: boolean;
  readonly lines: readonly SweepLine[];
}

const LIMITS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000];
/** Conditions that most records meet, so that each leaves work for the next one. */
const CONDITIONS = [
  'status=completed',
  'nonGeographicFlag=false',
  'publicationState__in=published,citable',
  'language=English',
  'removedDataTime__isnull=true',
  'status!=planned',
];

/** All sweeps over one data set. */
export const SWEEPS: readonly Sweep[] = [
  {
    name: 'offset',
    title: 'Pages of 100 against their offset',
    xLabel: 'offset',
    isLog: false,
    isFlat: true,
    lines: [
      { name: 'all records', points: (choice) => offsets(choice.catalogue.rows.length, '') },
      { name: 'ordering=uuid', points: (choice) => offsets(choice.catalogue.rows.length, 'ordering=uuid&') },
      {
        name: 'status=completed',
        points: ({ catalogue: { rows } }) =>
          offsets(rows.filter(({ status }) => status === 'completed').length, 'status=completed&'),
      },
    ],
  },
  {
    name: 'limit',
    title: 'Pages against their limit',
    xLabel: 'limit',
    isLog: true,
    isFlat: false,
    lines: [
      { name: 'all records', points: () => limits('') },
      { name: 'publicationState=citable', points: () => limits('publicationState=citable&') },
      { name: 'fields=title,uuid', points: () => limits('fields=title,uuid&') },
    ],
  },
  {
    name: 'conditions',
    title: 'Pages of 1 against the number of conditions',
    xLabel: 'conditions',
    isLog: false,
    isFlat: false,
    lines: [
      {
        name: 'dense filters',
        points: () =>
          Array.from({ length: CONDITIONS.length + 1 }, (_, x) => {
            const conditions = CONDITIONS.slice(0, x).map((condition) => `${condition}&`);
            return { x, target: `${LIST}?${conditions.join('')}limit=1`, requests: 800 };
          }),
      },
    ],
  },
];

const OFFSET_POINTS = 9;

function offsets(rows: number, filter: string): readonly SweepPoint[] {
  const last = Math.max(0, rows - LIMIT);
  return Array.from({ length: OFFSET_POINTS }, (_, i) => {
    const x = Math.floor((last * i) / (OFFSET_POINTS - 1));
    return { x, target: `${LIST}?${filter}offset=${x}`, requests: 200 };
  });
}

function limits(filter: string): readonly SweepPoint[] {
  return LIMITS.map((x) => ({ x, target: `${LIST}?${filter}limit=${x}`, requests: Math.max(2, Math.ceil(800 / x)) }));
}
