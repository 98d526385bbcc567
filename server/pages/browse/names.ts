// Labels of records: the fields that name them, or for those that no field names a phenomenon by its term, a party with
// its role, an instrument on its platform, a period, a place. Read from columns, so that a list can have hundreds.
import type { CollectionIndex } from '../../../engine/engine.ts';
import { fieldText, makeLabelReader, linkedTo, makeLinkReader, memberTexts } from '../../../engine/described.ts';
import { boxText, makeBoxReader } from './map.ts';
import { memoize, servedText, type Source, type Visit } from './site.ts';

const DAY_MS = 86_400_000;
/** Longer periods are given in months, and in years. */
const DAYS_MAX = 60;
const MONTHS_MAX = 24;

/** Terms that name a phenomenon, the best first. */
const NAMING_TERMS = ['long_name', 'standard_name', 'var_id'];
const UNIT_TERM = 'units';

type LabelReader = (row: number) => string | undefined;

/** Makes a reader of labels, by collection. */
const READER_MAKERS: Readonly<Record<string, (collection: CollectionIndex, source: Source) => LabelReader>> = {
  acquisitions: (collection, source) => makeLinkedReader(collection, source, 'instrumentplatformpair_set', 'ipps'),
  bboxes: (collection) => {
    const readBox = makeBoxReader(collection);
    return (row) => {
      const box = readBox(row);
      return fieldText(collection, row, 'bboxName') || (box && boxText(box));
    };
  },
  ipps: (collection, source) =>
    joinReaders(' on ', [
      makeLinkedReader(collection, source, 'instrument'),
      makeLinkedReader(collection, source, 'platform'),
    ]),
  phenomona: (collection) => (row) => phenomenonLabel(collection, row),
  rpis: (collection, source) =>
    joinReaders(', ', [
      makeLinkedReader(collection, source, 'party'),
      (row) => roleText(fieldText(collection, row, 'role')),
    ]),
  times: (collection) => (row) => {
    const [startTime, endTime] = ['startTime', 'endTime'].map((key) => fieldText(collection, row, key));
    return readPeriod({ startTime, endTime })?.text;
  },
};

/** Whether records of a collection are named by more than one of their fields. */
export function hasDerivedLabels(collection: string): boolean {
  return Object.hasOwn(READER_MAKERS, collection);
}

/** The label of the record in a row, undefined if it has none. Cost: a few values, and those of two linked records. */
export function labelOf(source: Source, visit: Visit, collection: CollectionIndex, row: number): string | undefined {
  const label = getLabelReader(collection, source)(row);
  return label === undefined ? undefined : servedText(source, visit, label);
}

const getLabelReader = memoize((collection: CollectionIndex, source: Source): LabelReader => {
  const { name } = collection.declaration;
  const named = makeLabelReader(collection);
  if (!hasDerivedLabels(name)) return named;
  const derived = READER_MAKERS[name]!(collection, source);
  return cacheLabels((row) => derived(row) || named(row));
});

/** The most labels that are cached for a collection. One more drops all of them. */
const KNOWN_MAX = 4096;

/** Caches labels by row. A list has 400, and most occur several times: the cache saves a fifth of its CPU. */
function cacheLabels(read: LabelReader): LabelReader {
  const known = new Map<number, string | undefined>();
  return (row) => {
    if (known.has(row)) return known.get(row);
    const label = read(row);
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(row, label);
    return label;
  };
}

/** The label of the first record to which `key` leads, a link or embedded records of the collection `to`. */
function makeLinkedReader(
  collection: CollectionIndex,
  source: Source,
  key: string,
  to = linkedTo(collection, key)?.name,
): LabelReader {
  if (to === undefined || !collection.members.has(key)) return () => undefined;
  const target = source.collections(to);
  const read = makeLinkReader(collection, key, target, 1);
  return (row) => {
    const [linked] = read(row).rows;
    return linked === undefined ? undefined : getLabelReader(target, source)(linked);
  };
}

function joinReaders(separator: string, readers: readonly LabelReader[]): LabelReader {
  return (row) =>
    readers
      .map((read) => read(row))
      .filter(Boolean)
      .join(separator);
}

/** `principal investigator`. */
export function roleText(role = ''): string {
  return role.replaceAll('_', ' ');
}

/** The name of a phenomenon, and its unit unless it is dimensionless: `air temperature (K)`. */
function phenomenonLabel(collection: CollectionIndex, row: number): string | undefined {
  const [labels = [], values = []] = ['label', 'value'].map((key) => memberTexts(collection, row, 'terms', key));
  const term = (label: string): string | undefined => values[labels.indexOf(label)];
  const [best, ...others] = NAMING_TERMS.map(term);
  const name = [best, ...memberTexts(collection, row, 'names', 'name'), ...others].find(Boolean);
  const unit = term(UNIT_TERM);
  return name && unit && unit !== '1' ? `${name} (${unit})` : name;
}

/** A period. `end` is undefined if it goes on. */
export interface Period {
  /** `2003-04-22`. */
  readonly start: string;
  readonly end: string | undefined;
  /** `2003-04-22 to 2004-03-01`. */
  readonly text: string;
}

/** The period of a record of `times`; undefined if its start is no date, or if it has an end that is no date. */
export function readPeriod({ startTime, endTime }: Readonly<Record<string, unknown>>): Period | undefined {
  const start = dayIn(startTime);
  const end = dayIn(endTime);
  if (start === undefined || (end === undefined && endTime !== null && endTime !== undefined)) return undefined;
  if (end === undefined) return { start, end, text: `from ${start} on` };
  return { start, end, text: start === end ? start : `${start} to ${end}` };
}

function dayIn(time: unknown): string | undefined {
  const [day] = (typeof time === 'string' && /^\d{4}-\d\d-\d\d/.exec(time)) || [];
  return day === undefined || Number.isNaN(Date.parse(day)) ? undefined : day;
}

/** The length of a period: `10 months`; empty if it is unknown. */
export function lengthText({ start, end }: Period): string {
  if (end === undefined) return '';
  const days = Math.round((Date.parse(end) - Date.parse(start)) / DAY_MS);
  if (days < 0) return 'ends before it starts';
  const months = Math.round(days / 30.44);
  const [count, unit] =
    days <= DAYS_MAX ? [days, 'day'] : months <= MONTHS_MAX ? [months, 'month'] : [Math.round(days / 365.25), 'year'];
  return count === 0 ? '' : `${count} ${unit}${count === 1 ? '' : 's'}`;
}
