// The plots of the report: from what was measured to SVG. No file is read or written here. Drawn with Observable Plot
// on a document that is no browser's.
import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import type { FullReport } from './fullReport.ts';
import { peerNames } from './report.ts';
import { growthsOf } from '../load/sizes.ts';
import { GROWTHS } from '../scenarios/growth.ts';
import type { Growth } from '../scenarios/scenario.ts';

/** A plot with what it is called, what a reader should see in it, and the names of its colours. */
export interface Drawing {
  readonly title: string;
  readonly caption: string;
  readonly svg: string;
  readonly legend: readonly LegendEntry[];
}

/** A colour with what it stands for. */
export interface LegendEntry {
  readonly name: string;
  readonly color: string;
}

/** What is drawn before it has a title. */
type Plotted = Pick<Drawing, 'svg' | 'legend'>;

const { document } = parseHTML('<!doctype html><html><body></body></html>');
const WIDTH = 760;
/** Room at the left of bars for the longest name of a scenario. */
const NAMES_ROOM = 150;
/** Room at the right of bars for their values or facets. */
const RIGHT_ROOM = 190;
/** Colours that differ for most colour-blind readers too (Okabe and Ito, Color Universal Design, 2008). */
const COLORS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#888888'];
const TARGET_COLORS: readonly LegendEntry[] = [
  { name: 'pass', color: '#777777' },
  { name: 'great', color: '#2a9d3f' },
];

/** All plots of a report; one without points is left out. */
export function drawings(report: FullReport): readonly Drawing[] {
  return [
    ...proxyDrawings(report),
    ...loadDrawings(report),
    ...peerDrawings(report),
    ...growthDrawings(report),
    ...sizeDrawings(report),
    ...againstDrawings(report),
  ];
}

type Options = NonNullable<Parameters<typeof Plot.plot>[0]>;

function svgOf(options: Options): string {
  const drawn = Plot.plot({
    document,
    width: WIDTH,
    height: 340,
    marginLeft: 60,
    marginRight: 40,
    marginTop: 24,
    marginBottom: 42,
    ...options,
  });
  return (drawn as unknown as { readonly outerHTML: string }).outerHTML;
}

interface LinePoint {
  readonly name: string;
  readonly x: number;
  readonly y: number;
}

interface Axes {
  readonly x: Plot.ScaleOptions;
  readonly y: Plot.ScaleOptions;
}

/** Each name once, with a colour. */
function legendOf(names: readonly string[]): readonly LegendEntry[] {
  return [...new Set(names)].map((name, i) => ({ name, color: COLORS[i % COLORS.length]! }));
}

function colorsOf(legend: readonly LegendEntry[]): Plot.ScaleOptions {
  return { domain: legend.map(({ name }) => name), range: legend.map(({ color }) => color) };
}

/** A number as an axis shows it: without prefixes such as m for thousandths. */
function tickText(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumSignificantDigits: 3 });
}

/** A number at a logarithmic axis, where it is a power of ten: what stands between them would run together. */
function powerText(value: number): string {
  return Number.isInteger(Math.round(Math.log10(value) * 1e6) / 1e6) ? tickText(value) : '';
}

/** As linear or logarithmic axes want it; the ends of an axis are round, so that they have names too. */
function axisOf(options: Plot.ScaleOptions): Plot.ScaleOptions {
  return { tickFormat: options.type === 'log' ? powerText : tickText, ...options };
}

/** Lines, each in the colour of its name. */
function linesOf(points: readonly LinePoint[], { x, y }: Axes): Plotted {
  const legend = legendOf(points.map(({ name }) => name));
  const svg = svgOf({
    x: axisOf(x),
    y: { grid: true, nice: true, ...axisOf(y) },
    color: colorsOf(legend),
    marks: [Plot.lineY(points, { x: 'x', y: 'y', z: 'name', stroke: 'name', marker: true })],
  });
  return { svg, legend };
}

function proxyDrawings({ proxied }: FullReport): readonly Drawing[] {
  const paced = proxied.filter(({ part }) => part !== undefined);
  if (paced.length === 0) return [];
  const points = paced.flatMap(({ way, part, p50Ms, p99Ms }) => [
    { name: `${way}, p50`, x: part! * 100, y: p50Ms },
    { name: `${way}, p99`, x: part! * 100, y: p99Ms },
  ]);
  const plotted = linesOf(points, {
    x: { label: 'offered load, % of what two replicas answer directly' },
    y: { label: 'ms', type: 'log' },
  });
  const caption =
    'A mix of requests beside a heavy client, from when a request could be sent or was due. Client, proxy and replicas share the cores.';
  return [{ title: 'Waiting time through proxies against offered load', caption, ...plotted }];
}

function loadDrawings({ load }: FullReport): readonly Drawing[] {
  const own = load.filter(({ scenario }) => typeof scenario.control === 'string');
  if (own.length === 0) return [];
  const bars = own.map(({ scenario, ratio }) => ({ name: scenario.name, ratio, control: scenario.control as string }));
  const targets = own.flatMap(({ scenario: { name, pass, great } }) => [
    ...(pass === undefined ? [] : [{ name, target: pass, is: 'pass' }]),
    ...(great === undefined ? [] : [{ name, target: great, is: 'great' }]),
  ]);
  const legend = [...legendOf(bars.map(({ control }) => control)), ...TARGET_COLORS];
  const svg = svgOf({
    marginLeft: NAMES_ROOM,
    marginRight: RIGHT_ROOM / 2,
    height: 26 * own.length + 60,
    x: { label: 'CPU of the replica / CPU of its control', grid: true, type: 'log', tickFormat: powerText },
    y: { label: null, domain: own.map(({ scenario }) => scenario.name) },
    color: colorsOf(legend),
    marks: [
      Plot.barX(bars, { x1: 0.02, x2: 'ratio', y: 'name', fill: 'control', fillOpacity: 0.5 }),
      Plot.text(bars, {
        y: 'name',
        text: (bar: { ratio: number }) => bar.ratio.toFixed(2),
        frameAnchor: 'right',
        dx: 40,
      }),
      Plot.tickX(targets, { x: 'target', y: 'name', stroke: 'is', strokeWidth: 2.5 }),
    ],
  });
  const caption =
    'CPU per request over that of its control: a bare answer of 300 bytes, as many bytes as ours that are in the cache (page) or not (floor) or are written as HTML (markup), one scan of all titles, or one RSA signature. The axis is logarithmic.';
  return [{ title: 'CPU per request against limits', caption, svg, legend }];
}

