// A period of time as a bar among whole decades: from when to when a
// record is about. A period without an end goes on.
import type { Member } from '../../../engine/described.ts';
import { type Child, html, type Markup } from './template.ts';

const WIDTH = 360;
const DAY_MS = 86_400_000;
/** The members that make a period: an end is not needed. */
export const PERIOD_ENDS = ['startTime', 'endTime'] as const;

/** A date as the record has it, its day, and when that begins. */
interface When {
  readonly text: string;
  readonly day: string;
  readonly ms: number;
}

/** The bar, where the record has a start, and perhaps an end, that are dates; `source` stands before what it says. */
export function periodBar(members: readonly Member[], source: Child): Markup | false {
  const [start, end] = PERIOD_ENDS.map((key) => whenOf(members, key));
  // An end that is no date is not none.
  if (!start || (!end && !isNothing(valueOf(members, 'endTime')))) return false;
  const [first, last] = end && end.ms < start.ms ? [end, start] : [start, end ?? start];
  const firstYear = Math.floor(yearOf(first.ms) / 10) * 10;
  const lastYear = Math.max(firstYear + 10, Math.ceil((yearOf(last.ms) + 1) / 10) * 10);
  const scale = (ms: number): number =>
    ((ms - yearStart(firstYear)) / (yearStart(lastYear) - yearStart(firstYear))) * WIDTH;
  const from = scale(first.ms);
  const to = end ? scale(last.ms) : WIDTH;
  const step = Math.max(10, Math.ceil((lastYear - firstYear) / 60) * 10);
  const ticks: Markup[] = [];
  for (let year = firstYear; year <= lastYear; year += step) {
    const x = scale(yearStart(year)).toFixed(1);
    const anchor = year === firstYear ? 'start' : year === lastYear ? 'end' : 'middle';
    ticks.push(
      html`<line x1="${x}" y1="0" x2="${x}" y2="22" /><text x="${x}" y="36" text-anchor="${anchor}">${year}</text>`,
    );
  }
  const text = end ? `${start.day} to ${end.day}${lasting(start, end)}` : `from ${start.day} on`;
  return html`<figure class="period">
    <svg viewBox="-1 -1 362 40" role="img" aria-label="Period of time: ${text}">
      <g class="grid">${ticks}</g>
      <rect
        class="box${!end && ' open'}"
        x="${from.toFixed(1)}"
        y="6"
        width="${Math.max(2, to - from).toFixed(1)}"
        height="10"
        rx="2"
      />
    </svg>
    <figcaption>${source}${text}</figcaption>
  </figure>`;
}

function lasting(start: When, end: When): string {
  if (isBefore(end, start)) return ': it ends before it starts';
  const days = Math.round((end.ms - start.ms) / DAY_MS);
  return days > 0 ? `, ${days === 1 ? '1 day' : `${days} days`}` : '';
}

/** As exact as both are: a day without a time is neither before nor after a time of that day. */
function isBefore(one: When, other: When): boolean {
  const length = Math.min(one.text.length, other.text.length);
  return one.text.slice(0, length) < other.text.slice(0, length);
}

function valueOf(members: readonly Member[], key: string): Member['value'] | undefined {
  return members.find((member) => member.key === key)?.value;
}

function isNothing(value: Member['value'] | undefined): boolean {
  return value === undefined || (value.kind === 'whole' && value.json === 'null');
}

function whenOf(members: readonly Member[], key: string): When | undefined {
  const value = valueOf(members, key);
  const [, text = '', day = ''] =
    (value?.kind === 'whole' && /^"((\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d)?)?)/.exec(value.json)) || [];
  const ms = day === '' ? NaN : Date.parse(day);
  return Number.isNaN(ms) ? undefined : { text, day, ms };
}

function yearOf(ms: number): number {
  return new Date(ms).getUTCFullYear();
}

function yearStart(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1);
}
