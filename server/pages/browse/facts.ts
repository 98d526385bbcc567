// The facts about a record under a few headings: when, what, how, who and where. Paths of fields in schema/browse.ts
// lead to their values. How a value is shown depends on the collection that it links to.
import { factPaths, kindLabel } from '../../../engine/described.ts';
import { type Box, readBox, boxText } from './map.ts';
import { lengthText, type Period, readPeriod, roleText } from './names.ts';
import { type Data, dataOf, type LinkTarget, type RecordReader } from './records.ts';
import { html, type Markup } from './template.ts';

/** Values that are shown under one heading, and links that are followed for them. */
const VALUES_MAX = 8;
const FOLLOWED_MAX = 64;

interface Fact {
  readonly heading: string;
  readonly values: readonly Markup[];
  /** Values that are not shown. */
  readonly more: number;
}

export interface Facts {
  readonly facts: readonly Fact[];
  /** The first place that a map can show, with its name; it is in no fact. */
  readonly box: Box | undefined;
  readonly place: Markup | undefined;
  /** The first period. */
  readonly period: Period | undefined;
}

/** The facts about a record of a collection. Cost: at most FOLLOWED_MAX records for each heading, and their links. */
export function readFacts(reader: RecordReader, up: string, collection: string, record: Data): Facts {
  const shown = new FactValues(reader, up);
  const facts = factPaths(collection).map(([heading, paths]): Fact => {
    const ends = paths.flatMap((path) => followPath(reader, record, path)).filter((end) => end !== null && end !== '');
    const values = ends.slice(0, FOLLOWED_MAX).flatMap((end) => shown.value(end) || []);
    return { heading, values: values.slice(0, VALUES_MAX), more: Math.max(0, values.length - VALUES_MAX) };
  });
  if (collection === 'times') shown.period(record);
  if (collection === 'bboxes') shown.place(record);
  return { facts: facts.filter(({ values }) => values.length > 0), ...shown.first };
}

/** The values at the end of a path over embedded records and links, each list as its members. */
function followPath(reader: RecordReader, record: Data, path: readonly string[]): readonly unknown[] {
  let values: readonly unknown[] = [record];
  for (const name of path) {
    const records = values.map((value) => (typeof value === 'string' ? dataOf(reader.linked(value)) : dataOf(value)));
    values = records.flatMap((each) => each[name] ?? []).slice(0, FOLLOWED_MAX);
  }
  return values;
}

class FactValues {
  readonly #reader: RecordReader;
  readonly #up: string;
  first: Omit<Facts, 'facts'> = { box: undefined, place: undefined, period: undefined };

  constructor(reader: RecordReader, up: string) {
    this.#reader = reader;
    this.#up = up;
  }

  /** A link, or an embedded record: a pair of instrument and platform, or one with a title. */
  value(value: unknown): Markup | false {
    const target = this.#reader.target(value);
    if (target) return this.#linked(target, value);
    const { instrument, platform, title } = dataOf(value);
    const [of, on] = [instrument, platform].map((link) => this.#link(link));
    if (of || on) return html`${of}${of && on && ' on '}${on}`;
    const text = this.#reader.text(title);
    return text !== '' && html`<bdi>${text}</bdi>`;
  }

  #linked({ declared }: LinkTarget, link: unknown): Markup | false {
    const read = (): Data => dataOf(this.#reader.linked(link));
    switch (declared.name) {
      case 'times':
        return this.period(read());
      case 'bboxes':
        return this.place(read());
      case 'rpis': {
        const role = read();
        const party = this.#link(role['party']);
        return (
          party && html`${party} <span class="quiet"><bdi>${roleText(this.#reader.text(role['role']))}</bdi></span>`
        );
      }
      default:
        return this.#link(link);
    }
  }

  #link(link: unknown): Markup | false {
    const target = this.#reader.target(link);
    if (!target) return false;
    const { declared, id } = target;
    const name = this.#reader.name(link);
    return html`<a href="${this.#up}browse/${declared.name}/${id}/"
      ><bdi>${name || `${kindLabel(declared.name)} ${id}`}</bdi></a
    >`;
  }

  period(record: Data): Markup | false {
    const period = readPeriod(record);
    if (!period) return false;
    this.first = { ...this.first, period: this.first.period ?? period };
    const length = lengthText(period);
    return html`<strong>${period.text}</strong> ${length !== '' && html`<br /><span class="quiet">${length}</span>`}`;
  }

  place(record: Data): Markup | false {
    const box = readBox(record);
    const name = this.#reader.text(record['bboxName']);
    const place = html`<bdi>${name}</bdi> <span class="quiet">${box && boxText(box)}</span>`;
    if (!box || this.first.box) return (box !== undefined || name !== '') && place;
    this.first = { ...this.first, box, place };
    return false;
  }
}

export function factList({ facts }: Facts): Markup | false {
  const items = facts.map(
    ({ heading, values, more }) =>
      html`<div>
        <dt>${heading}</dt>
        ${values.map((value) => html`<dd>${value}</dd> `)}
        ${more > 0 && html`<dd><a href="#fields">${more} more</a></dd>`}
      </div> `,
  );
  return items.length > 0 && html`<dl class="facts">${items}</dl>`;
}
