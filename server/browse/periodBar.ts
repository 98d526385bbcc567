// A period of time as a bar among whole decades: from when to when a
// record is about. A period without an end goes on.
import type { Member } from '../../engine/described.ts';
import { html, type Markup } from './template.ts';

const WIDTH = 360;
const DAY_MS = 86_400_000;

/** The bar, where the record has a start, and perhaps an end, that are dates. */
export function periodBar(members: readonly Member[]): Markup | false {
  const start = dateOf(members, 'startTime');
  if (start === undefined) return false;
  const end = dateOf(members, 'endTime');
  const firstYear = Math.floor(yearOf(start.ms) / 10) * 10;
  const lastYear = Math.max(firstYear + 10, Math.ceil((yearOf(end?.ms ?? start.ms) + 1) / 10) * 10);
  const scale = (ms: number): number =>
    ((ms - yearStart(firstYear)) / (yearStart(lastYear) - yearStart(firstYear))) * WIDTH;
  const from = Math.max(0, scale(start.ms));
  const to = end ? Math.max(from, scale(end.ms)) : WIDTH;
  const step = Math.max(10, Math.ceil((lastYear - firstYear) / 60) * 10);
  const ticks: Markup[] = [];
  for (let year = firstYear; year <= lastYear; year += step) {
    const x = scale(yearStart(year)).toFixed(1);
    const anchor = year === firstYear ? 'start' : year === lastYear ? 'end' : 'middle';
    ticks.push(
      html`<line x1="${x}" y1="0" x2="${x}" y2="22" /><text x="${x}" y="36" text-anchor="${anchor}">${year}</text>`,
    );
  }
  const text = end ? `${start.text} to ${end.text}${lasting(start.ms, end.ms)}` : `from ${start.text} on`;
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
    <figcaption>${text}</figcaption>
  </figure>`;
}

function lasting(start: number, end: number): string {
  const days = Math.round((end - start) / DAY_MS);
  return days > 0 ? `, ${days === 1 ? '1 day' : `${days} days`}` : '';
}

function dateOf(members: readonly Member[], key: string): { readonly ms: number; readonly text: string } | undefined {
  const value = members.find((member) => member.key === key)?.value;
  const day = value?.kind === 'whole' ? /^"(\d{4}-\d\d-\d\d)/.exec(value.json)?.[1] : undefined;
  const ms = day === undefined ? NaN : Date.parse(day);
  return Number.isNaN(ms) ? undefined : { ms, text: day! };
}

function yearOf(ms: number): number {
  return new Date(ms).getUTCFullYear();
}

function yearStart(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1);
}