function peerDrawings({ peers }: FullReport): readonly Drawing[] {
  const bars = peers.flatMap(({ question, subject, peers: others }) => [
    { question: question.name, who: 'this replica', microseconds: subject.least },
    ...others.map(({ peer, cost }) => ({ question: question.name, who: peer, microseconds: cost.least })),
  ]);
  if (bars.length === peers.length) return [];
  const legend = legendOf(['this replica', ...peerNames(peers)]);
  const most = Math.max(...bars.map(({ microseconds }) => microseconds));
  const svg = svgOf({
    marginLeft: 130,
    marginRight: RIGHT_ROOM,
    height: 24 * bars.length + 80,
    // Room for the value behind the longest bar.
    x: { type: 'log', domain: [1, most * 4], label: 'CPU microseconds per request', grid: true, tickFormat: powerText },
    y: { label: null, domain: legend.map(({ name }) => name) },
    fy: { label: null, domain: peers.map(({ question }) => question.name) },
    color: colorsOf(legend),
    marks: [
      Plot.barX(bars, { x1: 1, x2: 'microseconds', y: 'who', fy: 'question', fill: 'who' }),
      Plot.text(bars, {
        x: 'microseconds',
        y: 'who',
        fy: 'question',
        text: (bar: { microseconds: number }) => tickText(bar.microseconds),
        dx: 5,
        textAnchor: 'start',
      }),
    ],
  });
  const caption = 'The same answers from the same data, compared before they were measured. The axis is logarithmic.';
  return [{ title: 'CPU per request beside peers', caption, svg, legend }];
}

const GIGABYTE = 1e9;

/** A drawing has at most a colour for each of its lines. */
function growthDrawings({ sizes }: FullReport): readonly Drawing[] {
  const growths = growthsOf(sizes);
  return Object.entries(GROWTHS).flatMap(([grows, { what, isByByte }]) => {
    const lines = growths.filter(({ scenario }) => scenario.grows === (grows as Growth));
    const unit = isByByte ? 'CPU nanoseconds a byte' : 'CPU microseconds per request';
    return Array.from({ length: Math.ceil(lines.length / COLORS.length) }, (_, i) => {
      const some = lines.slice(i * COLORS.length, (i + 1) * COLORS.length);
      const names = some.map(({ scenario: { name }, slope }) => `${name} (${slope.toFixed(2)})`);
      const drawn = some.flatMap(({ points }, line) =>
        points.map(({ observations, microseconds, bytes }) => {
          return { name: names[line]!, x: observations, y: isByByte ? (1000 * microseconds) / bytes : microseconds };
        }),
      );
      const plotted = linesOf(drawn, { x: SIZE_AXIS, y: { label: unit, type: 'log' } });
      const title = `CPU against the number of records: what may grow ${what}${i === 0 ? '' : ', continued'}`;
      return { title, caption: 'Behind each name its slope: 0 stays, 1 grows as the records do.', ...plotted };
    });
  });
}

const SIZE_AXIS = { label: 'observations', type: 'log' } as const;

function sizeDrawings({ sizes }: FullReport): readonly Drawing[] {
  if (sizes.length === 0) return [];
  const memory = sizes.flatMap(({ observations, memory: { residentBytes, snapshotBytes, ndjsonBytes } }) =>
    Object.entries({ 'resident, 1 thread': residentBytes, 'snapshot file': snapshotBytes, NDJSON: ndjsonBytes }).map(
      ([name, bytes]) => ({ name, x: observations, y: bytes / GIGABYTE }),
    ),
  );
  return [
    {
      title: 'Memory against the number of records',
      caption: 'All collections together, counted by their observations. Both axes are logarithmic.',
      ...linesOf(memory, { x: SIZE_AXIS, y: { label: 'GB', type: 'log' } }),
    },
  ];
}

function againstDrawings({ load }: FullReport): readonly Drawing[] {
  const raced = load.flatMap(({ scenario, against }) => (against ? [{ name: scenario.name, ...against }] : []));
  const [first] = raced;
  if (!first) return [];
  const svg = svgOf({
    marginLeft: NAMES_ROOM,
    marginRight: 60,
    height: 24 * raced.length + 60,
    x: { label: `CPU of this tree / CPU of ${first.revision}`, grid: true },
    y: { label: null, domain: raced.map(({ name }) => name) },
    marks: [
      Plot.ruleX([1]),
      Plot.dot(raced, { x: 'ratio', y: 'name', r: 5, fill: 'currentColor' }),
      Plot.text(raced, { x: 'ratio', y: 'name', text: (one: { ratio: number }) => one.ratio.toFixed(2), dx: 22 }),
    ],
  });
  const caption =
    'In the same rounds; left of 1 is faster. Equal code differs too, by some per cent, as it is compiled in each process.';
  return [{ title: 'This tree against another revision', caption, svg, legend: [] }];
}
